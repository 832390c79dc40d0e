// Adaptive computation time: worked weights, agreement of the forms, what is not looked at, invariance, refusals.
#include "linearmem/depth_recurrence.hpp"

#include <gtest/gtest.h>

#include "core/support.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using test::relative_difference;
using test::tolerance;
using test::Turned;

struct HaltingShape {
  std::int64_t B, T, R, D;
};

template <typename T>
struct HaltingProblem {
  HaltingProblem(const HaltingShape& s, std::uint64_t seed, double most = 0.6)
      : p({s.B, s.T, s.R}), x({s.R, s.B, s.T, s.D}), mask({s.B, s.T}, 1), o({s.B, s.T, s.D}), weights({s.B, s.T, s.R}), remainder({s.B, s.T}),
        n({s.B, s.T}, -1) {
    Numbers numbers(seed);
    p.fill(numbers, 0, most);
    x.fill(numbers, -1, 1);
    arguments = {.p = p.view(), .x = x.view(), .o = o.view(), .weights = weights.view(), .remainder = remainder.view(), .n = n.view()};
  }
  bool guards_intact() const { return o.guards_intact() && weights.guards_intact() && remainder.guards_intact(); }
  bool same_bits(const HaltingProblem& other) const {
    return o.same_bits(other.o) && weights.same_bits(other.weights) && remainder.same_bits(other.remainder) && n.values() == other.n.values();
  }
  // NaN wherever a token has stopped or takes no part.
  void spoil_what_is_not_looked_at() {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    each_index<4>(x.view().extents(), [&](const Extents<4>& at) {
      if (at[0] < n(at[1], at[2])) return;
      x.view()[at] = nan;
      p.view()(at[1], at[2], at[0]) = nan;
    });
  }

  Guarded<T, 3> p;
  Guarded<T, 4> x;
  Tensor<std::uint8_t, 2> mask;
  Guarded<T, 3> o, weights;
  Guarded<T, 2> remainder;
  Tensor<std::int64_t, 2> n;
  AdaptiveComputationTimeArguments<T> arguments;
};

const Form kHaltingForms[] = {Form::automatic, Form::reference, Form::recurrent};

template <typename T>
class AdaptiveComputationTime : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(AdaptiveComputationTime, Precisions);

// One token with states 1, 10, 100, ... of width 1.
template <typename T>
HaltingProblem<T> one_token(const std::vector<double>& p, Halting halting, Form form) {
  const auto R = static_cast<std::int64_t>(p.size());
  HaltingProblem<T> problem({1, 1, R, 1}, 1);
  for (std::int64_t r = 0; r < R; ++r) {
    problem.p.data()[r] = static_cast<T>(p[r]);
    problem.x.data()[r] = static_cast<T>(std::pow(10.0, r));
  }
  problem.arguments.halting = halting;
  problem.arguments.form = form;
  const Status status = adaptive_computation_time(problem.arguments);
  EXPECT_TRUE(status.ok()) << status.message();
  return problem;
}

template <typename T>
void expect_weights(const HaltingProblem<T>& problem, std::int64_t n, double remainder, const std::vector<double>& weights) {
  EXPECT_EQ(problem.n.values()[0], n);
  EXPECT_NEAR(problem.remainder.view()(0, 0), remainder, tolerance<T>());
  double mixed = 0;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    EXPECT_NEAR(problem.weights.view()(0, 0, r), weights[r], tolerance<T>()) << r;
    mixed += weights[r] * std::pow(10.0, r);
  }
  EXPECT_LE(std::abs(problem.o.view()(0, 0, 0) - mixed) / std::max(1.0, mixed), tolerance<T>());
}

TYPED_TEST(AdaptiveComputationTime, TheWorkedWeightsOfBothConventions) {
  const std::vector<double> small(10, 0.05);
  std::vector<double> with_rest = small;
  with_rest[9] = 0.55;
  for (Form form : kHaltingForms) {
    for (Halting halting : {Halting::graves, Halting::cap_without_remainder}) {
      expect_weights(one_token<TypeParam>({.1, .2, .9}, halting, form), 3, .7, {.1, .2, .7});
      expect_weights(one_token<TypeParam>({.6, .6}, halting, form), 2, .4, {.6, .4});          // mixes 1 and 10 to 4.6
      expect_weights(one_token<TypeParam>({.6, .6, .6}, halting, form), 2, .4, {.6, .4, 0});   // a token that stopped adds nothing
      expect_weights(one_token<TypeParam>({1, .3}, halting, form), 1, 1, {1, 0});
      expect_weights(one_token<TypeParam>({.25, .745}, halting, form), 2, .75, {.25, .75});    // 0.995 reaches 1 - eps
    }
    expect_weights(one_token<TypeParam>(small, Halting::graves, form), 10, .55, with_rest);
    expect_weights(one_token<TypeParam>(small, Halting::cap_without_remainder, form), 10, 0, small);
  }
}

