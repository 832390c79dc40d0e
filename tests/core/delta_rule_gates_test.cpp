// The gated delta rule with a gate per key component, writes stronger than 1, gates above 0: by hand, in every form and both precisions.
#include <gtest/gtest.h>

#include <cmath>

#include "core/support.hpp"
#include "core/ways.hpp"
#include "linearmem/delta_rule.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using test::relative_difference;
using test::tolerance;
using test::Way;

template <typename T>
struct Problem {
  Problem(const Extents<4>& keys, std::int64_t V, std::uint64_t seed)
      : q(keys), k(keys), v({keys[0], keys[1], keys[2], V}), g_key(keys), state({keys[0], keys[2], keys[3], V}),
        beta({keys[0], keys[1], keys[2]}), o({keys[0], keys[1], keys[2], V}), reads({keys[0], keys[1], keys[2], V}),
        final_state({keys[0], keys[2], keys[3], V}) {
    Numbers numbers(seed);
    for (auto* tensor : {&q, &k, &v, &state}) tensor->fill(numbers, -1, 1);
    g_key.fill(numbers, -2, 0);
    beta.fill(numbers, 0, 2);
    arguments = {.q = q.view(),
                 .k = k.view(),
                 .v = v.view(),
                 .beta = beta.view(),
                 .g_key = g_key.view(),
                 .state = state.view(),
                 .l2norm = true,
                 .o = o.view(),
                 .reads = reads.view(),
                 .final_state = final_state.view()};
  }

