// linearmem sweep: the same numbers as the registry's, as JSON and as CSV; refusals.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "linearmem/experiments.hpp"

namespace linearmem {
namespace {

TEST(Sweep, JsonHasTheRegistrysNumbers) {
  const test::Outcome outcome = test::linearmem({"sweep", "memory-tradeoff", "--json", "--set", "beta=0.5", "--set", "key_width=16"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto sweep = nlohmann::json::parse(outcome.out);
  const auto figure = run_experiment("memory-tradeoff", {{"beta", 0.5}, {"key_width", 16}});
  ASSERT_TRUE(figure.ok()) << figure.status().message();
  EXPECT_EQ(sweep["settings"]["beta"], 0.5);
  EXPECT_EQ(sweep["settings"]["value_width"], 64);
  ASSERT_EQ(sweep["panels"].size(), figure.value().panels.size());
  for (std::size_t p = 0; p < figure.value().panels.size(); ++p) {
    const Panel& panel = figure.value().panels[p];
    EXPECT_EQ(sweep["panels"][p]["x"]["quantity"], panel.x.quantity);
    ASSERT_EQ(sweep["panels"][p]["series"].size(), panel.series.size());
    for (std::size_t s = 0; s < panel.series.size(); ++s)
      EXPECT_EQ(sweep["panels"][p]["series"][s]["y"].get<std::vector<double>>(), panel.series[s].y);
  }
}

TEST(Sweep, CsvHasOneLinePerPoint) {
  const test::Outcome outcome = test::linearmem({"sweep", "memory-tradeoff", "--csv"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto figure = run_experiment("memory-tradeoff", {});
  ASSERT_TRUE(figure.ok());
  std::size_t points = 0;
  for (const Panel& panel : figure.value().panels)
    for (const Series& series : panel.series) points += series.x.size();
  EXPECT_EQ(static_cast<std::size_t>(std::count(outcome.out.begin(), outcome.out.end(), '\n')), points + 1);
  EXPECT_EQ(outcome.out.rfind("panel,memory,label,x,y,low,high\n\"storage\",\"softmax_attention\",\"explicit K,V\",1,512,,\n", 0), 0u)
      << outcome.out.substr(0, 200);
}

TEST(Sweep, IntervalsBandsAndPicturesAreThere) {
  const test::Outcome csv = test::linearmem({"sweep", "least-squares", "--csv", "--set", "key_width=4"});
  ASSERT_EQ(csv.code, 0) << csv.err;
  const auto figure = run_experiment("least-squares", {{"key_width", 4}});
  ASSERT_TRUE(figure.ok());
  const Series& sampled = figure.value().panels.at(0).series.at(1);
  ASSERT_TRUE(sampled.points);
  const std::string start = "\"outer product, RMS, sampled\"," + std::to_string(std::llround(sampled.x.back())) + ",";
  const std::size_t at = csv.out.find(start);
  ASSERT_NE(at, std::string::npos);
  double y = 0, low = 0, high = 0;
  ASSERT_EQ(std::sscanf(csv.out.c_str() + at + start.size(), "%lf,%lf,%lf", &y, &low, &high), 3);
  EXPECT_EQ(y, sampled.y.back());
  EXPECT_EQ(low, sampled.low.back());
  EXPECT_EQ(high, sampled.high.back());
  const auto json = nlohmann::json::parse(test::linearmem({"sweep", "least-squares", "--json", "--set", "key_width=4"}).out);
  EXPECT_EQ(json["panels"][0]["bands"][0]["to"], 4);
  EXPECT_EQ(json["panels"][0]["series"][1]["high"].size(), sampled.high.size());
  const auto picture = nlohmann::json::parse(test::linearmem({"sweep", "picture-readback", "--json"}).out);
  EXPECT_EQ(picture["panels"][0]["columns"], 8);
  EXPECT_EQ(picture["panels"][0]["series"][0]["y"].size(), 64);
}

TEST(Sweep, ListNamesExperimentsAndSettings) {
  const test::Outcome outcome = test::linearmem({"sweep", "--list"});
  EXPECT_EQ(outcome.code, 0);
  for (const Experiment& experiment : experiments()) {
    EXPECT_NE(outcome.out.find(experiment.name), std::string::npos);
    for (const SettingSpec& setting : experiment.settings)
      EXPECT_NE(outcome.out.find("    " + std::string(setting.name) + "="), std::string::npos);
  }
}

// Killed in the middle of a line, twice, then left to finish: the file has the bytes of a run that was left alone.
TEST(Sweep, AnInterruptedRunGoesOnAndEndsWithTheSameBytes) {
  const test::Folder folder;
  const std::vector<std::string> words = {"sweep", "recall-distance", "--csv", "--set", "seeds=4", "--set", "pairs=20", "--output"};
  const auto run = [&](const std::string& file, std::size_t most_bytes, const std::string& threads) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {file, "--threads", threads});
    return test::linearmem(all, [=] {
      const rlimit limit{most_bytes, most_bytes};
      if (most_bytes > 0) setrlimit(RLIMIT_FSIZE, &limit);
    });
  };
  const std::string alone = (folder / "alone").string(), resumed = (folder / "resumed").string(), partial = resumed + ".partial";
  ASSERT_EQ(run(alone, 0, "1").code, 0);
  EXPECT_NE(run(resumed, 520, "1").code, 0);
  EXPECT_EQ(test::read_file(partial).size(), 520u);
  EXPECT_NE(run(resumed, 700, "2").code, 0);
  EXPECT_EQ(test::read_file(partial).size(), 700u);
  EXPECT_FALSE(std::filesystem::exists(resumed));
  const test::Outcome outcome = run(resumed, 0, "2");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(test::read_file(resumed), test::read_file(alone));
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"alone", "resumed"}));
}

// What a partial file holds is taken as it is: a number changed there is a number changed in the figure.
TEST(Sweep, FinishedPartsAreNotComputedAgain) {
  const test::Folder folder;
  const std::string file = (folder / "x").string(), partial = file + ".partial";
  const std::vector<std::string> words = {"sweep", "recall-distance", "--csv", "--set", "seeds=2", "--set", "pairs=2", "--output", file};
  test::linearmem(words, [] {
    const rlimit limit{600, 600};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  std::string kept = test::read_file(partial);
  const std::size_t at = kept.find("\"values\":[\"2\"");
  ASSERT_NE(at, std::string::npos) << kept;
  kept[at + 11] = '1';
  test::write_file(partial, kept.substr(0, kept.rfind('\n') + 1));
  ASSERT_EQ(test::linearmem(words).code, 0);
  const std::string resumed = test::read_file(file);
  ASSERT_EQ(test::linearmem(words).code, 0);
  EXPECT_NE(test::read_file(file), resumed);
}

TEST(Sweep, AnyNumberOfThreadsGivesTheSameBytes) {
  for (const char* name : {"recall-conflict", "state-precision", "noisy-query"}) {
    const std::vector<std::string> setting = std::string(name) == "state-precision" ? std::vector<std::string>{"--set", "tokens=500"}
                                                                                    : std::vector<std::string>{"--set", "seeds=3"};
    std::string first;
    for (const char* threads : {"1", "2", "5"}) {
      std::vector<std::string> words = {"sweep", name, "--json", "--threads", threads};
      words.insert(words.end(), setting.begin(), setting.end());
      const test::Outcome outcome = test::linearmem(words);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      if (first.empty()) first = outcome.out;
      EXPECT_EQ(outcome.out, first) << name << " " << threads;
    }
  }
}

TEST(Sweep, APartialFileOfAnotherRunIsRefused) {
  const test::Folder folder;
  const std::string file = (folder / "x").string(), partial = file + ".partial";
  const auto refusal = [&] {
    return test::refused({"sweep", "recall-distance", "--csv", "--set", "seeds=2", "--set", "pairs=2", "--output", file});
  };
  test::write_file(partial, "{\"sweep\":\"recall-distance\"}\n");
  EXPECT_EQ(refusal(), partial + ": left by a run with other settings or of another build; delete it to start anew");
  std::filesystem::remove(partial);
  test::linearmem({"sweep", "recall-distance", "--csv", "--set", "seeds=2", "--set", "pairs=2", "--output", file}, [] {
    const rlimit limit{420, 420};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  const std::string kept = test::read_file(partial);
  const std::string header = kept.substr(0, kept.find('\n') + 1);
  for (const char* line : {"{}", "{\"part\":7,\"values\":[]}", "{\"part\":-1,\"values\":[]}", "{\"part\":0,\"values\":[1]}",
                           "{\"part\":0,\"values\":[\"1x\"]}", "\xff"}) {
    test::write_file(partial, header + line + "\n");
    EXPECT_EQ(refusal(), partial + ": line 2 is damaged; delete the file to start anew") << line;
  }
}

TEST(Sweep, PresetsAndEstimates) {
  EXPECT_NE(test::linearmem({"sweep", "--list"}).out.find("    --preset large: tokens=1048576\n"), std::string::npos);
  EXPECT_EQ(test::refused({"sweep", "reset-leak", "--csv", "--preset", "large"}),
            "--preset large is not one of reset-leak's, which are: none");
  EXPECT_EQ(test::refused({"sweep", "recall-bytes", "--csv", "--preset", "huge"}),
            "--preset huge is not one of recall-bytes's, which are: large");
  const test::Outcome large = test::linearmem({"sweep", "recall-distance", "--preset", "large", "--estimate", "--threads", "2"});
  EXPECT_EQ(large.code, 0) << large.err;
  EXPECT_TRUE(std::regex_match(large.out, std::regex("about \\d+ (s|min|h) on 2 threads: 7 parts, of which \\d were tried\n")))
      << large.out;
  EXPECT_EQ(test::linearmem({"sweep", "memory-tradeoff", "--estimate"}).out, "less than a second: it is computed at once\n");
  const auto json =
      nlohmann::json::parse(test::linearmem({"sweep", "state-precision", "--json", "--preset", "large", "--set", "tokens=64"}).out);
  EXPECT_EQ(json["settings"]["tokens"], 64);  // --set goes before the preset
  const test::Outcome told =
      test::linearmem({"sweep", "recall-distance", "--csv", "--preset", "large", "--set", "seeds=2", "--set", "pairs=16"});
  EXPECT_NE(told.err.find(" parts, of which "), std::string::npos) << told.err;  // how long it takes, before it begins
}

TEST(Sweep, OutputGoesToTheFile) {
  const test::Folder folder;
  const std::string file = (folder / "x").string();
  const test::Outcome outcome = test::linearmem({"sweep", "memory-tradeoff", "--csv", "--output", file});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(test::read_file(file), test::linearmem({"sweep", "memory-tradeoff", "--csv"}).out);
  EXPECT_NE(test::refused({"sweep", "recall-bytes", "--csv", "--output", (folder / "none/x").string()}).find("none"), std::string::npos);
}

TEST(Sweep, Refusals) {
  EXPECT_NE(test::refused({"sweep"}).find("needs a NAME"), std::string::npos);
  EXPECT_NE(test::refused({"sweep", "memory-tradeoff"}).find("needs one of --json and --csv"), std::string::npos);
  EXPECT_NE(test::refused({"sweep", "memory-tradeoff", "--json", "--csv"}).find("needs one of --json and --csv"), std::string::npos);
  EXPECT_NE(test::refused({"sweep", "memory", "--csv"}).find("experiment memory is not one of memory-tradeoff"), std::string::npos);
  const auto refusal = [](const char* setting) { return test::refused({"sweep", "memory-tradeoff", "--csv", "--set", setting}); };
  EXPECT_NE(refusal("gamma=1").find("gamma"), std::string::npos);
  EXPECT_NE(refusal("beta=3").find("3"), std::string::npos);
  EXPECT_EQ(refusal("beta=much"), "--set beta takes a number, got \"much\"");
  EXPECT_EQ(refusal("beta=nan"), "--set beta takes a number, got \"nan\"");
  EXPECT_EQ(refusal("beta=1x"), "--set beta takes a number, got \"1x\"");
  EXPECT_EQ(refusal("beta="), "--set beta takes a number, got \"\"");
}

}  // namespace
}  // namespace linearmem