TYPED_TEST(AdaptiveComputationTime, TheHaltingFormsAgreeOnTwoThousandShapes) {
  Numbers numbers(21);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const HaltingShape shape{numbers.whole(0, 3), numbers.whole(0, 5), numbers.whole(1, 6), numbers.whole(0, 4)};
    HaltingProblem<TypeParam> problem(shape, seed), again(shape, seed);
    HaltingProblem<double> exact(shape, 0);
    convert(problem.p.view(), exact.p.view());
    convert(problem.x.view(), exact.x.view());
    const auto halting = seed % 2 ? Halting::graves : Halting::cap_without_remainder;
    problem.arguments.halting = again.arguments.halting = exact.arguments.halting = halting;
    exact.arguments.form = again.arguments.form = Form::reference;
    ASSERT_TRUE(adaptive_computation_time(problem.arguments).ok() && adaptive_computation_time(again.arguments).ok() &&
                adaptive_computation_time(exact.arguments).ok());
    for (const auto* got : {&problem, &again}) {
      ASSERT_EQ(got->n.values(), exact.n.values()) << seed;
      ASSERT_LE(relative_difference(got->o.view(), exact.o.view()), tolerance<TypeParam>()) << seed;
      ASSERT_LE(relative_difference(got->weights.view(), exact.weights.view()), tolerance<TypeParam>()) << seed;
      ASSERT_LE(relative_difference(got->remainder.view(), exact.remainder.view()), tolerance<TypeParam>()) << seed;
      ASSERT_TRUE(got->guards_intact()) << seed;
    }
  }
}

TYPED_TEST(AdaptiveComputationTime, WeightsSumToOneOrAtACapWithoutRemainderToLess) {
  const HaltingShape shape{4, 33, 4, 3};
  for (Halting halting : {Halting::graves, Halting::cap_without_remainder}) {
    HaltingProblem<TypeParam> problem(shape, 22);
    problem.arguments.halting = halting;
    ASSERT_TRUE(adaptive_computation_time(problem.arguments).ok());
    int whole = 0, short_of_one = 0;
    each_index<2>(problem.n.extents(), [&](const Extents<2>& at) {
      double weights = 0, spent = 0;
      for (std::int64_t r = 0; r < 4; ++r) weights += problem.weights.view()(at[0], at[1], r);
      for (std::int64_t r = 0; r < problem.n.view()[at]; ++r) spent += static_cast<double>(problem.p.view()(at[0], at[1], r));
      const bool capped = spent < 0.99;
      (capped && halting == Halting::cap_without_remainder ? short_of_one : whole)++;
      EXPECT_NEAR(weights, capped && halting == Halting::cap_without_remainder ? spent : 1, 1e-6);
      EXPECT_EQ(problem.remainder.view()[at] > 0, !(capped && halting == Halting::cap_without_remainder));
    });
    EXPECT_GT(whole, 10);
    EXPECT_EQ(short_of_one > 10, halting == Halting::cap_without_remainder);
  }
}

TYPED_TEST(AdaptiveComputationTime, WhatIsNotLookedAtMayBeNaN) {
  const HaltingShape shape{2, 9, 5, 3};
  for (Form form : kHaltingForms) {
    HaltingProblem<TypeParam> clean(shape, 23), spoiled(shape, 23);
    clean.arguments.form = spoiled.arguments.form = form;
    clean.mask(0, 4) = spoiled.mask(0, 4) = 0;
    clean.arguments.mask = clean.mask.view();
    spoiled.arguments.mask = spoiled.mask.view();
    ASSERT_TRUE(adaptive_computation_time(clean.arguments).ok());
    spoiled.n = clean.n;
    spoiled.spoil_what_is_not_looked_at();
    const Status status = adaptive_computation_time(spoiled.arguments);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(spoiled.same_bits(clean)) << form_name(form);
    EXPECT_EQ(clean.n(0, 4), 0);
    for (std::int64_t d = 0; d < 3; ++d) EXPECT_EQ(clean.o.view()(0, 4, d), 0);
  }
}

