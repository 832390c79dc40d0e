// Softmax attention on inputs small enough to check by hand, in every form and both precisions: the worked vector, what the
// average means, and the smallest inputs that show faults known from other implementations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/support.hpp"
#include "core/ways.hpp"
#include "linearmem/softmax_attention.hpp"

namespace linearmem {
namespace {

using test::tolerance;
using test::worst;

using Values = std::vector<double>;

const double kNaN = std::numeric_limits<double>::quiet_NaN();

// One batch row; every list is row-major. Empty lists are arguments not given.
struct Case {
  std::int64_t T = 1, H = 1, Hk = 1, K = 1, V = 1;
  Values q = {}, k = {}, v = {};
  std::vector<std::uint8_t> mask = {};
  std::vector<std::int64_t> cu_seqlens = {};
  std::optional<std::int64_t> window = {};
  bool causal = true;
  std::optional<double> scale = {};
};

template <typename T>
std::vector<T> run(const Case& c, Form form) {
  auto cast = [](const Values& values) { return std::vector<T>(values.begin(), values.end()); };
  const std::vector<T> q = cast(c.q), k = cast(c.k), v = cast(c.v);
  std::vector<T> o(static_cast<std::size_t>(c.T * c.H * c.V), std::numeric_limits<T>::quiet_NaN());
  SoftmaxAttentionArguments<T> a{.q = {q.data(), {1, c.T, c.H, c.K}}, .k = {k.data(), {1, c.T, c.Hk, c.K}},
                                 .v = {v.data(), {1, c.T, c.Hk, c.V}}, .causal = c.causal, .window = c.window, .scale = c.scale,
                                 .form = form, .o = {o.data(), {1, c.T, c.H, c.V}}};
  if (!c.mask.empty()) a.key_mask = {c.mask.data(), {1, c.T}};
  if (!c.cu_seqlens.empty()) a.cu_seqlens = {c.cu_seqlens.data(), {static_cast<std::int64_t>(c.cu_seqlens.size())}};
  const Status status = softmax_attention(a);
  EXPECT_TRUE(status.ok()) << status.message();
  return o;
}

const Form kForms[] = {Form::automatic, Form::reference, Form::explicit_, Form::streaming};

Case worked() {
  return {.T = 3, .K = 2, .V = 3, .q = {.5, -1, 0, 2, -.5, .5}, .k = {1, -2, -.3, .7, .2, 0}, .v = {1, 0, 2, 3, -1, 0, -2, 4, 1}};
}

Values column(std::int64_t T, double value) { return Values(static_cast<std::size_t>(T), value); }

template <typename T>
std::vector<T> row(const std::vector<T>& values, std::int64_t at, std::int64_t width) {
  return {values.begin() + at * width, values.begin() + (at + 1) * width};
}

template <typename T>
class SoftmaxAttentionVectors : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(SoftmaxAttentionVectors, Precisions);

TYPED_TEST(SoftmaxAttentionVectors, Softmax) {
  const Values expected = {1, 0, 2, 2.957017195699859, -0.978508597849930, 0.042982804300140,
                           1.019630734708561, 0.852235578683078, 0.601087751631663};
  for (Form form : kForms) EXPECT_LE(worst(run<TypeParam>(worked(), form), expected), tolerance<TypeParam>()) << form_name(form);
}

TYPED_TEST(SoftmaxAttentionVectors, SoftmaxWithWindowTwo) {
  for (Form form : kForms) {
    Case c = worked();
    c.window = 2;
    const Values expected = {1.022515762344568, 0.977484237655432, 0.395496847531086};
    EXPECT_LE(worst(row(run<TypeParam>(c, form), 2, 3), expected), tolerance<TypeParam>()) << form_name(form);
  }
}

TYPED_TEST(SoftmaxAttentionVectors, WindowTwoSeesTheTokenBeforeAndItself) {
  // With every score 0 a query averages the one-hot values it sees.
  Case c{.T = 4, .V = 4, .q = column(4, 0), .k = column(4, 1), .v = column(16, 0), .window = 2};
  for (std::size_t t = 0; t < 4; ++t) c.v[5 * t] = 1;
  for (Form form : kForms)
    EXPECT_EQ(run<TypeParam>(c, form), (std::vector<TypeParam>{1, 0, 0, 0, .5, .5, 0, 0, 0, .5, .5, 0, 0, 0, .5, .5})) << form_name(form);
}

TYPED_TEST(SoftmaxAttentionVectors, MaskedKeyHoldsNaN) {
  for (Form form : kForms)
    for (bool causal : {true, false}) {
      Case masked = worked();
      masked.causal = causal;
      masked.mask = {1, 0, 1};
      masked.k[2] = masked.k[3] = masked.v[3] = masked.v[4] = masked.v[5] = kNaN;
      const Case absent{.T = 2, .K = 2, .V = 3, .q = {.5, -1, -.5, .5}, .k = {1, -2, .2, 0}, .v = {1, 0, 2, -2, 4, 1}, .causal = causal};
      const auto got = run<TypeParam>(masked, form), expected = run<TypeParam>(absent, form);
      EXPECT_EQ(row(got, 0, 3), row(expected, 0, 3)) << form_name(form);
      EXPECT_EQ(row(got, 2, 3), row(expected, 1, 3)) << form_name(form);
      EXPECT_TRUE(std::isfinite(got[3])) << form_name(form) << ": the masked token still asks";
    }
}

TYPED_TEST(SoftmaxAttentionVectors, FullyMaskedRowIsZero) {
  for (Form form : kForms) {
    Case c = worked();
    c.mask = {0, 1, 0};
    c.k[0] = c.v[0] = c.k[4] = c.v[6] = kNaN;
    const auto o = run<TypeParam>(c, form);
    EXPECT_EQ(o, (std::vector<TypeParam>{0, 0, 0, 3, -1, 0, 3, -1, 0})) << form_name(form);
    c.window = 1;  // now the last query sees only its own masked key
    EXPECT_EQ(row(run<TypeParam>(c, form), 2, 3), (std::vector<TypeParam>{0, 0, 0})) << form_name(form);
  }
}

TYPED_TEST(SoftmaxAttentionVectors, ConstantValuesGiveOne) {
  for (std::int64_t T : {1, 63, 64, 65, 130})
    for (Form form : kForms) {
      Case c{.T = T, .v = column(T, 1)};
      for (std::int64_t t = 0; t < T; ++t) {
        c.q.push_back(3 * std::sin(static_cast<double>(t)));
        c.k.push_back(5 * std::cos(static_cast<double>(3 * t)));
      }
      EXPECT_LE(worst(run<TypeParam>(c, form), column(T, 1)), tolerance<TypeParam>()) << form_name(form) << " T " << T;
    }
}

TYPED_TEST(SoftmaxAttentionVectors, LargeScoresPickTheBestKeyAndDoNotOverflow) {
  for (Form form : kForms)
    for (double size : {1e3, 1e15, 1e30}) {
      // The best key comes last, then first: the running sums must shrink to nothing, then later keys must add nothing.
      const Case rising{.T = 3, .q = column(3, 1), .k = {-size, 0, size}, .v = {1, 2, 3}, .causal = false, .scale = 1};
      const Case falling{.T = 3, .q = column(3, 1), .k = {size, 0, -size}, .v = {1, 2, 3}, .causal = false, .scale = 1};
      EXPECT_EQ(run<TypeParam>(rising, form), (std::vector<TypeParam>{3, 3, 3})) << form_name(form) << size;
      EXPECT_EQ(run<TypeParam>(falling, form), (std::vector<TypeParam>{1, 1, 1})) << form_name(form) << size;
    }
}

TYPED_TEST(SoftmaxAttentionVectors, ScoresThatRiseFromTileToTileKeepTheirWeights) {
  // Each key weighs e times the one before: the last 40 hold all but e^-40 of the sum.
  const std::int64_t T = 300;
  Case c{.T = T, .q = column(T, 1), .scale = 1};
  double weighted = 0, total = 0;
  for (std::int64_t t = 0; t < T; ++t) {
    c.k.push_back(static_cast<double>(t));
    c.v.push_back(static_cast<double>(t % 7));
    weighted += std::exp(static_cast<double>(t - T)) * static_cast<double>(t % 7);
    total += std::exp(static_cast<double>(t - T));
  }
  for (Form form : kForms)
    EXPECT_LE(worst(row(run<TypeParam>(c, form), T - 1, 1), {weighted / total}), tolerance<TypeParam>()) << form_name(form);
}

TYPED_TEST(SoftmaxAttentionVectors, NaNThatIsSeenIsNotHidden) {
  for (Form form : kForms)
    for (std::int64_t at : {0, 1, 63, 64, 99}) {
      Case c{.T = 100, .q = column(100, 1), .k = column(100, 1), .v = column(100, 1)};
      c.k[static_cast<std::size_t>(at)] = kNaN;
      const auto o = run<TypeParam>(c, form);
      for (std::int64_t t = 0; t < 100; ++t) EXPECT_EQ(std::isnan(o[static_cast<std::size_t>(t)]), t >= at) << form_name(form) << t;
    }
}

TYPED_TEST(SoftmaxAttentionVectors, AKeyOfScoreMinusInfinityWeighsNothing) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (Form form : kForms) {
    Case c{.T = 100, .q = column(100, 1), .k = column(100, -infinity), .v = column(100, 9)};
    c.k[80] = c.k[90] = 0;
    c.v[80] = 1;
    c.v[90] = 2;
    const auto o = run<TypeParam>(c, form);
    EXPECT_EQ(o[85], 1) << form_name(form);
    EXPECT_EQ(o[99], 1.5) << form_name(form);
  }
}

TYPED_TEST(SoftmaxAttentionVectors, TwoKeyHeadsServeFourQueryHeadsInPairs) {
  for (Form form : kForms) {
    const Case c{.H = 4, .Hk = 2, .q = {1, 2, 3, 4}, .k = {1, 1}, .v = {5, 6}};
    EXPECT_EQ(run<TypeParam>(c, form), (std::vector<TypeParam>{5, 5, 6, 6})) << form_name(form);
  }
}

TYPED_TEST(SoftmaxAttentionVectors, EmptySequencesAndNoLeak) {
  for (Form form : kForms)
    for (bool causal : {true, false}) {
      Case c{.T = 5, .q = {1, 2, 3, 4, 5}, .k = {1, 2, 3, 4, 5}, .v = {1, 2, 3, 4, 5}, .cu_seqlens = {0, 0, 3, 3, 5}, .causal = causal};
      const auto before = run<TypeParam>(c, form);
      c.q[0] = c.k[1] = c.v[2] = kNaN;
      const auto after = run<TypeParam>(c, form);
      EXPECT_TRUE(std::equal(before.begin() + 3, before.end(), after.begin() + 3)) << form_name(form);
    }
}

}  // namespace
}  // namespace linearmem
