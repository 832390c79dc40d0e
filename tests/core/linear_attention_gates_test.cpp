// Linear attention with gates: by hand, against the reference in every form and both precisions, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "core/support.hpp"
#include "core/ways.hpp"
#include "linearmem/linear_attention.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using test::relative_difference;
using test::tolerance;
using test::Way;

struct Shape {
  std::int64_t B, T, H, Hk, K, V;
};

template <typename T>
struct Problem {
  Problem(const Shape& s, std::uint64_t seed, bool by_key, bool masked)
      : q({s.B, s.T, s.H, s.K}), k({s.B, s.T, s.Hk, s.K}), v({s.B, s.T, s.Hk, s.V}), g_key({s.B, s.T, s.H, s.K}),
        state({s.B, s.H, s.K, s.V}), g({s.B, s.T, s.H}), z({s.B, s.H, s.K}), mask({s.B, s.T}, 1), o({s.B, s.T, s.H, s.V}),
        final_state({s.B, s.H, s.K, s.V}), final_z({s.B, s.H, s.K}) {
    Numbers numbers(seed);
    for (auto* tensor : {&q, &k, &v, &state}) tensor->fill(numbers, -1, 1);
    g_key.fill(numbers, -2, 0);
    g.fill(numbers, -2, 0);
    z.fill(numbers, 0, 1);
    for (std::uint8_t& seen : mask.values()) seen = numbers.whole(0, 2) > 0;
    arguments = {.q = q.view(),
                 .k = k.view(),
                 .v = v.view(),
                 .state = state.view(),
                 .z = z.view(),
                 .o = o.view(),
                 .final_state = final_state.view(),
                 .final_z = final_z.view()};
    if (by_key) arguments.g_key = g_key.view();
    if (!by_key) arguments.g = g.view();
    if (masked) arguments.key_mask = mask.view();
  }

