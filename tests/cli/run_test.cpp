// linearmem run: usage, refusals by name, and an output that appears whole or not at all.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "cli/command.hpp"
#include "linearmem/mechanisms.hpp"
#include "safetensors.hpp"

namespace linearmem {
namespace {

using test::refused;

NamedTensors inputs() {
  return {{"q", to_named<double>({1, 0, 0, 1}, {1, 2, 1, 2})},
          {"k", to_named<double>({1, 0, 0, 1}, {1, 2, 1, 2})},
          {"v", to_named<double>({1, 2, 3, 4}, {1, 2, 1, 2})},
          {"beta", to_named<double>({1, 1}, {1, 2, 1})}};
}

class Run : public testing::Test {
 protected:
  Run() { give(inputs()); }

  void give(const NamedTensors& tensors) {
    const Status status = write_safetensors(folder_ / "in", tensors);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  std::vector<std::string> words(const std::vector<std::string>& more = {}, const std::string& mechanism = "delta-rule") const {
    std::vector<std::string> all = {"run", mechanism, "--input", folder_ / "in", "--output", folder_ / "out"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string refusal(const std::vector<std::string>& more, const std::string& mechanism = "delta-rule") const {
    const std::string message = refused(words(more, mechanism));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
    return message;
  }

  test::Folder folder_;
};

TEST_F(Run, WritesTheOutputs) {
  const test::Outcome outcome = test::linearmem(words({"--set", "scale=1"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  const auto outputs = read_safetensors(folder_ / "out");
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(floating_values<double>("o", outputs.value().at("o")).value(), (std::vector<double>{1, 2, 3, 4}));
}

TEST_F(Run, ThreadsGiveTheSameFile) {
  std::vector<double> rows(300 * 64, 0.1), beta(300, 0.5);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += static_cast<double>(i % 17) / 64;
  const NamedTensor tensor = to_named(rows, {1, 300, 1, 64});
  give({{"q", tensor}, {"k", tensor}, {"v", tensor}, {"beta", to_named(beta, {1, 300, 1})}});
  ASSERT_EQ(test::linearmem(words()).code, 0);
  const std::string alone = test::read_file(folder_ / "out");
  ASSERT_EQ(test::linearmem(words({"--threads", "3"})).code, 0);
  EXPECT_TRUE(test::read_file(folder_ / "out") == alone);
}

TEST_F(Run, InputMayBeTheOutput) {
  ASSERT_EQ(test::linearmem({"run", "delta_rule", "--input", folder_ / "in", "--output", folder_ / "in"}).code, 0);
  const auto outputs = read_safetensors(folder_ / "in");
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(outputs.value().count("reads"), 1u);
}

TEST_F(Run, RefusesUnknownNames) {
  EXPECT_NE(refusal({}, "delta-rul").find("unknown mechanism \"delta-rul\"; known are "), std::string::npos);
  EXPECT_EQ(refusal({"--set", "beta=1"}),
            "delta-rule: unknown option \"beta\"; it has scale, l2norm, state_dtype, checkpoint_every, audit");
  EXPECT_EQ(refusal({"--set", "l2norm=yes"}), "delta-rule: option l2norm takes true or false, got \"yes\"");
  EXPECT_EQ(refusal({"--form", "blocked"}),
            "delta-rule: unknown form \"blocked\"; it has automatic, reference, recurrent, chunked, explicit");
  EXPECT_EQ(refusal({"--form", "streaming"}),
            "delta-rule: has no form streaming; it has automatic, reference, recurrent, chunked, explicit");
  EXPECT_EQ(refusal({"--dtype", "bf16"}), "unknown dtype \"bf16\"; known are f32, f64");
  EXPECT_NE(refusal({"--frm", "chunked"}).find("--frm"), std::string::npos);
}

TEST_F(Run, RefusesBadValues) {
  EXPECT_EQ(refusal({"--set", "scale"}), "--set takes key=value, got \"scale\"");
  EXPECT_EQ(refusal({"--set", "=1"}), "--set takes key=value, got \"=1\"");
  EXPECT_EQ(refusal({"--set", "scale=1", "--set", "scale=2"}), "--set gives scale twice");
  EXPECT_EQ(refusal({"--chunk", "0", "--form", "chunked"}), "--chunk is 0; it counts tokens, 1 or more");
  EXPECT_EQ(refusal({"--chunk", "2"}), "delta-rule: chunk is 2 but the form is automatic; only form chunked has chunks");
  EXPECT_NE(refusal({"--chunk", "two", "--form", "chunked"}).find("--chunk"), std::string::npos);
  EXPECT_EQ(refusal({"--threads", "0"}), "--threads is 0, must be from 1 to 1024");
  EXPECT_EQ(refusal({"--threads", "2000"}), "--threads is 2000, must be from 1 to 1024");
  EXPECT_NE(refusal({"--threads", "two"}).find("--threads"), std::string::npos);
  EXPECT_NE(refused({"run"}).find("needs a MECHANISM"), std::string::npos);
  EXPECT_NE(refused({"run", "delta-rule"}).find("needs --input"), std::string::npos);
  EXPECT_NE(refused({"run", "delta-rule", "--input", folder_ / "in"}).find("needs --output"), std::string::npos);
  EXPECT_NE(refused({}).find("no verb given"), std::string::npos);
  EXPECT_NE(refused({"walk"}).find("walk"), std::string::npos);
}

TEST_F(Run, RefusesTensorsByName) {
  NamedTensors tensors = inputs();
  tensors["gate"] = tensors["beta"];
  give(tensors);
  EXPECT_EQ(refusal({}), "delta-rule: unknown tensor \"gate\"; it takes q, k, v, beta, state, cu_seqlens");
  tensors = inputs();
  tensors["k"] = to_named<double>({1, 2, 3, 4, 5, 6}, {1, 2, 1, 3});
  give(tensors);
  EXPECT_EQ(refusal({}), "delta-rule: K differs: q has 2, k has 3");
  tensors = inputs();
  tensors["k"] = to_named<float>({1, 0, 0, 1}, {1, 2, 1, 2});
  give(tensors);
  EXPECT_EQ(refusal({}), "delta-rule: beta is F64 and k is F32; set dtype to f32 or f64");
}

TEST_F(Run, SizesBeyondMemoryAreRefusedAndNotTried) {
  const std::int64_t many = std::int64_t{1} << 30;
  give({{"q", to_named(std::vector<double>{}, {1, 0, many, many})},
        {"k", to_named(std::vector<double>{}, {1, 0, many, many})},
        {"v", to_named(std::vector<double>{}, {1, 0, many, many})},
        {"beta", to_named(std::vector<double>{}, {1, 0, many})}});
  EXPECT_NE(refusal({}).find("state [1,1073741824,1073741824,1073741824] needs 18446744073709551615 bytes"), std::string::npos);
}

TEST_F(Run, AFailedWriteLeavesTheOldOutputAndNoOther) {
  test::write_file(folder_ / "out", "before");
  const auto almost_no_disk = [] {
    const rlimit limit = {64, 64};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
  };
  // The message itself is longer than the limit allows a file to be, so only the code and the folder can be looked at.
  EXPECT_EQ(test::linearmem(words(), almost_no_disk).code, 2);
  EXPECT_EQ(test::read_file(folder_ / "out"), "before");
  EXPECT_EQ(folder_.files(), (std::vector<std::string>{"in", "out"}));
  EXPECT_EQ(test::linearmem(words()).code, 0);
  EXPECT_NE(test::read_file(folder_ / "out"), "before");
}

TEST_F(Run, AFullStandardOutputIsAnError) {
  const test::Outcome outcome = test::linearmem({"run", "--list"}, [] { std::freopen("/dev/full", "w", stdout); });
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "linearmem: cannot write to standard output\n");
  EXPECT_EQ(test::linearmem({"--help"}, [] { std::freopen("/dev/full", "w", stdout); }).code, 2);
}

TEST_F(Run, WholeNumbersAreWholeDecimalAndHeld) {
  for (const char* wrong : {"x", "1.5", "0x10", "1e3", "", "3 "})
    EXPECT_EQ(refusal({"--chunk", wrong}), "--chunk: takes a whole number, got \"" + std::string(wrong) + "\"");
  EXPECT_EQ(refusal({"--chunk", "99999999999999999999"}), "--chunk: 99999999999999999999 does not fit into 64 bits");
  EXPECT_EQ(refusal({"--chunk", "010"}), "--chunk: takes a whole number, got \"010\"");
  EXPECT_EQ(refusal({"--chunk", "-3"}), "--chunk is -3; it counts tokens, 1 or more");
}

TEST_F(Run, WhatAFileNamesDoesNotReachTheTerminalAsCommands) {
  NamedTensors tensors = inputs();
  tensors["\x1b[31mred\r\t\x7f\u009b1m\u00e9"] = tensors["beta"];
  give(tensors);
  EXPECT_EQ(refusal({}), "delta-rule: unknown tensor \" [31mred     1m\u00e9\"; it takes q, k, v, beta, state, cu_seqlens");
}

TEST(Help, ListsAndDescribesEveryMechanism) {
  const test::Outcome list = test::linearmem({"run", "--list"});
  EXPECT_EQ(list.code, 0);
  for (const Mechanism& mechanism : mechanisms()) {
    EXPECT_NE(list.out.find(mechanism.name), std::string::npos);
    const test::Outcome described = test::linearmem({"run", mechanism.name, "--describe"});
    EXPECT_EQ(described.code, 0);
    for (const InputSpec& input : mechanism.inputs)
      EXPECT_NE(described.out.find("  " + std::string(input.name) + " [" + input.axes + "]"), std::string::npos) << described.out;
    for (const OptionSpec& option : mechanism.options)
      EXPECT_NE(described.out.find("  " + std::string(option.name) + "=" + option.default_text), std::string::npos) << described.out;
    for (Form form : mechanism.forms) EXPECT_NE(described.out.find(form_name(form)), std::string::npos) << described.out;
  }
}

TEST(Help, VersionAndHelpGoToStandardOutput) {
  const test::Outcome version = test::linearmem({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out.rfind("linearmem 0.", 0), 0u) << version.out;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"}, {"run", "--help"}}) {
    const test::Outcome help = test::linearmem(words);
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("run"), std::string::npos);
    EXPECT_EQ(help.err, "");
  }
}

}  // namespace
}  // namespace linearmem