TYPED_TEST(AdaptiveComputationTime, ATokenAloneGivesTheBitsItGivesInABatchAndStridesAreHonoured) {
  const HaltingShape shape{3, 4, 5, 2};
  for (Form form : kHaltingForms) {
    HaltingProblem<TypeParam> batch(shape, 24);
    batch.arguments.form = form;
    ASSERT_TRUE(adaptive_computation_time(batch.arguments).ok());
    Turned<TypeParam, 3> p(batch.arguments.p), o(batch.o.view().extents()), weights(batch.weights.view().extents());
    Turned<TypeParam, 4> x(batch.arguments.x);
    ASSERT_TRUE(adaptive_computation_time(AdaptiveComputationTimeArguments<TypeParam>{
        .p = p.view(), .x = x.view(), .form = form, .o = o.view(), .weights = weights.view()}).ok());
    each_index<3>(batch.o.view().extents(), [&](const Extents<3>& at) { EXPECT_EQ(o.view()[at], batch.o.view()[at]); });
    each_index<3>(batch.weights.view().extents(), [&](const Extents<3>& at) { EXPECT_EQ(weights.view()[at], batch.weights.view()[at]); });
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t t = 0; t < 4; ++t) {
        Tensor<TypeParam, 3> alone({1, 1, 2});
        const auto& a = batch.arguments;
        ASSERT_TRUE(adaptive_computation_time(AdaptiveComputationTimeArguments<TypeParam>{
            .p = {&a.p(b, t, 0), {1, 1, 5}}, .x = {&a.x(0, b, t, 0), {5, 1, 1, 2}, a.x.strides()}, .form = form, .o = alone.view()}).ok());
        for (std::int64_t d = 0; d < 2; ++d) EXPECT_EQ(alone(0, 0, d), batch.o.view()(b, t, d));
      }
  }
}

TEST(AdaptiveComputationTimeHalting, ManySmallStepsStopInTheSameRoundInBothPrecisions) {
  // 2^-20 a million times: a sum kept in float32 would stop growing, one in float64 reaches 1 - eps exactly at 0.75 * 2^20.
  const std::int64_t R = 1 << 20;
  Tensor<float, 3> p({1, 1, R}, 0x1p-20F), o({1, 1, 1});
  Tensor<float, 4> x({R, 1, 1, 1}, 1.0F);
  Tensor<std::int64_t, 2> n({1, 1});
  ASSERT_TRUE(adaptive_computation_time(AdaptiveComputationTimeArguments<float>{.p = p.view(), .x = x.view(), .eps = 0.25, .o = o.view(), .n = n.view()}).ok());
  EXPECT_EQ(n(0, 0), 3 << 18);
}

TEST(AdaptiveComputationTimeHalting, RefusalsNameTheArgumentAndBothNumbers) {
  Tensor<double, 4> other({3, 2, 4, 2});
  auto message = [&](auto change, std::int64_t R = 5) {
    HaltingProblem<double> problem({2, 4, R, 2}, 25);
    change(problem);
    const Status status = adaptive_computation_time(problem.arguments);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(std::isnan(problem.o.data()[0])) << "outputs are untouched when refused";
    return status.message();
  };
  using P = HaltingProblem<double>;
  EXPECT_EQ(message([&](P& p) { p.arguments.x = other.view(); }), "adaptive_computation_time: R differs: p has 5, x has 3");
  EXPECT_EQ(message([&](P& p) { p.arguments.o = {}; }), "adaptive_computation_time: o is missing; it is [B,T,D]");
  EXPECT_EQ(message([&](P&) {}, 0), "adaptive_computation_time: R is 0; a token takes at least one round");
  for (double eps : {-0.5, 1.0, std::nan("")})
    EXPECT_NE(message([&](P& p) { p.arguments.eps = eps; }).find(", must be at least 0 and below 1"), std::string::npos);
  EXPECT_EQ(message([&](P& p) { p.p.view()(1, 2, 0) = 1.5; }),
            "adaptive_computation_time: p is 1.5 at batch 1, token 2, round 0; a halting probability is from 0 to 1");
  for (double bad : {-0.25, std::nan("")})
    EXPECT_NE(message([&](P& p) { p.p.view()(0, 3, 1) = bad; }).find("at batch 0, token 3, round 1"), std::string::npos);
  EXPECT_EQ(message([&](P& p) { p.arguments.form = Form::chunked; }), "adaptive_computation_time: form chunked is not one of reference, recurrent");
}

}  // namespace
}  // namespace linearmem