  void run(const Way& way) {
    arguments.form = way.form;
    arguments.chunk = way.chunk;
    const Status status = linear_attention(arguments);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  Guarded<T, 4> q, k, v, g_key, state;
  Guarded<T, 3> g, z;
  Tensor<std::uint8_t, 2> mask;
  Guarded<T, 4> o, final_state;
  Guarded<T, 3> final_z;
  LinearAttentionArguments<T> arguments;
};

std::vector<Way> all_ways() { return test::ways({Form::reference, Form::recurrent, Form::explicit_}, {0, 1, 2, 3, 16}); }

template <typename T>
class LinearAttentionGates : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(LinearAttentionGates, Precisions);

TYPED_TEST(LinearAttentionGates, EveryFormAgreesWithTheReference) {
  for (const Shape& shape : {Shape{1, 1, 1, 1, 1, 1}, {2, 5, 2, 1, 3, 5}, {1, 65, 4, 2, 8, 17}, {1, 130, 1, 1, 33, 66}, {1, 0, 1, 1, 2, 3}})
    for (bool by_key : {false, true})
      for (bool masked : {false, true}) {
        const Problem<TypeParam> given(shape, 61, by_key, masked);
        Problem<double> exact(shape, 61, by_key, masked);
        convert(given.q.view(), exact.q.view());
        convert(given.k.view(), exact.k.view());
        convert(given.v.view(), exact.v.view());
        convert(given.g_key.view(), exact.g_key.view());
        convert(given.g.view(), exact.g.view());
        convert(given.state.view(), exact.state.view());
        convert(given.z.view(), exact.z.view());
        exact.run({Form::reference});
        for (const Way& way : all_ways()) {
          Problem<TypeParam> problem(shape, 61, by_key, masked);
          problem.run(way);
          EXPECT_LE(relative_difference(problem.o.view(), exact.o.view()), tolerance<TypeParam>()) << way;
          EXPECT_LE(relative_difference(problem.final_state.view(), exact.final_state.view()), tolerance<TypeParam>()) << way;
          EXPECT_LE(relative_difference(problem.final_z.view(), exact.final_z.view()), tolerance<TypeParam>()) << way;
          EXPECT_TRUE(problem.o.guards_intact() && problem.final_state.guards_intact() && problem.final_z.guards_intact()) << way;
        }
      }
}

// S = 8, z = 2, halved by the gate before the write of v = 3 under key 1: S = 7, z = 2.
TYPED_TEST(LinearAttentionGates, DecayThenWriteThenReadAndTheCountDecaysToo) {
  const TypeParam one[] = {1}, v[] = {3}, gate[] = {static_cast<TypeParam>(std::log(.5))}, S0[] = {8}, z0[] = {2};
  for (const Way& way : all_ways())
    for (bool by_key : {false, true}) {
      TypeParam o, S, z;
      LinearAttentionArguments<TypeParam> a{.q = {one, {1, 1, 1, 1}},
                                            .k = {one, {1, 1, 1, 1}},
                                            .v = {v, {1, 1, 1, 1}},
                                            .state = {S0, {1, 1, 1, 1}},
                                            .z = {z0, {1, 1, 1}},
                                            .feature = Feature::identity,
                                            .eps = 0,
                                            .form = way.form,
                                            .chunk = way.chunk,
                                            .o = {&o, {1, 1, 1, 1}},
                                            .final_state = {&S, {1, 1, 1, 1}},
                                            .final_z = {&z, {1, 1, 1}}};
      if (by_key) a.g_key = {gate, {1, 1, 1, 1}};
      if (!by_key) a.g = {gate, {1, 1, 1}};
      ASSERT_TRUE(linear_attention(a).ok());
      EXPECT_NEAR(S, 7, tolerance<TypeParam>()) << way;
      EXPECT_NEAR(z, 2, tolerance<TypeParam>()) << way;
      EXPECT_NEAR(o, 3.5, tolerance<TypeParam>()) << way;
    }
}

// A retention of gamma = 1/2, unnormalized: o_t = sum_s gamma^(t-s) (q k) v_s.
TYPED_TEST(LinearAttentionGates, RetentionWeighsByDistance) {
  const TypeParam ones[] = {1, 1, 1, 1}, v[] = {8, 4, 2, 1}, half = static_cast<TypeParam>(std::log(.5)),
                  gates[] = {half, half, half, half};
  const View<const TypeParam, 4> row(ones, {1, 4, 1, 1});
  for (const Way& way : all_ways()) {
    TypeParam o[4];
    ASSERT_TRUE(linear_attention({.q = row,
                                  .k = row,
                                  .v = {v, {1, 4, 1, 1}},
                                  .g = {gates, {1, 4, 1}},
                                  .feature = Feature::identity,
                                  .normalize = false,
                                  .form = way.form,
                                  .chunk = way.chunk,
                                  .o = View<TypeParam, 4>{o, {1, 4, 1, 1}}})
                    .ok());
    EXPECT_LE(test::worst(std::vector<TypeParam>(o, o + 4), {8, 8, 6, 4}), tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(LinearAttentionGates, ConstantValuesStayConstantUnderAnyGates) {
  for (const Way& way : all_ways()) {
    Problem<TypeParam> p({1, 40, 2, 1, 4, 3}, 62, true, false);
    for (std::int64_t i = 0; i < p.v.size(); ++i) p.v.data()[i] = 1;
    p.arguments.state = {};
    p.arguments.z = {};
    p.arguments.eps = 0;
    p.run(way);
    for (std::int64_t i = 0; i < p.o.size(); ++i) EXPECT_NEAR(p.o.data()[i], 1, tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(LinearAttentionGates, AMaskedTokenDoesNotDecayAndItsGateIsNotLookedAt) {
  const TypeParam ones[] = {1, 1}, gates[] = {std::numeric_limits<TypeParam>::quiet_NaN(), 0}, above[] = {5, 0}, S0[] = {3};
  const std::uint8_t mask[] = {0, 1};
  const View<const TypeParam, 4> row(ones, {1, 2, 1, 1});
  for (const Way& way : all_ways())
    for (const TypeParam* g : {gates, above}) {
      TypeParam o[2];
      ASSERT_TRUE(linear_attention({.q = row,
                                    .k = row,
                                    .v = row,
                                    .g = {g, {1, 2, 1}},
                                    .state = {S0, {1, 1, 1, 1}},
                                    .key_mask = {mask, {1, 2}},
                                    .feature = Feature::identity,
                                    .normalize = false,
                                    .form = way.form,
                                    .chunk = way.chunk,
                                    .o = View<TypeParam, 4>{o, {1, 2, 1, 1}}})
                      .ok());
      EXPECT_EQ(o[0], 3) << way;
      EXPECT_EQ(o[1], 4) << way;
    }
}

TYPED_TEST(LinearAttentionGates, StrongGatesLeaveNoNaN) {
  for (const Way& way : all_ways()) {
    Problem<TypeParam> p({1, 64, 1, 1, 3, 2}, 63, true, false), exact({1, 64, 1, 1, 3, 2}, 63, true, false);
    for (auto* problem : {&p, &exact})
      for (std::int64_t t = 0; t < 64; ++t) problem->g_key.view()(0, t, 0, 1) = -300;
    p.run(way);
    exact.run({Form::reference});
    EXPECT_LE(relative_difference(p.o.view(), exact.o.view()), tolerance<TypeParam>()) << way;
  }
}

TEST(LinearAttentionGatesRefusals, SayWhyNot) {
  const auto message = [](bool by_key, auto change) {
    Problem<double> p({2, 4, 4, 2, 3, 5}, 64, by_key, false);
    change(p);
    const Status status = linear_attention(p.arguments);
    EXPECT_TRUE(status.ok() || std::isnan(p.o.data()[0])) << "outputs are untouched when refused";
    return status.message();
  };
  using P = Problem<double>;
  EXPECT_EQ(message(true, [](P& p) { p.arguments.g = p.g.view(); }),
            "linear_attention: g and g_key are both given; the decay is either per head or per key component");
  EXPECT_EQ(message(true, [](P& p) { p.arguments.causal = false; }),
            "linear_attention: g_key is given, but causal is false; a decay needs an order");
  EXPECT_EQ(message(false, [](P& p) { p.arguments.causal = false; }),
            "linear_attention: g is given, but causal is false; a decay needs an order");
  EXPECT_EQ(message(false, [](P& p) { p.g.view()(1, 3, 2) = 1; }),
            "linear_attention: g is 1 at batch 1, token 3, head 2; a log decay is at most 0, unless allow_growth is set");
  EXPECT_EQ(message(false, [](P& p) { p.g.view()(1, 3, 2) = 1; p.arguments.allow_growth = true; }), "");
  Tensor<double, 3> per_key_head({2, 4, 2});
  EXPECT_EQ(message(false, [&](P& p) { p.arguments.g = per_key_head.view(); }), "linear_attention: H differs: q has 4, g has 2");
}

}  // namespace
}  // namespace linearmem
