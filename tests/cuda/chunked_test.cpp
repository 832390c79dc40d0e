// Prefill in chunks, in bfloat16 on tensor cores, emulated or a device's: against the definition in float64, alone and in company, in every order of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "cuda/backends.hpp"
#include "cuda/chunked_cases.hpp"

namespace linearmem {
namespace {

using test::call_door;
using test::ChunkedSizes;
using test::DeltaCall;
using test::LinearCall;
using test::relative_difference;
using test::SsdCall;

// A rounding to bfloat16 is off by 2^-9 at most; a result is a sum of numbers that were rounded several times on the way.
constexpr double kTolerance = 0x1p-7;

class CudaChunked : public testing::Test {
 protected:
  void SetUp() override {
    if (test::bfloat_backends().empty()) GTEST_SKIP() << "this device has no tensor cores for bfloat16";
  }
  static const Backend* backend() { return test::bfloat_backends()[0].backend; }
};

// The worst of the outputs named, each relative to max(1, largest), against the definition; NaN in one stays.
template <typename Arguments, typename... Output>
double difference_from_definition(const Arguments& a, Output Arguments::*... outputs) {
  const Status status = call_door(a);
  EXPECT_TRUE(status.ok()) << status.message();
  Arguments exact = a;
  exact.backend = nullptr, exact.form = Form::reference;
  const auto room = [&](auto output) {
    auto tensor = std::make_unique<Tensor<float, std::tuple_size_v<std::decay_t<decltype((a.*output).extents())>>>>((a.*output).extents());
    exact.*output = tensor->view();
    return tensor;
  };
  const auto rooms = std::make_tuple(room(outputs)...);
  EXPECT_TRUE(call_door(exact).ok());
  double worst = 0;
  const auto meet = [&](double difference) {
    if (!std::isnan(worst) && !(difference <= worst)) worst = difference;
  };
  (meet(relative_difference(a.*outputs, exact.*outputs)), ...);
  return worst;
}

constexpr ChunkedSizes kSizes[] = {{1, 1, 1, 1, 1},     {2, 63, 1, 16, 33},  {1, 64, 1, 64, 32}, {1, 65, 1, 65, 31},
                                   {1, 129, 1, 128, 40}, {1, 200, 2, 100, 7}, {1, 70, 1, 256, 9}, {1, 321, 1, 33, 64}};

TEST_F(CudaChunked, DeltaRuleIsTheDefinitionAsFarAsBFloatReaches) {
  using A = DeltaRuleArguments<float>;
  for (const ChunkedSizes& sizes : kSizes)
    for (int variant = 0; variant < 3; ++variant) {  // gated with a state; without either; unit keys and queries
      DeltaCall call(sizes, 1 + static_cast<std::uint64_t>(variant));
      A a = call.arguments(backend());
      if (variant == 1) a.g = {}, a.state = {};
      a.l2norm = variant == 2;
      EXPECT_LE(difference_from_definition(a, &A::o, &A::reads, &A::final_state), kTolerance) << sizes.T << " " << sizes.K << " " << variant;
      EXPECT_TRUE(call.guards_intact());
    }
}

TEST_F(CudaChunked, LinearAttentionIsTheDefinitionAsFarAsBFloatReaches) {
  using A = LinearAttentionArguments<float>;
  for (const ChunkedSizes& sizes : kSizes)
    for (Feature feature : {Feature::elu1, Feature::relu, Feature::identity}) {
      LinearCall call(sizes, 5);
      A a = call.arguments(backend());
      a.feature = feature;
      a.normalize = feature == Feature::elu1;  // others divide by what may come close to 0
      if (feature == Feature::identity) a.g = {};
      EXPECT_LE(difference_from_definition(a, &A::o, &A::final_state, &A::final_z), kTolerance) << sizes.T << " " << sizes.K << " " << feature_name(feature);
      EXPECT_TRUE(call.guards_intact());
    }
}

TEST_F(CudaChunked, SsdIsTheDefinitionAsFarAsBFloatReaches) {
  using A = SsdArguments<float>;
  for (const ChunkedSizes& sizes : kSizes) {
    SsdCall call(sizes, 9);
    EXPECT_LE(difference_from_definition(call.arguments(backend()), &A::y, &A::final_state), kTolerance) << sizes.T << " " << sizes.K;
    EXPECT_TRUE(call.guards_intact());
  }
}

// Chunk after chunk the error does not add up where the state forgets or is corrected.
TEST_F(CudaChunked, ALongSequenceIsNoWorse) {
  using A = DeltaRuleArguments<float>;
  DeltaCall call({1, 2048, 1, 64, 16}, 4);
  A a = call.arguments(backend());
  EXPECT_LE(difference_from_definition(a, &A::o, &A::reads, &A::final_state), kTolerance);
  a.g = {};
  EXPECT_LE(difference_from_definition(a, &A::o, &A::reads, &A::final_state), kTolerance);
}

template <typename Call>
void expect_one_result(const ChunkedSizes& sizes) {
  Call first(sizes, 11);
  ASSERT_TRUE(call_door(first.arguments(test::bfloat_backends()[0].backend)).ok());
  for (const test::NamedBackend& named : test::bfloat_backends()) {
    Call call(sizes, 11);
    ASSERT_TRUE(call_door(call.arguments(named.backend)).ok());
    EXPECT_TRUE(call.same_bits(first)) << named.name;
  }
}

TEST_F(CudaChunked, ThreadsDoNotRace) {
  for (std::int64_t K : {40, 128, 256}) {
    expect_one_result<DeltaCall>({1, 100, 1, K, 40});
    expect_one_result<LinearCall>({1, 100, 1, K, 40});
    expect_one_result<SsdCall>({1, 100, 1, K, 40});
  }
}

// Sequences of 70, 0, 1 and 129 tokens in one row, and each by itself.
TEST_F(CudaChunked, ASequenceGivesTheSameBitsPackedAndAlone) {
  const std::int64_t bounds[] = {0, 70, 70, 71, 200};
  DeltaCall packed({1, 200, 1, 20, 35, 4}, 2), alone({1, 200, 1, 20, 35, 4}, 2);
  auto a = packed.arguments(backend());
  a.cu_seqlens = {bounds, {5}};
  ASSERT_TRUE(delta_rule(a).ok());
  for (std::int64_t n = 0; n < 4; ++n) {
    const auto part = [&](const auto& view) { return test::tokens_of(view, bounds[n], bounds[n + 1]); };
    const auto one = [&](const auto& view) { return std::decay_t<decltype(view)>(&view(n, 0, 0, 0), {1, 2, 20, 35}); };
    auto b = alone.arguments(backend());
    b.q = part(b.q), b.k = part(b.k), b.v = part(b.v), b.beta = part(b.beta), b.g = part(b.g), b.o = part(b.o), b.reads = part(b.reads);
    b.state = one(b.state), b.final_state = one(b.final_state);
    ASSERT_TRUE(delta_rule(b).ok());
  }
  EXPECT_TRUE(packed.same_bits(alone));
}

// Between chunks a state is float32 whole: nothing is lost where a call ends there. Elsewhere chunks are cut otherwise.
TEST_F(CudaChunked, ASplitBetweenChunksChangesNothing) {
  DeltaCall whole({1, 200, 1, 20, 35}, 3), parts({1, 200, 1, 20, 35}, 3);
  ASSERT_TRUE(delta_rule(whole.arguments(backend())).ok());
  for (std::int64_t split : {64, 128, 77}) {
    for (const auto& [begin, end] : {std::pair{std::int64_t{0}, split}, std::pair{split, std::int64_t{200}}}) {
      const auto part = [&, begin = begin, end = end](const auto& view) { return test::tokens_of(view, begin, end); };
      auto a = parts.arguments(backend());
      a.q = part(a.q), a.k = part(a.k), a.v = part(a.v), a.beta = part(a.beta), a.g = part(a.g), a.o = part(a.o), a.reads = part(a.reads);
      if (begin > 0) a.state = parts.last.view();
      ASSERT_TRUE(delta_rule(a).ok());
    }
    EXPECT_EQ(parts.same_bits(whole), split % 64 == 0) << split;
    EXPECT_LE(relative_difference(parts.o.view(), whole.o.view()), kTolerance) << split;
    EXPECT_LE(relative_difference(parts.last.view(), whole.last.view()), kTolerance) << split;
  }
}

TEST_F(CudaChunked, NoTokensLeaveTheStateAsItWas) {
  DeltaCall delta({1, 0, 1, 20, 35}, 3);
  ASSERT_TRUE(delta_rule(delta.arguments(backend())).ok());
  EXPECT_TRUE(delta.last.same_bits(delta.state));
  LinearCall linear({1, 0, 1, 20, 35}, 3);
  ASSERT_TRUE(linear_attention(linear.arguments(backend())).ok());
  EXPECT_TRUE(linear.last.same_bits(linear.state) && linear.last_z.same_bits(linear.z));
}

TEST_F(CudaChunked, CheckpointsBetweenChunks) {
  const std::int64_t bounds[] = {0, 130, 140, 300};
  using A = LinearAttentionArguments<float>;
  LinearCall call({1, 300, 1, 17, 5, 3}, 6);
  for (std::int64_t every : {64, 128}) {
    const std::int64_t M = every == 64 ? 2 + 0 + 2 : 1 + 0 + 1;
    test::Guarded<float, 4> checkpoints({M, 2, 17, 5});
    test::Guarded<float, 3> checkpoints_z({M, 2, 17});
    A a = call.arguments(backend());
    a.cu_seqlens = {bounds, {4}}, a.checkpoint_every = every, a.checkpoints = checkpoints.view(), a.checkpoints_z = checkpoints_z.view();
    EXPECT_LE(difference_from_definition(a, &A::o, &A::checkpoints, &A::checkpoints_z), kTolerance) << every;
    EXPECT_TRUE(checkpoints.guards_intact() && checkpoints_z.guards_intact());
  }
}

// Decays of which nothing is left, up to the infinite one, between others that keep nearly all.
TEST_F(CudaChunked, StrongGatesGiveZeroAndNeverNaN) {
  using A = DeltaRuleArguments<float>;
  DeltaCall call({1, 150, 1, 20, 35}, 8);
  for (float gate : {-90.0f, -500.0f, -3e38f, -std::numeric_limits<float>::infinity()}) {
    for (std::int64_t t : {0, 5, 6, 63, 64, 100})
      for (std::int64_t h : {0, 1}) call.g.view()(0, t, h) = gate;
    EXPECT_LE(difference_from_definition(call.arguments(backend()), &A::o, &A::reads, &A::final_state), kTolerance) << gate;
  }
}

// Numbers that bfloat16 holds, and orthogonal keys: then every product is exact, and what was written is read back to the last bit.
TEST_F(CudaChunked, AWriteAtFullStrengthIsReadBack) {
  const std::int64_t T = 96, K = 96, V = 40;
  Tensor<float, 4> k({1, T, 1, K}), v({1, T, 1, V}), o({1, T, 1, V}), last({1, 1, K, V});
  const Tensor<float, 3> beta({1, T, 1}, 1);
  for (std::int64_t t = 0; t < T; ++t) {
    k(0, t, 0, t) = 1;
    for (std::int64_t j = 0; j < V; ++j) v(0, t, 0, j) = static_cast<float>((7 * t + 3 * j) % 200 - 100);
  }
  ASSERT_TRUE(delta_rule(DeltaRuleArguments<float>{.q = k.view(), .k = k.view(), .v = v.view(), .beta = beta.view(), .scale = 1.0,
                                                   .form = Form::chunked, .backend = backend(), .o = o.view(), .final_state = last.view()})
                  .ok());
  EXPECT_EQ(o.values(), v.values());
  EXPECT_EQ(last.values(), v.values());
}

TEST_F(CudaChunked, GarbageInAnotherSequenceOrUnderTheMaskIsNotSeen) {
  const std::int64_t bounds[] = {0, 70, 130};
  LinearCall clean({1, 130, 1, 20, 35, 2}, 7), spoilt({1, 130, 1, 20, 35, 2}, 7);
  clean.mask[3] = spoilt.mask[3] = 0;
  const float nan = std::nanf("");
  for (std::int64_t t = 70; t < 130; ++t) spoilt.v.view()(0, t, 0, 0) = spoilt.k.view()(0, t, 0, 0) = spoilt.q.view()(0, t, 0, 0) = nan;
  for (std::int64_t h : {0, 1}) spoilt.g.view()(0, 3, h) = nan;
  spoilt.v.view()(0, 3, 0, 0) = spoilt.k.view()(0, 3, 0, 0) = nan;
  for (LinearCall* call : {&clean, &spoilt}) {
    auto a = call->arguments(backend());
    a.cu_seqlens = {bounds, {3}};
    ASSERT_TRUE(linear_attention(a).ok());
  }
  EXPECT_EQ(relative_difference(test::tokens_of(spoilt.o.view(), 0, 70), test::tokens_of(clean.o.view(), 0, 70)), 0);
}

TEST_F(CudaChunked, StridedViewsEqualPackedCopies) {
  SsdCall call({1, 70, 1, 20, 35}, 12);
  auto a = call.arguments(backend());
  ASSERT_TRUE(ssd(a).ok());
  auto y = call.y;
  test::Turned<float, 4> x(call.x.view().extents()), B(call.B.view().extents()), turned_y(call.y.view().extents());
  convert(a.x, x.view()), convert(a.B, B.view());
  a.x = x.view(), a.B = B.view(), a.y = turned_y.view();
  ASSERT_TRUE(ssd(a).ok());
  EXPECT_EQ(relative_difference(turned_y.view(), y.view()), 0);
}

}  // namespace
}  // namespace linearmem
