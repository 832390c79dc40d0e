// linearmem bench: a line for each case with the work it stands for, proven right; LINEARMEM_TARGET; refusals. No time is judged.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/command.hpp"
#include "linearmem/target.hpp"

namespace linearmem {
namespace {

using Words = std::vector<std::string>;

Words small(Words more) {
  Words words = {"bench", "--tokens", "24", "--heads", "2", "--width", "8", "--rounds", "2", "--state-mib", "1", "--sample-ms", "0.02"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

nlohmann::json measured(const Words& more) {
  const test::Outcome outcome = test::linearmem(small(more));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

TEST(Bench, EveryCaseIsProvenAndTimed) {
  const nlohmann::json all = measured({"--json"});
  std::set<std::string> mechanisms;
  std::map<std::string, int> settings;
  for (const auto& result : all["results"]) {
    mechanisms.insert(result["mechanism"]);
    ++settings[result["setting"]];
    EXPECT_LE(result["error"].get<double>(), 1e-5) << result;
    EXPECT_GT(result["seconds"].get<double>(), 0) << result;
    EXPECT_GE(result["median_seconds"].get<double>(), result["seconds"].get<double>()) << result;
    EXPECT_EQ(result["fraction"].get<double>() > 0, result["limit"] != "none") << result;
  }
  EXPECT_EQ(mechanisms, (std::set<std::string>{"softmax-attention", "linear-attention", "linear-attention-normalized",
                                               "gated-linear-attention", "delta-rule", "gated-delta-rule", "selective-scan",
                                               "mamba-scan", "ssd", "causal-conv", "knn"}));
  EXPECT_EQ(settings, (std::map<std::string, int>{{"prefill", 10}, {"short", 30}, {"decode", 9}, {"cached", 9}, {"tiny", 10}, {"search", 1}, {"batch", 1}}));
  EXPECT_GT(all["limits"]["flops_f32"].get<double>(), 0);
  ASSERT_EQ(all["limits"]["memory"].size(), 4u);
  for (const auto& level : all["limits"]["memory"]) EXPECT_GT(level["update"].get<double>(), 0) << level;
}

// Nominal counts, T = 24, two heads, K = V = 8: per token and head 7 K V, 6 K V, ...; causal softmax 4 D T(T+1)/2 per head.
TEST(Bench, WorkIsTheNominalOne) {
  const double states = 24.0 * 2 * 8 * 8, steps = 24.0 * 2 * 8;
  const std::map<std::string, std::pair<double, double>> expected = {
      {"softmax-attention", {4.0 * 8 * 24 * 25 / 2 * 2, 0}}, {"linear-attention", {4 * states, 0}},
      {"linear-attention-normalized", {4 * states, 0}},      {"gated-linear-attention", {5 * states, 0}},
      {"delta-rule", {6 * states, 0}},                       {"gated-delta-rule", {7 * states, 0}},
      {"selective-scan", {4 * steps, steps}},                {"mamba-scan", {0, 16 * steps}},
      {"ssd", {5 * states, 0}},                              {"causal-conv", {8 * steps, steps}}};
  std::size_t count = 0;
  const nlohmann::json all = measured({"--json", "--setting", "prefill"});
  for (const auto& result : all["results"]) {
    const auto& [flops, elements] = expected.at(result["mechanism"]);
    EXPECT_EQ(result["flops"].get<double>(), flops) << result;
    EXPECT_EQ(result["elements"].get<double>(), elements) << result;
    ++count;
  }
  EXPECT_EQ(count, expected.size());
}

TEST(Bench, DecodeMovesTheStateInAndOut) {
  for (const char* dtype : {"f32", "f64"}) {
    const nlohmann::json all = measured({"gated-delta-rule", "mamba-scan", "--json", "--setting", "decode", "--dtype", dtype});
    const double bytes = dtype == std::string("f32") ? 4 : 8;
    EXPECT_EQ(all["results"][0]["bytes"].get<double>(), 2 * bytes * 2 * 8 * 8);
    EXPECT_EQ(all["results"][1]["bytes"].get<double>(), 2 * bytes * 2 * 8 * 16);
    EXPECT_LE(all["results"][0]["error"].get<double>(), bytes == 8 ? 1e-12 : 1e-5);
  }
}

TEST(Bench, TheTableHasALinePerCaseAndTheListNamesThem) {
  const test::Outcome table = test::linearmem(small({"ssd", "--setting", "tiny", "--setting", "prefill", "--processor-time"}));
  EXPECT_EQ(table.code, 0) << table.err;
  for (const char* text : {"| multiply-add | registers | ", "| memory | ", "\n| ssd | prefill | T 24, H 2, K V 8 | ",
                           "\n| ssd | tiny | T 1, H 1, K V 4 | ", ", processor time\n"})
    EXPECT_NE(table.out.find(text), std::string::npos) << text << "\n" << table.out;
  const test::Outcome list = test::linearmem(small({"ssd", "--setting", "tiny", "--list"}));
  EXPECT_EQ(list.out, "ssd, tiny, T 1, H 1, K V 4\n");
}

TEST(Bench, LongSequencesGrowByFourAndCarryTheirState) {
  const nlohmann::json all = measured({"--json", "--setting", "long", "--longest", "16384"});
  std::map<std::string, std::vector<double>> tokens, flops;
  for (const auto& result : all["results"]) {
    EXPECT_EQ(result["setting"], "long");
    EXPECT_LE(result["error"].get<double>(), 1e-5) << result;
    EXPECT_GT(result["seconds"].get<double>(), 0) << result;
    tokens[result["mechanism"]].push_back(result["elements"]);
    flops[result["mechanism"]].push_back(result["flops"]);
  }
  EXPECT_EQ(tokens.size(), 9u);  // softmax attention carries no state
  for (const auto& [mechanism, counts] : tokens) EXPECT_EQ(counts, (std::vector<double>{1024, 4096, 16384})) << mechanism;
  EXPECT_EQ(flops["delta-rule"], (std::vector<double>{6.0 * 64 * 1024, 6.0 * 64 * 4096, 6.0 * 64 * 16384}));  // K = V = 8, one head
  EXPECT_EQ(all["results"].size(), 27u);
}

TEST(Bench, SeveralThreadsAreTimedBesideOne) {
  const nlohmann::json all = measured({"gated-delta-rule", "softmax-attention", "--json", "--setting", "prefill", "--threads", "2"});
  EXPECT_EQ(all["threads"], 2);
  for (const auto& result : all["results"]) EXPECT_GT(result["speed_up"].get<double>(), 0) << result;
  const test::Outcome table = test::linearmem(small({"ssd", "--setting", "prefill", "--threads", "2"}));
  EXPECT_NE(table.out.find("| best of limit | times one thread |\n"), std::string::npos) << table.out;
}

TEST(Bench, Refusals) {
  EXPECT_EQ(test::refused({"bench", "ssd2"}).find("no benchmark of mechanism \"ssd2\"; there are softmax-attention, "), 0u);
  EXPECT_EQ(test::refused({"bench", "--setting", "warm"}),
            "no benchmark of setting \"warm\"; there are prefill, short, decode, cached, tiny, long, search, batch");
  EXPECT_EQ(test::refused({"bench", "--tokens", "0"}), "--tokens is 0, must be from 1 to 1048576");
  EXPECT_EQ(test::refused({"bench", "--width", "5000"}), "--width is 5000, must be from 1 to 4096");
  EXPECT_EQ(test::refused({"bench", "--rounds", "0"}), "--rounds is 0, must be from 1 to 10000");
  EXPECT_EQ(test::refused({"bench", "--dtype", "bf16"}), "--dtype is \"bf16\", must be f32 or f64");
  EXPECT_EQ(test::refused({"bench", "--threads", "0"}), "--threads is 0, must be from 1 to 1024");
  EXPECT_EQ(test::refused({"bench", "--threads", "2", "--processor-time"}), "--processor-time counts one thread, --threads is 2");
  EXPECT_EQ(test::refused({"bench", "--sample-ms", "nan"}).find("--sample-ms is nan, must be above 0"), 0u);
}

TEST(TargetVariable, ChoosesWhatEveryVerbRunsOn) {
  for (const std::string& target : available_simd_targets()) {
    const auto choose = [&] { ::setenv("LINEARMEM_TARGET", target.c_str(), 1); };
    const test::Outcome outcome = test::linearmem(small({"gated-delta-rule", "--json", "--setting", "tiny"}), choose);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(nlohmann::json::parse(outcome.out)["target"], target);
    const test::Outcome agreement =
        test::linearmem({"agreement", "--tokens", "64", "--explicit-tokens", "16", "--width", "8"}, choose);
    EXPECT_EQ(agreement.code, 0) << target << "\n" << agreement.out << agreement.err;
  }
}

TEST(TargetVariable, ANameThatIsNotHereIsRefused) {
  const std::string message = test::refused({"bench", "--list"}, [] { ::setenv("LINEARMEM_TARGET", "AVX9", 1); });
  EXPECT_EQ(message.find("LINEARMEM_TARGET: SIMD target \"AVX9\" is not available: this build has on this processor "), 0u) << message;
}

}  // namespace
}  // namespace linearmem