  void run(const Way& way) {
    arguments.form = way.form;
    arguments.chunk = way.chunk;
    const Status status = delta_rule(arguments);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  Guarded<T, 4> q, k, v, g_key, state;
  Guarded<T, 3> beta;
  Guarded<T, 4> o, reads, final_state;
  DeltaRuleArguments<T> arguments;
};

std::vector<Way> all_ways() { return test::ways({Form::reference, Form::recurrent, Form::explicit_}, {0, 1, 2, 3, 16, 64}); }

template <typename T>
class DeltaRuleGates : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(DeltaRuleGates, Precisions);

template <typename T>
void expect_agrees(const Problem<T>& problem, const Problem<double>& exact, const Way& way) {
  EXPECT_LE(relative_difference(problem.o.view(), exact.o.view()), tolerance<T>()) << way;
  EXPECT_LE(relative_difference(problem.reads.view(), exact.reads.view()), tolerance<T>()) << way;
  EXPECT_LE(relative_difference(problem.final_state.view(), exact.final_state.view()), tolerance<T>()) << way;
  EXPECT_TRUE(problem.o.guards_intact() && problem.reads.guards_intact() && problem.final_state.guards_intact()) << way;
}

TYPED_TEST(DeltaRuleGates, EveryFormAgreesWithTheReference) {
  for (const auto& [keys, V] : {std::pair<Extents<4>, std::int64_t>{{1, 1, 1, 1}, 1},
                                {{2, 5, 2, 3}, 5},
                                {{1, 65, 2, 8}, 17},
                                {{1, 130, 1, 33}, 66},
                                {{1, 0, 1, 2}, 3}}) {
    const Problem<TypeParam> given(keys, V, 41);
    Problem<double> exact(keys, V, 0);
    convert(given.q.view(), exact.q.view());
    convert(given.k.view(), exact.k.view());
    convert(given.v.view(), exact.v.view());
    convert(given.g_key.view(), exact.g_key.view());
    convert(given.state.view(), exact.state.view());
    convert(given.beta.view(), exact.beta.view());
    exact.run({Form::reference});
    for (const Way& way : all_ways()) {
      Problem<TypeParam> problem(keys, V, 41);
      problem.run(way);
      expect_agrees(problem, exact, way);
    }
  }
}

TYPED_TEST(DeltaRuleGates, EachKeyComponentFadesByItsOwnGate) {
  const TypeParam q[] = {1, 1}, k[] = {0, 0}, v[] = {0}, beta[] = {1}, gates[] = {static_cast<TypeParam>(std::log(.5)), -400},
                  S0[] = {8, 3};
  for (const Way& way : all_ways()) {
    TypeParam o[1], S[2];
    ASSERT_TRUE(delta_rule({.q = {q, {1, 1, 1, 2}},
                            .k = {k, {1, 1, 1, 2}},
                            .v = {v, {1, 1, 1, 1}},
                            .beta = {beta, {1, 1, 1}},
                            .g_key = {gates, {1, 1, 1, 2}},
                            .state = {S0, {1, 1, 2, 1}},
                            .scale = 1.0,
                            .form = way.form,
                            .chunk = way.chunk,
                            .o = View<TypeParam, 4>{o, {1, 1, 1, 1}},
                            .final_state = View<TypeParam, 4>{S, {1, 1, 2, 1}}})
                    .ok());
    EXPECT_NEAR(o[0], 4, tolerance<TypeParam>()) << way;
    EXPECT_NEAR(S[0], 4, tolerance<TypeParam>()) << way;
    EXPECT_EQ(S[1], static_cast<TypeParam>(3 * std::exp(-400.0))) << way;
  }
}

// The worked vector of the gated delta rule, its gates spread over the key components.
TYPED_TEST(DeltaRuleGates, EqualGatesAreTheGatePerHead) {
  for (const Way& way : all_ways()) {
    Problem<TypeParam> by_key({2, 40, 2, 5}, 7, 42), by_head({2, 40, 2, 5}, 7, 42);
    Tensor<TypeParam, 3> g({2, 40, 2});
    each_index<3>(g.extents(), [&](const Extents<3>& at) {
      g.view()[at] = by_key.g_key.view()(at[0], at[1], at[2], 0);
      for (std::int64_t i = 0; i < 5; ++i) by_key.g_key.view()(at[0], at[1], at[2], i) = g.view()[at];
    });
    by_head.arguments.g_key = {};
    by_head.arguments.g = g.view();
    by_key.run(way);
    by_head.run(way);
    EXPECT_LE(relative_difference(by_key.o.view(), by_head.o.view()), tolerance<TypeParam>()) << way;
    EXPECT_LE(relative_difference(by_key.final_state.view(), by_head.final_state.view()), tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(DeltaRuleGates, StrongGatesLeaveNoNaN) {
  for (const Way& way : all_ways()) {
    Problem<TypeParam> problem({1, 64, 1, 3}, 2, 43);
    for (std::int64_t t = 0; t < 64; ++t) problem.g_key.view()(0, t, 0, 1) = -300;
    problem.run(way);
    Problem<double> exact({1, 64, 1, 3}, 2, 43);
    for (std::int64_t t = 0; t < 64; ++t) exact.g_key.view()(0, t, 0, 1) = -300;
    exact.run({Form::reference});
    EXPECT_LE(relative_difference(problem.o.view(), exact.o.view()), tolerance<TypeParam>()) << way;
  }
}

// At strength 2 a unit key's reading goes as far past the value as it was before it: the write is a reflection (eigenvalue -1).
TYPED_TEST(DeltaRuleGates, StrengthTwoReflectsAndASecondWriteReturns) {
  const TypeParam unit[] = {static_cast<TypeParam>(.6), static_cast<TypeParam>(.8), static_cast<TypeParam>(.6), static_cast<TypeParam>(.8)},
                  v[] = {1, 1};
  const TypeParam beta[] = {2, 2}, S0[] = {3, -1};
  const double read = .6 * 3 - .8;
  for (const Way& way : all_ways()) {
    TypeParam o[2], S[2];
    ASSERT_TRUE(delta_rule({.q = {unit, {1, 2, 1, 2}},
                            .k = {unit, {1, 2, 1, 2}},
                            .v = {v, {1, 2, 1, 1}},
                            .beta = {beta, {1, 2, 1}},
                            .state = {S0, {1, 1, 2, 1}},
                            .scale = 1.0,
                            .form = way.form,
                            .chunk = way.chunk,
                            .o = View<TypeParam, 4>{o, {1, 2, 1, 1}},
                            .final_state = View<TypeParam, 4>{S, {1, 1, 2, 1}}})
                    .ok());
    EXPECT_NEAR(o[0], 2 - read, tolerance<TypeParam>()) << way;
    EXPECT_NEAR(o[1], read, tolerance<TypeParam>()) << way;
    EXPECT_NEAR(S[0], 3, tolerance<TypeParam>()) << way;
    EXPECT_NEAR(S[1], -1, tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(DeltaRuleGates, GatesAboveZeroGrowWhereTheyAreAllowed) {
  for (const Way& way : all_ways()) {
    Problem<TypeParam> problem({1, 3, 1, 2}, 1, 44);
    for (std::int64_t t = 0; t < 3; ++t) {
      problem.beta.view()(0, t, 0) = 0;
      problem.g_key.view()(0, t, 0, 0) = static_cast<TypeParam>(std::log(2.0));
      problem.g_key.view()(0, t, 0, 1) = 0;
    }
    problem.state.view()(0, 0, 0, 0) = 1;
    problem.arguments.allow_growth = true;
    problem.run(way);
    EXPECT_NEAR(problem.final_state.view()(0, 0, 0, 0), 8, 8 * tolerance<TypeParam>()) << way;
    EXPECT_EQ(problem.final_state.view()(0, 0, 1, 0), problem.state.view()(0, 0, 1, 0)) << way;
  }
}

TEST(DeltaRuleGatesRefusals, NameTheGateAndWhereItIs) {
  const auto message = [](auto change) {
    Problem<double> p({2, 4, 2, 3}, 5, 45);
    change(p);
    const Status status = delta_rule(p.arguments);
    EXPECT_TRUE(std::isnan(p.o.data()[0])) << "outputs are untouched when refused";
    return status.message();
  };
  using P = Problem<double>;
  Tensor<double, 3> g({2, 4, 2});
  Tensor<double, 4> narrow({2, 4, 2, 2});
  EXPECT_EQ(message([&](P& p) { p.arguments.g = g.view(); }),
            "gated_delta_rule: g and g_key are both given; the decay is either per head or per key component");
  EXPECT_EQ(message([&](P& p) { p.arguments.g_key = narrow.view(); }), "gated_delta_rule: K differs: q has 3, g_key has 2");
  EXPECT_EQ(message([&](P& p) { p.g_key.view()(1, 2, 0, 1) = .5; }),
            "gated_delta_rule: g_key is 0.5 at batch 1, token 2, head 0, key component 1; a log decay is at most 0, unless "
            "allow_growth is set");
}

}  // namespace
}  // namespace linearmem
