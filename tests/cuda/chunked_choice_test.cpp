// Who gets chunks in bfloat16, and what a launch of them needs: only who asks for the form on a backend of that precision; everything that
// does not go with it is refused by name.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cuda/chunked_cases.hpp"
#include "cuda/emulated.hpp"
#include "host/chunked.hpp"
#include "kernels/chunk_scan.hpp"
#include "kernels/chunk_weights.hpp"

namespace linearmem {
namespace {

using test::DeltaCall;
using test::Emulated;
using test::LinearCall;
using test::SsdCall;

constexpr cuda::Limits kTuring = {.shared_bytes_per_block = 64 << 10, .processors = 40, .capability = 75};
constexpr cuda::Limits kAmpere = {.shared_bytes_per_block = 99 << 10, .processors = 84, .capability = 86};

TEST(CudaChunkedChoice, NobodyGetsItWithoutAsking) {
  const Emulated exact, narrow({}, MatrixPrecision::bfloat16);
  for (Form form : {Form::automatic, Form::recurrent}) {
    DeltaCall a({1, 70, 1, 20, 35}, 1), b({1, 70, 1, 20, 35}, 1), c({1, 70, 1, 20, 35}, 1);
    const auto run = [form](DeltaCall& call, const Emulated& device, Form asked) {
      auto arguments = call.arguments(device.backend());
      arguments.form = asked == Form::chunked ? asked : form;
      return delta_rule(arguments);
    };
    ASSERT_TRUE(run(a, exact, form).ok() && run(b, narrow, form).ok());
    EXPECT_TRUE(a.same_bits(b));
    ASSERT_TRUE(run(c, narrow, Form::chunked).ok());
    EXPECT_FALSE(a.same_bits(c));
  }
  DeltaCall call({1, 70, 1, 20, 35}, 1);
  const Status status = delta_rule(call.arguments(exact.backend()));
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_EQ(status.message(),
            "delta_rule: backend cuda has form chunked in matrix precision bf16 only, this one has f32; in f32 it has automatic, recurrent");
}

TEST(CudaChunkedChoice, WhatDoesNotGoWithItIsRefusedByName) {
  const Emulated device({}, MatrixPrecision::bfloat16);
  DeltaCall delta({1, 70, 1, 20, 35}, 1);
  const std::string start = "delta_rule: form chunked of backend cuda ";
  const auto refused = [&](auto change) {
    auto a = delta.arguments(device.backend());
    change(a);
    return delta_rule(a).message();
  };
  EXPECT_EQ(refused([](auto& a) { a.chunk = 16; }), start + "has chunks of 64 tokens, chunk is 16");
  EXPECT_EQ(refused([](auto& a) { a.allow_growth = true; }), start + "takes gates up to 0 only, allow_growth lets others through; form recurrent takes all");
  test::Guarded<float, 4> g_key({1, 70, 2, 20}), checkpoints({2, 2, 20, 35});
  test::Numbers numbers(1);
  g_key.fill(numbers, -1, 0);
  EXPECT_EQ(refused([&](auto& a) { a.g = {}, a.g_key = g_key.view(); }),
            start + "has gates per head, g_key is one per key component; form recurrent has both");
  EXPECT_EQ(refused([&](auto& a) { a.checkpoint_every = 32, a.checkpoints = checkpoints.view(); }),
            start + "has states after every 64 tokens, checkpoint_every is 32");
  EXPECT_EQ(refused([](auto& a) { a.form = Form::explicit_; }),
            "delta_rule: backend cuda has no form explicit; in matrix precision bf16 it has automatic, recurrent, chunked");
  EXPECT_EQ(refused([](auto& a) { a.chunk = 64; }), "");
  EXPECT_EQ(device.device().launches(), 2);
  LinearCall linear({1, 70, 1, 20, 35}, 1);
  auto b = linear.arguments(device.backend());
  b.causal = false, b.g = {};
  EXPECT_EQ(linear_attention(b).message(), "linear_attention: form chunked of backend cuda is causal; form recurrent has both");
  SsdCall scan({1, 70, 1, 20, 35}, 1);
  auto c = scan.arguments(device.backend());
  c.chunk = 32;
  EXPECT_EQ(ssd(c).message(), "ssd: form chunked of backend cuda has chunks of 64 tokens, chunk is 32");
}

TEST(CudaChunkedChoice, ADeviceWithoutTheTensorCoresRefuses) {
  const Emulated old({.limits = kTuring}, MatrixPrecision::bfloat16), small({.memory_bytes = 200000}, MatrixPrecision::bfloat16);
  DeltaCall call({1, 70, 1, 20, 35}, 1);
  EXPECT_EQ(delta_rule(call.arguments(old.backend())).message(),
            "delta_rule: form chunked of backend cuda needs tensor cores for bf16, compute capability 8.0; this device has 7.5");
  EXPECT_EQ(old.device().launches(), 0);
  EXPECT_EQ(delta_rule(call.arguments(small.backend())).code(), StatusCode::out_of_memory);
  EXPECT_EQ(old.device().used() + small.device().used(), 0);
  EXPECT_TRUE(call.same_bits(DeltaCall({1, 70, 1, 20, 35}, 1)));
}

cuda::ChunkArguments sizes(std::int64_t H, std::int64_t K, std::int64_t V, bool corrects) {
  cuda::ChunkArguments a{};
  a.call.H = H, a.call.K = K, a.call.V = V;
  a.corrects = corrects;
  return a;
}

TEST(CudaChunkedChoice, EveryKeyWidthFitsEveryDeviceThatHasTheTensorCores) {
  for (bool corrects : {false, true}) {
    std::set<int> kernels;
    for (std::int64_t K = 0; K <= 256; ++K) {
      cuda::ChunkArguments a = sizes(96, K, 128, corrects);
      const auto plan = cuda::plan_chunked("delta_rule", 1, 128, kAmpere, a);
      ASSERT_TRUE(plan.ok()) << K << " " << plan.status().message();
      EXPECT_GE(a.keys, K);
      kernels.insert(plan.value().scan_kernel);
    }
    EXPECT_EQ(kernels.size(), 3u);
  }
  cuda::ChunkArguments wide = sizes(1, 257, 8, true), wider = sizes(1, 256, 8, true);
  EXPECT_EQ(cuda::plan_chunked("ssd", 1, 1, kAmpere, wide).status().message(),
            "ssd: form chunked of backend cuda keeps keys of at most 256 components, K is 257");
  EXPECT_EQ(cuda::plan_chunked("ssd", 1, 1, {.shared_bytes_per_block = 64 << 10, .processors = 1, .capability = 80}, wider).status().message(),
            "ssd: form chunked of backend cuda needs 68864 bytes of shared memory where K is 256; a block of this device has 65536");
}

TEST(CudaChunkedChoice, BlocksAndScratchFollowFromTheSizes) {
  cuda::ChunkArguments a = sizes(96, 128, 130, true);
  const auto plan = cuda::plan_chunked("delta_rule", 3, 128, kAmpere, a);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(a.tiles, 5);
  EXPECT_EQ(plan.value().weights_blocks, 128 * 96);
  EXPECT_EQ(plan.value().scan_blocks, 3 * 96 * 5);
  // q and k, weights and inverse in two bytes, three numbers per token in four
  EXPECT_EQ(plan.value().scratch_bytes, std::int64_t{128} * 96 * (2 * (2 * 64 * 128 + 2 * 64 * 64) + 4 * 3 * 64));
  EXPECT_EQ(plan.value().weights_shared_bytes, 4 * (2 * 64 * 68 + 3 * 256) + 4 * 5 * 64);
  EXPECT_EQ(plan.value().scan_shared_bytes, 2 * (96 * 136 + 3 * 32 * 72) + 4 * (4 * 64 + 128));
  a = sizes(96, 128, 130, false);
  EXPECT_EQ(cuda::plan_chunked("ssd", 3, 128, kAmpere, a).value().scratch_bytes,
            std::int64_t{128} * 96 * (2 * (2 * 64 * 128 + 64 * 64) + 4 * 3 * 64));
  a = sizes(1 << 16, 64, 0, false);
  EXPECT_EQ(cuda::plan_chunked("ssd", 1 << 16, 1 << 17, kAmpere, a).value().scan_blocks, 0);
  EXPECT_EQ(cuda::plan_chunked("ssd", 1 << 16, 1 << 17, kAmpere, a).value().weights_blocks, std::int64_t{1} << 33);
}

TEST(CudaChunkedChoice, ChunksAreCutFromEachSequencesOwnFirstToken) {
  const std::int64_t bounds[] = {0, 64, 64, 65, 200};
  const cuda::ChunkTable packed = cuda::chunks_of({bounds, {5}}, 200, 4), batch = cuda::chunks_of({}, 65, 2);
  EXPECT_EQ(packed.first_chunk, (std::vector<std::int64_t>{0, 1, 1, 2}));
  EXPECT_EQ(packed.sequence, (std::vector<std::int64_t>{0, 2, 3, 3, 3}));
  EXPECT_EQ(batch.first_chunk, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(batch.sequence, (std::vector<std::int64_t>{0, 0, 1, 1}));
}

}  // namespace
}  // namespace linearmem
