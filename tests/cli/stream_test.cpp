// linearmem run --stream: the result of a run in one piece, memory that does not grow with the file, and no half-written result.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "core/drawn_inputs.hpp"
#include "core/properties.hpp"
#include "safetensors.hpp"

namespace linearmem {
namespace {

using test::AxisSizes;
using test::Numbers;

class Stream : public testing::Test {
 protected:
  void give(const NamedTensors& tensors) {
    const Status status = write_safetensors(folder_ / "in", tensors);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::vector<std::string> words(const std::string& mechanism, const std::vector<std::string>& more = {}, const char* output = "out") const {
    std::vector<std::string> all = {"run", mechanism, "--input", folder_ / "in", "--output", folder_ / output};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string refusal(const std::string& mechanism, std::vector<std::string> more) {
    more.push_back("--stream");
    const std::string message = test::refused(words(mechanism, more));
    EXPECT_EQ(folder_.files(), std::vector<std::string>{"in"});
    return message;
  }

  // A head's decay stays outside its state within a block of tokens, so where the file is cut shows in the last bits.
  void expect_same(const NamedTensors& inputs, const Mechanism& mechanism, double bound, const std::string& what) {
    if (mechanism.name != std::string("ssd") && inputs.count("g") == 0)
      EXPECT_TRUE(test::read_file(folder_ / "out") == test::read_file(folder_ / "whole")) << what;
    else
      EXPECT_LE(test::worst_difference(read_safetensors(folder_ / "out").value(), read_safetensors(folder_ / "whole").value()), bound) << what;
  }

  test::Folder folder_;
};

AxisSizes sizes_of(const Mechanism& mechanism, std::int64_t rows, std::int64_t sequences) {
  AxisSizes sizes = {{"B", rows}, {"T", 150}, {"H", 2}, {"Hk", 1}, {"Hv", 2}, {"K", 5}, {"V", 7}, {"D", 9}, {"P", 3}, {"G", 1},
                     {"M", 4}, {"W", 4}, {"N", sequences}, {"Seq", sequences}};
  if (mechanism.name == std::string("mamba-scan") || mechanism.name == std::string("ssd")) sizes["N"] = 3;
  if (mechanism.room == std::string("delta_rule")) sizes["H"] = 1;
  return sizes;
}

std::vector<const Mechanism*> streamed() {
  std::vector<const Mechanism*> some;
  for (const Mechanism& mechanism : mechanisms())
    if (!mechanism.stream.carried.empty()) some.push_back(&mechanism);
  return some;
}

TEST_F(Stream, GivesTheResultOfARunInOnePieceToTheBitWhereNoHeadDecays) {
  EXPECT_GE(streamed().size(), 8u);
  for (const Mechanism* mechanism : streamed())
    for (const bool packed : {false, true}) {
      if (packed && mechanism->inputs.back().name != std::string("cu_seqlens")) continue;
      Numbers numbers(5);
      NamedTensors inputs = test::drawn_inputs(numbers, *mechanism, packed ? sizes_of(*mechanism, 1, 4) : sizes_of(*mechanism, 2, 2));
      if (packed) inputs["cu_seqlens"] = to_named<std::int64_t>({0, 70, 70, 75, 150}, {5});
      give(inputs);
      std::vector<std::string> options = {"--dtype", packed ? "f32" : "f64"};
      if (mechanism->stream.bounded_by) options.insert(options.end(), {"--set", mechanism->stream.bounded_by + std::string("=6")});
      ASSERT_EQ(test::linearmem(words(mechanism->name, options, "whole")).code, 0);
      for (const char* block : {"1", "13", "64", "1000"}) {
        std::vector<std::string> more = options;
        more.insert(more.end(), {"--stream", "--block", block});
        const test::Outcome outcome = test::linearmem(words(mechanism->name, more));
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        expect_same(inputs, *mechanism, packed ? 1e-5 : 1e-12, std::string(mechanism->name) + " block " + block);
        EXPECT_EQ(outcome.err.rfind(packed ? "linearmem: 150 tokens in " : "linearmem: 300 tokens in ", 0), 0u) << outcome.err;
        EXPECT_NE(outcome.err.find("peak resident size "), std::string::npos);
      }
    }
}

TEST_F(Stream, StartsWithoutStatesAndOverNoTokens) {
  const Mechanism& mechanism = *find_mechanism("linear-attention").value();
  for (std::int64_t tokens : {0, 20}) {
    Numbers numbers(6);
    AxisSizes sizes = sizes_of(mechanism, 2, 2);
    sizes["T"] = tokens;
    NamedTensors inputs = test::drawn_inputs(numbers, mechanism, sizes);
    inputs.erase("state");
    inputs.erase("z");
    give(inputs);
    ASSERT_EQ(test::linearmem(words(mechanism.name, {}, "whole")).code, 0);
    ASSERT_EQ(test::linearmem(words(mechanism.name, {"--stream", "--block", "7", "--threads", "2"})).code, 0);
    expect_same(inputs, mechanism, 1e-12, std::to_string(tokens));
  }
}

NamedTensors scan_inputs(std::int64_t tokens, std::int64_t channels) {
  NamedTensors inputs;
  for (const char* name : {"a", "b", "c", "x"}) {
    std::vector<float> values(static_cast<std::size_t>(tokens * channels), 0.5f);
    for (std::size_t i = 0; i < values.size(); i += 7) values[i] = 0.25f;
    inputs[name] = to_named(values, {1, tokens, channels});
  }
  return inputs;
}

#ifndef __SANITIZE_ADDRESS__
// 64 MiB of inputs and 16 of outputs where 32 may be had: in one piece there is no room, in blocks there is.
TEST_F(Stream, AFileLargerThanMemory) {
  give(scan_inputs(1 << 16, 64));
  const auto little_memory = [] {
    const rlimit limit = {32 << 20, 32 << 20};
    ::setrlimit(RLIMIT_DATA, &limit);
  };
  EXPECT_EQ(test::refused(words("selective-scan"), little_memory).rfind("out of memory", 0), 0u);
  const test::Outcome outcome = test::linearmem(words("selective-scan", {"--stream", "--block", "4096"}), little_memory);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(test::linearmem(words("selective-scan", {}, "whole")).code, 0);
  EXPECT_TRUE(test::read_file(folder_ / "out") == test::read_file(folder_ / "whole"));
}
#endif

TEST_F(Stream, InterruptedItLeavesTheOldOutputAndNoOther) {
  give(scan_inputs(1 << 18, 1));
  test::write_file(folder_ / "out", "before");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto interrupt_when_it_writes = [&] {
      const pid_t program = ::getpid();
      ::signal(signal, SIG_DFL);  // whatever these tests were started under
      if (::fork() != 0) return;
      for (int wait = 0; wait < 3000 && folder_.files().size() < 3; ++wait) ::usleep(10000);
      ::kill(program, signal);
      ::_exit(0);
    };
    const test::Outcome outcome = test::linearmem(words("selective-scan", {"--stream", "--block", "1"}), interrupt_when_it_writes);
    EXPECT_EQ(outcome.code, 128 + signal) << outcome.err;
    EXPECT_NE(outcome.err.find("linearmem: interrupted; "), std::string::npos) << outcome.err;
    EXPECT_EQ(folder_.files(), (std::vector<std::string>{"in", "out"}));
    EXPECT_EQ(test::read_file(folder_ / "out"), "before");
  }
}

TEST_F(Stream, ASignalThatWasIgnoredStaysIgnored) {
  give(scan_inputs(1 << 16, 1));
  const auto hang_up_when_it_writes = [&] {
    const pid_t program = ::getpid();
    ::signal(SIGHUP, SIG_IGN);
    if (::fork() != 0) return;
    for (int wait = 0; wait < 3000 && folder_.files().size() < 2; ++wait) ::usleep(10000);
    ::kill(program, SIGHUP);
    ::_exit(0);
  };
  const test::Outcome outcome = test::linearmem(words("selective-scan", {"--stream", "--block", "1"}), hang_up_when_it_writes);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(folder_.files(), (std::vector<std::string>{"in", "out"}));
}

TEST_F(Stream, ATruncatedInputIsNamedWithItsOffset) {
  give(scan_inputs(100, 3));
  const std::string whole = test::read_file(folder_ / "in");
  test::write_file(folder_ / "in", whole.substr(0, whole.size() - 5));
  const std::string message = refusal("selective-scan", {});
  EXPECT_EQ(message.rfind((folder_ / "in").string() + ": offset " + std::to_string(whole.size() - 5) + ": tensor \"x\": data_offsets", 0), 0u)
      << message;
}

TEST_F(Stream, SaysWhatCannotBeStreamed) {
  give(scan_inputs(20, 3));
  EXPECT_EQ(refusal("softmax-attention", {}),
            "softmax-attention: cannot be streamed: what it looks back at, every key and value, grows with the sequence");
  EXPECT_EQ(refusal("hybrid", {}),
            "hybrid: cannot be streamed: a window layer adds in another order where a block of tokens begins elsewhere");
  EXPECT_EQ(refusal("shared-depth", {}), "shared-depth: cannot be streamed: it has no state that is carried from token to token");
  EXPECT_EQ(refusal("selective-scan", {"--form", "parallel-scan"}),
            "selective-scan: form parallel-scan cannot be streamed; automatic and recurrent go token by token");
  EXPECT_EQ(refusal("linear-attention", {"--set", "causal=false"}),
            "linear-attention: cannot be streamed where causal is false: a token would need those after it");
  EXPECT_EQ(refusal("segment-memory", {}),
            "segment-memory: cannot be streamed where limit is none: what is kept would grow with the sequence");
  EXPECT_EQ(refusal("selective-scan", {"--block", "0"}), "--block is 0; it counts tokens, 1 or more");
  EXPECT_EQ(test::refused(words("selective-scan", {"--block", "5"})), "--block is 5, but only --stream has blocks");
}

TEST_F(Stream, RefusesInputsByNameBeforeItWrites) {
  NamedTensors inputs = scan_inputs(20, 3);
  inputs["gate"] = inputs["a"];
  give(inputs);
  EXPECT_NE(refusal("selective-scan", {}).find("unknown tensor \"gate\""), std::string::npos);
  inputs = scan_inputs(20, 3);
  inputs["b"] = scan_inputs(19, 3).at("b");
  give(inputs);
  EXPECT_EQ(refusal("selective-scan", {}), "selective-scan: T differs: a has 20, b has 19");
  inputs = scan_inputs(20, 3);
  inputs["state"] = to_named<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  give(inputs);
  EXPECT_EQ(refusal("selective-scan", {}), "selective-scan: N differs: state has 2, a has 1");
  inputs.erase("state");
  inputs["cu_seqlens"] = to_named<std::int64_t>({0, 12, 11, 20}, {4});
  give(inputs);
  EXPECT_EQ(refusal("selective-scan", {}), "selective-scan: cu_seqlens falls at entry 2: 12 then 11");
  inputs = scan_inputs(20, 3);
  inputs["c"].shape = {1, 60};
  give(inputs);
  EXPECT_NE(refusal("selective-scan", {}).find("c is [B,T,D], 3 axes; the tensor has 2"), std::string::npos);
}

TEST_F(Stream, OptionsThatAddOutputsAreRefusedByTheirOutput) {
  const Mechanism& mechanism = *find_mechanism("gated-delta-rule").value();
  Numbers numbers(7);
  NamedTensors inputs = test::drawn_inputs(numbers, mechanism, sizes_of(mechanism, 2, 2));
  give(inputs);
  EXPECT_EQ(refusal(mechanism.name, {"--set", "checkpoint_every=4"}),
            "gated-delta-rule: output checkpoints cannot be streamed; leave out the option that asks for it");
  NamedTensor& g = inputs["g"];  // [2,150,2]
  std::vector<double> gates = floating_values<double>("g", g).value();
  gates[static_cast<std::size_t>((150 + 20) * 2 + 1)] = 0.5;
  g = to_named(gates, g.shape);
  give(inputs);
  const std::string message = refusal(mechanism.name, {"--block", "16"});
  EXPECT_NE(message.find("g is 0.5 at batch 0, token 4, head 1"), std::string::npos) << message;
  EXPECT_NE(message.find("(batch and token counted from row 1, token 16 of the file)"), std::string::npos) << message;
}

}  // namespace
}  // namespace linearmem
