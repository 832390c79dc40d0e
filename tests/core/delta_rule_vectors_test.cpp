// The delta family on inputs small enough to check by hand, in every form and both precisions: the worked vector, and the smallest
// inputs that show faults known from other implementations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/support.hpp"
#include "core/ways.hpp"
#include "linearmem/delta_rule.hpp"

namespace linearmem {
namespace {

using test::Numbers;
using test::tolerance;
using test::Way;
using test::worst;

using Values = std::vector<double>;

// One batch row; every list is row-major. Empty lists are arguments not given.
struct Case {
  std::int64_t T = 1, H = 1, Hv = 1, K = 1, V = 1;
  Values q = {}, k = {}, v = {}, beta = {}, g = {}, state = {};
  std::vector<std::int64_t> cu_seqlens = {};
  double scale = 1;
  bool l2norm = false;

  std::int64_t sequences() const { return cu_seqlens.empty() ? 1 : static_cast<std::int64_t>(cu_seqlens.size()) - 1; }
};

template <typename T>
struct Outputs {
  std::vector<T> o, reads, state;
};

template <typename T>
Outputs<T> run(const Case& c, const Way& way) {
  const std::int64_t N = c.sequences();
  auto cast = [](const Values& values) { return std::vector<T>(values.begin(), values.end()); };
  const std::vector<T> q = cast(c.q), k = cast(c.k), v = cast(c.v), beta = cast(c.beta), g = cast(c.g), state = cast(c.state);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  Outputs<T> out;
  out.o.assign(static_cast<std::size_t>(c.T * c.Hv * c.V), nan);
  out.reads = out.o;
  out.state.assign(static_cast<std::size_t>(N * c.Hv * c.K * c.V), nan);
  DeltaRuleArguments<T> a{.q = {q.data(), {1, c.T, c.H, c.K}}, .k = {k.data(), {1, c.T, c.H, c.K}}, .v = {v.data(), {1, c.T, c.Hv, c.V}},
                          .beta = {beta.data(), {1, c.T, c.Hv}}, .scale = c.scale, .l2norm = c.l2norm, .form = way.form, .chunk = way.chunk,
                          .o = {out.o.data(), {1, c.T, c.Hv, c.V}}, .reads = {out.reads.data(), {1, c.T, c.Hv, c.V}},
                          .final_state = {out.state.data(), {N, c.Hv, c.K, c.V}}};
  if (!g.empty()) a.g = {g.data(), {1, c.T, c.Hv}};
  if (!state.empty()) a.state = {state.data(), {N, c.Hv, c.K, c.V}};
  if (!c.cu_seqlens.empty()) a.cu_seqlens = {c.cu_seqlens.data(), {N + 1}};
  const Status status = delta_rule(a);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

std::vector<Way> all_ways() { return test::ways({Form::reference, Form::recurrent, Form::explicit_}, {0, 1, 2, 3, 4, 5, 64}); }

Case constant(std::int64_t T, double q, double k, double v, double beta) {
  const auto n = static_cast<std::size_t>(T);
  return {.T = T, .q = Values(n, q), .k = Values(n, k), .v = Values(n, v), .beta = Values(n, beta)};
}

Case worked() {
  return {.T = 5, .K = 2, .V = 3, .q = {1, 0, 0, 1, 1, 1, 2, -1, -1, .5}, .k = {1, 0, .6, .8, 0, 1, .8, -.6, 1, 0},
          .v = {1, 2, 3, 4, 5, 6, -1, 0, 1, 2, -2, .5, 0, 1, 0}, .beta = {1, .5, .25, .75, 2}, .g = {0, -.5, -1, -.25, -2},
          .state = {.5, -.5, 1, 0, 1, -1}};
}

const Values kWorkedOutputs = {1, 2, 3,
                               1.454432641668968, 2.121306131942527, 1.550857076402313,
                               0.775713961306457, 1.449490071744393, 1.942530752462102,
                               3.629506002599451, -2.846890545905861, 1.489451369636957,
                               0.159131868655006, -1.993016647386424, 0.170480473782040};
const Values kWorkedState = {-0.202365990045199, 2.092829508286663, -0.135634067635265,
                             -0.086468242780385, 0.199625721800479, 0.069692812293551};

template <typename T>
class DeltaRuleVectors : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(DeltaRuleVectors, Precisions);

TYPED_TEST(DeltaRuleVectors, GatedDelta) {
  for (const Way& way : all_ways()) {
    const auto out = run<TypeParam>(worked(), way);
    EXPECT_LE(worst(out.o, kWorkedOutputs), tolerance<TypeParam>()) << way;
    EXPECT_LE(worst(out.state, kWorkedState), tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, GatedDeltaWithEveryGateZeroIsTheDeltaRule) {
  for (const Way& way : all_ways())
    for (const Values& g : {Values(5, 0.0), Values()}) {
      Case c = worked();
      c.g = g;
      const auto out = run<TypeParam>(c, way);
      EXPECT_LE(worst(std::vector<TypeParam>(out.o.end() - 3, out.o.end()), {2.72225, 0.47625, 4.0625}), tolerance<TypeParam>()) << way;
      EXPECT_LE(worst(out.state, {-2.5276, 1.098, -3, .3893, 3.1485, 2.125}), tolerance<TypeParam>()) << way;
    }
}

Case tokens_of(const Case& c, std::int64_t begin, std::int64_t end, const Values& state) {
  auto part = [&](const Values& values, std::int64_t width) {
    return Values(values.begin() + begin * width, values.begin() + end * width);
  };
  return {.T = end - begin, .K = c.K, .V = c.V, .q = part(c.q, c.K), .k = part(c.k, c.K), .v = part(c.v, c.V), .beta = part(c.beta, 1),
          .g = part(c.g, 1), .state = state};
}

TYPED_TEST(DeltaRuleVectors, EverySplitEqualsUnsplit) {
  for (const Way& way : all_ways())
    for (std::int64_t split = 0; split <= 5; ++split) {
      const Case whole = worked();
      auto first = run<TypeParam>(tokens_of(whole, 0, split, whole.state), way);
      const auto second = run<TypeParam>(tokens_of(whole, split, 5, Values(first.state.begin(), first.state.end())), way);
      if (split == 0) {
        EXPECT_EQ(Values(first.state.begin(), first.state.end()), whole.state) << way;
      }
      if (split == 5) {
        EXPECT_EQ(second.state, first.state) << way;
      }
      first.o.insert(first.o.end(), second.o.begin(), second.o.end());
      EXPECT_LE(worst(first.o, kWorkedOutputs), tolerance<TypeParam>()) << way << " split " << split;
      EXPECT_LE(worst(second.state, kWorkedState), tolerance<TypeParam>()) << way << " split " << split;
    }
}

TYPED_TEST(DeltaRuleVectors, RaggedLastChunk) {
  for (const Way& way : all_ways()) {
    Case c = constant(5, 1, 1, 0, 1);
    c.v = {1, 2, 3, 4, 5};
    c.g = Values(5, -100);
    const auto out = run<TypeParam>(c, way);
    EXPECT_LE(worst(out.o, {1, 2, 3, 4, 5}), tolerance<TypeParam>()) << way;
    EXPECT_LE(worst(out.state, {5}), tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, StrongGatesInAChunk) {
  for (const Way& way : all_ways()) {
    Case c = constant(64, 1, 1, 1, .5);
    c.g = Values(64, -2);
    const auto out = run<TypeParam>(c, way);
    const std::vector<TypeParam> some = {out.o[0], out.o[1], out.o[2], out.o[63]};
    EXPECT_LE(worst(some, {.5, .533833820809153, .536123275670245, .536289441747877}), tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, DecayBeforeError) {
  for (const Way& way : all_ways()) {
    Case c = constant(1, 1, 1, 0, 1);
    c.g = {std::log(.5)};
    c.state = {1};
    const auto out = run<TypeParam>(c, way);
    EXPECT_LE(worst(out.state, {0}), tolerance<TypeParam>()) << way;
    EXPECT_LE(worst(out.reads, {.5}), tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, WriteBeforeRead) {
  for (const Way& way : all_ways()) EXPECT_EQ(run<TypeParam>(constant(1, 1, 1, 1, 1), way).o, std::vector<TypeParam>{1}) << way;
}

TYPED_TEST(DeltaRuleVectors, InitialStateKept) {
  for (const Way& way : all_ways()) {
    Case c = constant(2, 1, 1, 0, .5);
    c.g = {0, 0};
    c.state = {3};
    EXPECT_EQ(run<TypeParam>(c, way).o, (std::vector<TypeParam>{1.5, .75})) << way;
  }
}

Case packed_offsets() {
  Case c = constant(8, 1, 1, 0, .5);
  for (int t = 1; t <= 8; ++t) {
    c.v[static_cast<std::size_t>(t - 1)] = t;
    c.g.push_back(-.1 * t);
  }
  c.cu_seqlens = {0, 3, 8};
  c.state = {10, -4};
  return c;
}

TYPED_TEST(DeltaRuleVectors, PackedOffsets) {
  const double digits = 1e-9;  // as many as are known
  for (const Way& way : all_ways())
    EXPECT_LE(worst(run<TypeParam>(packed_offsets(), way).o, {5.024187090, 3.056728240, 2.632239987, .659359908, 2.699960999, 3.740885007,
                                                              4.428834259, 4.995001755}), std::max(digits, tolerance<TypeParam>())) << way;
}

TYPED_TEST(DeltaRuleVectors, EmptySequencesKeepTheirState) {
  for (const Way& way : all_ways()) {
    Case c = constant(5, 1, 1, 7, .5);
    c.cu_seqlens = {0, 0, 3, 3, 5};
    c.state = {10, 20, 30, 40};
    const auto out = run<TypeParam>(c, way);
    EXPECT_EQ(out.state[0], 10) << way;
    EXPECT_EQ(out.state[2], 30) << way;
    EXPECT_LE(worst(out.state, {10, 7 + 13 / 8.0, 30, 7 + 33 / 4.0}), tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, NoLeakBetweenPackedSequences) {
  for (const Way& way : all_ways()) {
    const auto before = run<TypeParam>(packed_offsets(), way);
    Case changed = packed_offsets();
    for (std::size_t t = 0; t < 3; ++t) changed.q[t] = changed.k[t] = changed.v[t] = std::numeric_limits<double>::quiet_NaN();
    const auto after = run<TypeParam>(changed, way);
    EXPECT_TRUE(std::equal(before.o.begin() + 3, before.o.end(), after.o.begin() + 3)) << way;
    EXPECT_EQ(before.state[1], after.state[1]) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, RecycledSlotIsAsZeros) {
  const TypeParam one = 1, nan = std::numeric_limits<TypeParam>::quiet_NaN();
  for (const Way& way : all_ways()) {
    TypeParam slot = nan, o = nan;
    const View<const TypeParam, 4> row(&one, {1, 1, 1, 1});
    ASSERT_TRUE(delta_rule({.q = row, .k = row, .v = row, .beta = {&one, {1, 1, 1}}, .scale = 1.0, .form = way.form, .chunk = way.chunk,
                            .o = View<TypeParam, 4>(&o, {1, 1, 1, 1}), .final_state = View<TypeParam, 4>(&slot, {1, 1, 1, 1})}).ok());
    EXPECT_EQ(o, 1) << way;
    EXPECT_EQ(slot, 1) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, TwiceTheScaleDoublesOutputsAndLeavesTheState) {
  for (const Way& way : all_ways()) {
    Case twice = worked();
    twice.scale = 2;
    auto once = run<TypeParam>(worked(), way);
    const auto doubled = run<TypeParam>(twice, way);
    for (TypeParam& o : once.o) o *= 2;
    EXPECT_EQ(doubled.o, once.o) << way;
    EXPECT_EQ(doubled.state, once.state) << way;
    EXPECT_EQ(doubled.reads, once.reads) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, ZeroKeyUnderL2NormGivesZero) {
  for (const Way& way : all_ways()) {
    Case c = constant(2, 0, 0, 5, 1);
    c.l2norm = true;
    const auto out = run<TypeParam>(c, way);
    EXPECT_EQ(out.o, (std::vector<TypeParam>{0, 0})) << way;
    EXPECT_EQ(out.state, (std::vector<TypeParam>{0})) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, EpsilonStandsInsideTheRoot) {
  for (const Way& way : all_ways()) {
    Case c{.K = 4, .q = {1e-3, 0, 0, 0}, .k = {1e-3, 0, 0, 0}, .v = {1}, .beta = {1}};
    c.l2norm = true;  // S becomes the normalized key
    EXPECT_LE(worst(run<TypeParam>(c, way).state, {.707106781186548, 0, 0, 0}), tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, KeyAndValueWidthsMayDifferAndBeOdd) {
  for (const auto& [K, V] : {std::pair<std::int64_t, std::int64_t>{3, 5}, {1, 17}}) {
    Numbers numbers(31);
    Case c{.T = 6, .K = K, .V = V};
    for (std::int64_t i = 0; i < 6 * K; ++i) {
      c.q.push_back(static_cast<float>(numbers.uniform(-1, 1)));
      c.k.push_back(static_cast<float>(numbers.uniform(-.5, .5)));
    }
    for (std::int64_t j = 0; j < 6 * V; ++j) c.v.push_back(static_cast<float>(numbers.uniform(-1, 1)));
    c.beta = Values(6, .75);
    c.g = Values(6, -.25);
    const auto exact = run<double>(c, {Form::reference});
    for (const Way& way : all_ways()) {
      const auto out = run<TypeParam>(c, way);
      EXPECT_LE(worst(out.o, exact.o), tolerance<TypeParam>()) << way;
      EXPECT_LE(worst(out.state, exact.state), tolerance<TypeParam>()) << way;
    }
  }
}

TYPED_TEST(DeltaRuleVectors, ATransposedViewAndEverySecondRowEqualThePackedCopy) {
  const Case c = worked();
  std::vector<TypeParam> q(c.q.begin(), c.q.end()), beta(c.beta.begin(), c.beta.end()), turned(15), spaced(20, 1e30f);
  for (std::size_t t = 0; t < 5; ++t) {
    for (std::size_t j = 0; j < 3; ++j) turned[j * 5 + t] = static_cast<TypeParam>(c.v[t * 3 + j]);
    for (std::size_t i = 0; i < 2; ++i) spaced[4 * t + i] = static_cast<TypeParam>(c.k[t * 2 + i]);
  }
  for (const Way& way : all_ways()) {
    Case without = c;
    without.g = without.state = {};
    std::vector<TypeParam> o(15, std::numeric_limits<TypeParam>::quiet_NaN());
    ASSERT_TRUE(delta_rule({.q = {q.data(), {1, 5, 1, 2}}, .k = {spaced.data(), {1, 5, 1, 2}, {20, 4, 4, 1}},
                            .v = {turned.data(), {1, 5, 1, 3}, {15, 1, 15, 5}}, .beta = {beta.data(), {1, 5, 1}}, .scale = 1.0,
                            .form = way.form, .chunk = way.chunk, .o = View<TypeParam, 4>(o.data(), {1, 5, 1, 3})}).ok());
    EXPECT_EQ(o, run<TypeParam>(without, way).o) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, TwoKeyHeadsServeFourValueHeadsInPairs) {
  for (const Way& way : all_ways()) {
    const Case c{.H = 2, .Hv = 4, .q = {1, 10}, .k = {1, 0}, .v = {1, 2, 3, 4}, .beta = {1, 1, 1, 1}, .state = {0, 0, 5, 6}};
    const auto out = run<TypeParam>(c, way);
    EXPECT_EQ(out.o, (std::vector<TypeParam>{1, 2, 50, 60})) << way;
    EXPECT_EQ(out.state, (std::vector<TypeParam>{1, 2, 5, 6})) << way;
  }
}

TYPED_TEST(DeltaRuleVectors, UnnormalizedKeysGrowWithoutBound) {
  for (const Way& way : all_ways())
    EXPECT_LE(worst(run<TypeParam>(constant(20, 1, 2, 1, 1), way).state, {-1743392200}), tolerance<TypeParam>()) << way;
}

}  // namespace
}  // namespace linearmem
