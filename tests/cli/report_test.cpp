// linearmem report: what it writes, that it is all or nothing, and what happens without gnuplot.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>

#include "cli/command.hpp"
#include "linearmem/claims.hpp"

namespace linearmem {
namespace {

using Names = std::vector<std::string>;

// Puts a program in gnuplot's place on the path.
class Report : public testing::Test {
 protected:
  std::function<void()> with_gnuplot(const std::string& script) {
    test::write_file(path_ / "gnuplot", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(path_ / "gnuplot", std::filesystem::perms::owner_all);
    return without_gnuplot();
  }
  std::function<void()> without_gnuplot() const {
    return [path = path_.path().string()] { ::setenv("PATH", path.c_str(), 1); };
  }
  std::string out() const { return folder_ / "report"; }
  Names written() const {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(out())) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  test::Folder folder_, path_;
};

TEST_F(Report, WritesTheResultAndTheFigure) {
  const test::Outcome outcome = test::linearmem({"report", "--out", out()});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_EQ(written(), (Names{"memory-tradeoff.png", "memory-tradeoff.svg", "run_result.json"}));
  EXPECT_EQ(test::read_file(out() + "/memory-tradeoff.png").substr(0, 8), "\x89PNG\r\n\x1a\n");
  const std::string svg = test::read_file(out() + "/memory-tradeoff.svg");
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  for (const char* text : {"prefix length (tokens)", "inner product of the two keys", "softmax attention, explicit K,V", "window",
                           "delta rule, old key", "gated delta rule, new key", "outer product, either key"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
}

TEST_F(Report, ResultHasTheFieldsOfTheNotes) {
  ASSERT_EQ(test::linearmem({"report", "--no-figure", "--out", out()}).code, 0);
  EXPECT_EQ(written(), (Names{"run_result.json"}));
  const auto result = nlohmann::json::parse(test::read_file(out() + "/run_result.json"));
  EXPECT_EQ(result["seed"], 7);
  EXPECT_EQ(result["dtype"], "float64");
  EXPECT_EQ(result["shapes"], nlohmann::json::parse(R"({"q":[8,4],"k":[8,4],"v":[8,3],"output":[8,3],"state":[4,3],"normalizer":[4]})"));
  const double rows[2][3] = {{-0.5793013823065131, -0.19619590026124073, 0.8987635397834051},
                             {0.32426122155186393, -0.7868605387163932, 0.011504930759062667}};
  for (int row = 0; row < 2; ++row)
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(result["first_two_outputs"][row][j].get<double>(), rows[row][j], 1e-12);
  EXPECT_EQ(result["first_two_outputs"].size(), 2u);
  const auto& errors = result["errors"];
  EXPECT_LE(errors["explicit_vs_recurrent_max_abs"].get<double>(), 1e-12);
  EXPECT_GT(errors["explicit_vs_recurrent_float32_max_abs"].get<double>(), 0);
  EXPECT_LT(errors["explicit_vs_recurrent_float32_max_abs"].get<double>(), 1e-5);
  EXPECT_NEAR(errors["linear_vs_softmax_max_abs"].get<double>(), 0.92144279053506, 1e-12);
  const auto& memory = result["memory_experiments"];
  EXPECT_EQ(memory["explicit_history_bytes"], 33554432);
  EXPECT_EQ(memory["explicit_history_mib"], 32.0);
  EXPECT_EQ(memory["recurrent_state_bytes"], 16640);
  EXPECT_NEAR(memory["recurrent_state_mib"].get<double>(), 0.015869, 5e-6);
  EXPECT_NEAR(memory["history_to_state_ratio"].get<double>(), 2016.49, 5e-3);
}

TEST_F(Report, ResultHasEveryClaimWithItsDigits) {
  ASSERT_EQ(test::linearmem({"report", "--no-figure", "--out", out()}).code, 0);
  const auto result = nlohmann::json::parse(test::read_file(out() + "/run_result.json"));
  EXPECT_EQ(result["all_claims_pass"], true);
  ASSERT_EQ(result["claims"].size(), claims().size());
  for (std::size_t i = 0; i < claims().size(); ++i) {
    const ClaimResult here = run_claim(claims()[i]);
    EXPECT_EQ(result["claims"][i]["id"], claims()[i].id);
    ASSERT_EQ(result["claims"][i]["checks"].size(), here.checks.size());
    for (std::size_t c = 0; c < here.checks.size(); ++c)
      EXPECT_EQ(result["claims"][i]["checks"][c]["digits"], here.checks[c].digits) << here.id;
  }
}

TEST_F(Report, MissingGnuplotIsRefusedBeforeAnythingIsWritten) {
  const std::string message = test::refused({"report", "--out", out()}, without_gnuplot());
  EXPECT_NE(message.find("gnuplot is needed for the figure and cannot be started (No such file or directory)"), std::string::npos)
      << message;
  EXPECT_NE(message.find("--no-figure"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(out()));
  EXPECT_EQ(test::linearmem({"report", "--no-figure", "--out", out()}, without_gnuplot()).code, 0);
}

TEST_F(Report, AFailingGnuplotLeavesEverythingAsItWas) {
  for (const char* script : {"test \"$1\" = --version && exit 0; echo no terminal >&2; exit 3", "exit 0"}) {
    const std::string message = test::refused({"report", "--out", out()}, with_gnuplot(script));
    EXPECT_NE(message.find(std::string(script) == "exit 0" ? "gnuplot left no picture" : "gnuplot ended with code 3: no terminal"),
              std::string::npos)
        << message;
    EXPECT_FALSE(std::filesystem::exists(out()));
  }
  std::filesystem::create_directory(out());
  test::write_file(out() + "/run_result.json", "before");
  test::refused({"report", "--out", out()}, with_gnuplot("exit 0"));
  EXPECT_EQ(test::read_file(out() + "/run_result.json"), "before");
  EXPECT_EQ(written(), (Names{"run_result.json"}));
}

TEST_F(Report, RefusesAFolderItCannotMake) {
  test::write_file(folder_ / "file", "");
  EXPECT_NE(test::refused({"report", "--no-figure", "--out", folder_ / "file"}).find("cannot make this folder"), std::string::npos);
  EXPECT_NE(test::refused({"report", "--no-figure", "--out", folder_ / "absent/report"}).find("cannot make this folder"),
            std::string::npos);
  EXPECT_NE(test::refused({"report"}).find("--out"), std::string::npos);
}

}  // namespace
}  // namespace linearmem
