// Decays kept outside the state must be put into it in time: gates of every strength, mixed, against the definition.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/support.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using test::relative_difference;
using test::tolerance;

constexpr double kForget = -std::numeric_limits<double>::infinity();

// None, weak ones that add up, ones that leave the range in a few tokens, at once, growth, and a full stop.
constexpr double kGates[] = {0, -1e-9, -0.05, -3, -17, -80, 0.4, kForget};

template <typename T>
struct Inputs {
  Inputs(std::int64_t K, std::int64_t V, std::uint64_t seed)
      : q({1, kT, kH, K}), k({1, kT, kH, K}), v({1, kT, kH, V}), state({1, kH, K, V}), beta({1, kT, kH}), g({1, kT, kH}) {
    Numbers numbers(seed);
    for (auto* rows : {&q, &k}) rows->fill(numbers, -0.3, 0.3);
    v.fill(numbers, -1, 1);
    state.fill(numbers, -1, 1);
    beta.fill(numbers, 0, 1);
    for (std::int64_t i = 0; i < g.size(); ++i) g.data()[i] = static_cast<T>(kGates[numbers.whole(0, std::size(kGates) - 1)]);
  }
  static constexpr std::int64_t kT = 131, kH = 2;
  Guarded<T, 4> q, k, v, state;
  Guarded<T, 3> beta, g;
};

template <typename T>
DeltaRuleArguments<T> delta_arguments(const Inputs<T>& x) {
  return {.q = x.q.view(), .k = x.k.view(), .v = x.v.view(), .beta = x.beta.view(), .g = x.g.view(), .state = x.state.view(), .allow_growth = true, .o = {}};
}

template <typename T>
LinearAttentionArguments<T> linear_arguments(const Inputs<T>& x) {
  return {.q = x.q.view(), .k = x.k.view(), .v = x.v.view(), .g = x.g.view(), .state = x.state.view(), .feature = Feature::identity,
          .normalize = false, .allow_growth = true, .o = {}};
}

// exp(dt A) with A = -1 is the decay of a gate -dt; dt also multiplies the write, so a full stop is left out.
template <typename T>
SsdArguments<T> ssd_arguments(Inputs<T>& x, Guarded<T, 3>& dt, Guarded<T, 1>& A) {
  for (std::int64_t i = 0; i < dt.size(); ++i) dt.data()[i] = std::isinf(x.g.data()[i]) ? T{200} : -x.g.data()[i];
  for (std::int64_t h = 0; h < A.size(); ++h) A.data()[h] = T{-1};
  return {.x = x.v.view(), .dt = dt.view(), .A = A.view(), .B = x.k.view(), .C = x.q.view(), .state = x.state.view(), .allow_growth = true, .y = {}};
}

template <typename T>
class CarriedDecay : public ::testing::Test {
 protected:
  // call(form, output, final state)
  template <typename Call>
  static void expect_reference(std::int64_t K, std::int64_t V, Call call) {
    Guarded<T, 4> exact({1, Inputs<T>::kT, 2, V}), last_exact({1, 2, K, V}), got({1, Inputs<T>::kT, 2, V}), last({1, 2, K, V});
    call(Form::reference, exact.view(), last_exact.view());
    call(Form::recurrent, got.view(), last.view());
    EXPECT_LE(relative_difference(got.view(), exact.view()), tolerance<T>()) << "K " << K << " V " << V;
    EXPECT_LE(relative_difference(last.view(), last_exact.view()), tolerance<T>()) << "K " << K << " V " << V;
    EXPECT_TRUE(got.guards_intact() && last.guards_intact());
  }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CarriedDecay, Types);

constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {{5, 1}, {8, 16}, {16, 33}, {7, 67}, {33, 64}};

TYPED_TEST(CarriedDecay, GatesOfEveryStrengthInTheGatedDeltaRule) {
  for (const auto& [K, V] : kSizes) {
    const Inputs<TypeParam> x(K, V, 51);
    this->expect_reference(K, V, [&](Form form, const View<TypeParam, 4>& o, const View<TypeParam, 4>& last) {
      auto a = delta_arguments(x);
      a.form = form, a.o = o, a.final_state = last;
      const Status status = delta_rule(a);
      ASSERT_TRUE(status.ok()) << status.message();
    });
  }
}

TYPED_TEST(CarriedDecay, GatesOfEveryStrengthInGatedLinearAttention) {
  for (const auto& [K, V] : kSizes) {
    const Inputs<TypeParam> x(K, V, 52);
    this->expect_reference(K, V, [&](Form form, const View<TypeParam, 4>& o, const View<TypeParam, 4>& last) {
      auto a = linear_arguments(x);
      a.form = form, a.o = o, a.final_state = last;
      const Status status = linear_attention(a);
      ASSERT_TRUE(status.ok()) << status.message();
    });
  }
}

TYPED_TEST(CarriedDecay, StepsOfEverySizeInSsd) {
  for (const auto& [K, V] : kSizes) {
    Inputs<TypeParam> x(K, V, 53);
    Guarded<TypeParam, 3> dt({1, Inputs<TypeParam>::kT, 2});
    Guarded<TypeParam, 1> A({2});
    this->expect_reference(K, V, [&](Form form, const View<TypeParam, 4>& o, const View<TypeParam, 4>& last) {
      auto a = ssd_arguments(x, dt, A);
      a.form = form, a.y = o, a.final_state = last;
      const Status status = ssd(a);
      ASSERT_TRUE(status.ok()) << status.message();
    });
  }
}

// What a full stop leaves of the past is nothing, however large it was.
TYPED_TEST(CarriedDecay, AFullStopForgetsEverything) {
  Inputs<TypeParam> x(16, 33, 54);
  Guarded<TypeParam, 4> o({1, Inputs<TypeParam>::kT, 2, 33}), again({1, Inputs<TypeParam>::kT, 2, 33});
  constexpr std::int64_t kStop = 57;
  for (std::int64_t h = 0; h < 2; ++h) x.g.data()[kStop * 2 + h] = static_cast<TypeParam>(kForget);
  auto a = linear_arguments(x);
  a.o = o.view();
  ASSERT_TRUE(linear_attention(a).ok());
  for (std::int64_t i = 0; i < kStop * 2 * 33; ++i) x.v.data()[i] = TypeParam{1e18};
  a.o = again.view();
  ASSERT_TRUE(linear_attention(a).ok());
  for (std::int64_t i = kStop * 2 * 33; i < o.size(); ++i) ASSERT_EQ(o.data()[i], again.data()[i]) << i;
}

}  // namespace
}  // namespace linearmem
