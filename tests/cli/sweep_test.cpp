// linearmem sweep: the same numbers as the registry's, as JSON and as CSV; refusals.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

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
