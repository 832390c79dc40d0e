// Linear attention on inputs small enough to check by hand, in every form and both precisions: the worked vector, what the sums
// mean, and the smallest inputs that show faults known from other implementations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/support.hpp"
#include "core/ways.hpp"
#include "linearmem/linear_attention.hpp"

namespace linearmem {
namespace {

using test::tolerance;
using test::Way;
using test::worst;

using Values = std::vector<double>;

const double kNaN = std::numeric_limits<double>::quiet_NaN();

// One batch row; every list is row-major. Empty lists are arguments not given.
struct Case {
  std::int64_t T = 1, H = 1, Hk = 1, K = 1, V = 1;
  Values q = {}, k = {}, v = {}, state = {}, z = {};
  std::vector<std::uint8_t> mask = {};
  std::vector<std::int64_t> cu_seqlens = {};
  double eps = 0;
  bool normalize = true, causal = true;
  Feature feature = Feature::elu1;

  std::int64_t sequences() const { return cu_seqlens.empty() ? 1 : static_cast<std::int64_t>(cu_seqlens.size()) - 1; }
};

template <typename T>
struct Outputs {
  std::vector<T> o, state, z;
};

template <typename T>
Outputs<T> run(const Case& c, const Way& way) {
  const std::int64_t N = c.sequences();
  auto cast = [](const Values& values) { return std::vector<T>(values.begin(), values.end()); };
  const std::vector<T> q = cast(c.q), k = cast(c.k), v = cast(c.v), state = cast(c.state), z = cast(c.z);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  Outputs<T> out;
  out.o.assign(static_cast<std::size_t>(c.T * c.H * c.V), nan);
  out.state.assign(static_cast<std::size_t>(N * c.H * c.K * c.V), nan);
  out.z.assign(static_cast<std::size_t>(N * c.H * c.K), nan);
  LinearAttentionArguments<T> a{.q = {q.data(), {1, c.T, c.H, c.K}}, .k = {k.data(), {1, c.T, c.Hk, c.K}},
                                .v = {v.data(), {1, c.T, c.Hk, c.V}}, .feature = c.feature, .eps = c.eps, .normalize = c.normalize,
                                .causal = c.causal, .form = way.form, .chunk = way.chunk, .o = {out.o.data(), {1, c.T, c.H, c.V}},
                                .final_state = {out.state.data(), {N, c.H, c.K, c.V}}, .final_z = {out.z.data(), {N, c.H, c.K}}};
  if (!state.empty()) a.state = {state.data(), {N, c.H, c.K, c.V}};
  if (!z.empty()) a.z = {z.data(), {N, c.H, c.K}};
  if (!c.mask.empty()) a.key_mask = {c.mask.data(), {1, c.T}};
  if (!c.cu_seqlens.empty()) a.cu_seqlens = {c.cu_seqlens.data(), {N + 1}};
  const Status status = linear_attention(a);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

std::vector<Way> all_ways() { return test::ways({Form::reference, Form::recurrent, Form::explicit_}, {0, 1, 2, 3, 4}); }

Case worked() {
  return {.T = 3, .K = 2, .V = 3, .q = {.5, -1, 0, 2, -.5, .5}, .k = {1, -2, -.3, .7, .2, 0}, .v = {1, 0, 2, 3, -1, 0, -2, 4, 1}};
}

template <typename T>
std::vector<T> row(const std::vector<T>& values, std::int64_t at, std::int64_t width) {
  return {values.begin() + at * width, values.begin() + (at + 1) * width};
}

template <typename T>
bool all_are(const std::vector<T>& values, T value) {
  return std::all_of(values.begin(), values.end(), [&](T x) { return x == value; });
}

template <typename T>
bool all_nan(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [](T x) { return std::isnan(x); });
}

template <typename T>
class LinearAttentionVectors : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(LinearAttentionVectors, Precisions);

TYPED_TEST(LinearAttentionVectors, Elu1) {
  const Values expected = {1, 0, 2, 2.416501230249816, -0.708250615124908, 0.583498769750184,
                           0.896909719108684, 0.889931283796683, 0.761672451529676};
  for (const Way& way : all_ways()) EXPECT_LE(worst(run<TypeParam>(worked(), way).o, expected), tolerance<TypeParam>()) << way;
}

TYPED_TEST(LinearAttentionVectors, Elu1WithEps) {
  for (const Way& way : all_ways()) {
    Case c = worked();
    c.eps = 1e-6;
    EXPECT_LE(worst(row(run<TypeParam>(c, way).o, 0, 3), {0.999999672108364, 0, 1.999999344216727}), tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(LinearAttentionVectors, Elu1NotCausal) {
  for (const Way& way : all_ways()) {
    Case c = worked();
    c.causal = false;
    const Values expected = {0.564241059125005, 0.997211288287443, 1.188828032315084};
    EXPECT_LE(worst(row(run<TypeParam>(c, way).o, 0, 3), expected), tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(LinearAttentionVectors, StateIsTheSumOfOuterProductsAndZOfKeys) {
  for (const Way& way : all_ways()) {
    const Case c{.T = 2, .K = 2, .V = 2, .q = {1, 0, 1, 1}, .k = {1, 2, 3, -1}, .v = {5, 6, 7, 8}, .state = {1, 0, 0, 0}, .z = {0, 1},
                 .normalize = false, .feature = Feature::identity};
    const auto out = run<TypeParam>(c, way);
    EXPECT_EQ(out.state, (std::vector<TypeParam>{27, 30, 3, 4})) << way;
    EXPECT_EQ(out.z, (std::vector<TypeParam>{4, 2})) << way;
    EXPECT_EQ(out.o, (std::vector<TypeParam>{6, 6, 30, 34})) << way;
  }
}

TYPED_TEST(LinearAttentionVectors, MaskedKeyHoldsNaN) {
  for (const Way& way : all_ways())
    for (bool causal : {true, false}) {
      Case masked = worked();
      masked.causal = causal;
      masked.mask = {1, 0, 1};
      masked.k[2] = masked.k[3] = masked.v[3] = masked.v[4] = masked.v[5] = kNaN;
      Case absent{.T = 2, .K = 2, .V = 3, .q = {.5, -1, -.5, .5}, .k = {1, -2, .2, 0}, .v = {1, 0, 2, -2, 4, 1}, .causal = causal};
      const auto got = run<TypeParam>(masked, way);
      const auto expected = run<double>(absent, {Form::reference});
      EXPECT_LE(worst(row(got.o, 0, 3), row(expected.o, 0, 3)), tolerance<TypeParam>()) << way;
      EXPECT_LE(worst(row(got.o, 2, 3), row(expected.o, 1, 3)), tolerance<TypeParam>()) << way;
      EXPECT_LE(worst(got.state, expected.state), tolerance<TypeParam>()) << way;
      EXPECT_LE(worst(got.z, expected.z), tolerance<TypeParam>()) << way;
      EXPECT_TRUE(std::isfinite(got.o[3])) << way << ": the masked token still reads";
    }
}

TYPED_TEST(LinearAttentionVectors, FullyMaskedRowIsZero) {
  for (const Way& way : all_ways())
    for (double eps : {0.0, 1e-6})
      for (bool causal : {true, false}) {
        Case c = worked();
        c.eps = eps;
        c.causal = causal;
        c.mask = {0, 0, 0};
        c.k = Values(6, kNaN);
        c.v = Values(9, kNaN);
        const auto out = run<TypeParam>(c, way);
        EXPECT_TRUE(all_are<TypeParam>(out.o, 0) && all_are<TypeParam>(out.state, 0) && all_are<TypeParam>(out.z, 0)) << way;
      }
}

TYPED_TEST(LinearAttentionVectors, ConstantValuesGiveOneSplitAnywhere) {
  Case whole{.T = 6, .K = 2, .V = 2};
  for (int t = 0; t < 12; ++t) {
    whole.q.push_back(std::sin(t));
    whole.k.push_back(2 * std::cos(3 * t));
  }
  whole.v = Values(12, 1);
  for (const Way& way : all_ways())
    for (std::int64_t split = 0; split <= 6; ++split) {
      Case first = whole, second = whole;
      first.T = split;
      second.T = 6 - split;
      for (Values* values : {&second.q, &second.k, &second.v}) values->erase(values->begin(), values->begin() + 2 * split);
      const auto before = run<TypeParam>(first, way);
      second.state = Values(before.state.begin(), before.state.end());
      second.z = Values(before.z.begin(), before.z.end());
      EXPECT_LE(worst(before.o, Values(static_cast<std::size_t>(2 * split), 1)), tolerance<TypeParam>()) << way;
      EXPECT_LE(worst(run<TypeParam>(second, way).o, Values(static_cast<std::size_t>(12 - 2 * split), 1)), tolerance<TypeParam>()) << way;
    }
}

TYPED_TEST(LinearAttentionVectors, AFutureTokenReachesNoEarlierOutputUnlessNotCausal) {
  for (const Way& way : all_ways()) {
    Case changed = worked();
    changed.k[4] = changed.v[6] = kNaN;
    EXPECT_EQ(row(run<TypeParam>(changed, way).o, 0, 3), row(run<TypeParam>(worked(), way).o, 0, 3)) << way;
    EXPECT_EQ(row(run<TypeParam>(changed, way).o, 1, 3), row(run<TypeParam>(worked(), way).o, 1, 3)) << way;
    changed.causal = false;
    EXPECT_TRUE(std::isnan(run<TypeParam>(changed, way).o[0])) << way;
  }
}

TYPED_TEST(LinearAttentionVectors, NaNThatIsSeenIsNotHidden) {
  for (const Way& way : all_ways())
    for (Feature feature : {Feature::elu1, Feature::relu, Feature::identity}) {
      Case c = worked();
      c.feature = feature;
      c.normalize = false;
      c.k[0] = kNaN;
      EXPECT_TRUE(all_nan(run<TypeParam>(c, way).o)) << way << " " << feature_name(feature);
      c = worked();
      c.feature = feature;
      c.normalize = false;
      c.q[2] = kNaN;
      EXPECT_TRUE(all_nan(row(run<TypeParam>(c, way).o, 1, 3))) << way << " " << feature_name(feature);
    }
}

TYPED_TEST(LinearAttentionVectors, FeaturesAtFarEndsNeitherOverflowNorVanish) {
  const Values x = {-1e4, -104, -88, -20, -1, -1e-3, 0, 1e-3, 1, 80, 1e4};
  const Values elu1 = {0, 0, std::exp(-88.0), std::exp(-20.0), std::exp(-1.0), std::exp(-1e-3), 1, 1.001, 2, 81, 10001};
  for (const Way& way : all_ways()) {
    const Case c{.K = 11, .q = Values(11, 0), .k = x, .v = {1}, .normalize = false};
    const auto z = run<TypeParam>(c, way).z;
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_LE(std::abs(static_cast<double>(z[i]) - elu1[i]), 4 * std::numeric_limits<TypeParam>::epsilon() * elu1[i] + 1e-37) << way << i;
  }
}

TYPED_TEST(LinearAttentionVectors, FeaturesOfNegativeNumbersAreWithinTwoUnitsInTheLastPlace) {
  Case c{.K = 4001, .q = Values(4001, 0), .v = {1}, .normalize = false};
  for (int i = 0; i <= 4000; ++i) c.k.push_back(static_cast<float>(-87.0 * i / 4000));
  for (const Way& way : all_ways()) {
    const auto z = run<TypeParam>(c, way).z;
    double largest = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double difference = std::abs(static_cast<double>(z[i]) / std::exp(c.k[i]) - 1);
      if (!std::isnan(largest) && !(difference <= largest)) largest = difference;
    }
    EXPECT_LE(largest, 2.0 * std::numeric_limits<TypeParam>::epsilon()) << way;
  }
}

TYPED_TEST(LinearAttentionVectors, TwoKeyHeadsServeFourQueryHeadsInPairs) {
  for (const Way& way : all_ways()) {
    const Case c{.H = 4, .Hk = 2, .q = {1, 2, 3, 4}, .k = {1, 10}, .v = {1, 1}, .normalize = false, .feature = Feature::identity};
    EXPECT_EQ(run<TypeParam>(c, way).o, (std::vector<TypeParam>{1, 2, 30, 40})) << way;
    EXPECT_EQ(run<TypeParam>(c, way).state, (std::vector<TypeParam>{1, 1, 10, 10})) << way;
  }
}

TYPED_TEST(LinearAttentionVectors, EmptySequencesKeepTheirStateAndNothingLeaks) {
  for (const Way& way : all_ways())
    for (bool causal : {true, false}) {
      Case c{.T = 5, .q = {1, 1, 1, 1, 1}, .k = {1, 2, 3, 4, 5}, .v = {1, 1, 1, 1, 1}, .state = {10, 20, 30, 40}, .z = {1, 2, 3, 4},
             .cu_seqlens = {0, 0, 3, 3, 5}, .causal = causal, .feature = Feature::identity};
      const auto before = run<TypeParam>(c, way);
      EXPECT_EQ(before.state, (std::vector<TypeParam>{10, 26, 30, 49})) << way;
      EXPECT_EQ(before.z, (std::vector<TypeParam>{1, 8, 3, 13})) << way;
      c.q[0] = c.k[1] = c.v[2] = c.state[1] = c.z[1] = kNaN;
      const auto after = run<TypeParam>(c, way);
      EXPECT_EQ(row(after.o, 3, 1), row(before.o, 3, 1)) << way;
      EXPECT_EQ(row(after.o, 4, 1), row(before.o, 4, 1)) << way;
      EXPECT_EQ(after.state[3], before.state[3]) << way;
    }
}

}  // namespace
}  // namespace linearmem
