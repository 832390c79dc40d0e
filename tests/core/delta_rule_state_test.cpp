// The delta rule's state: checkpoints in every form, formats it is rounded to, and what the stability audit says of it.
#include <gtest/gtest.h>

#include <cmath>

#include "core/support.hpp"
#include "core/ways.hpp"
#include "foundation/rounding.hpp"
#include "linearmem/delta_rule.hpp"

namespace linearmem {
namespace {

using test::Numbers;
using test::relative_difference;
using test::tokens_of;
using test::tolerance;
using test::Way;

enum class Gates { none, per_head, per_key };

// Three sequences of 5, 0 and 7 tokens packed in one row; two value heads on one key head.
template <typename T>
struct Packed {
  static constexpr std::int64_t kT = 12, kK = 3, kV = 6;

  explicit Packed(Gates gates) {
    Numbers numbers(51);
    const auto fill = [&](auto& tensor, double low, double high) {
      for (T& value : tensor.values()) value = static_cast<T>(numbers.uniform(low, high));
    };
    fill(q, -1, 1);
    fill(k, -1, 1);
    fill(v, -1, 1);
    fill(beta, 0, 1);
    fill(g, -1, 0);
    fill(g_key, -1, 0);
    fill(state, -1, 1);
    arguments = {.q = q.view(),
                 .k = k.view(),
                 .v = v.view(),
                 .beta = beta.view(),
                 .state = state.view(),
                 .cu_seqlens = {bounds.data(), {4}},
                 .l2norm = true,
                 .o = o.view(),
                 .final_state = final_state.view()};
    if (gates == Gates::per_head) arguments.g = g.view();
    if (gates == Gates::per_key) arguments.g_key = g_key.view();
  }
  Packed(const Packed&) = delete;

  // The state of sequence n after its first `length` tokens, by a call of its own.
  Tensor<T, 4> state_after(std::int64_t n, std::int64_t length) const {
    const std::int64_t begin = bounds[static_cast<std::size_t>(n)];
    DeltaRuleArguments<T> a = arguments;
    const auto part = [&](auto view) { return tokens_of(view, begin, begin + length); };
    Tensor<T, 4> out({1, length, 2, kV}), last({1, 2, kK, kV});
    a.q = part(a.q);
    a.k = part(a.k);
    a.v = part(a.v);
    a.beta = part(a.beta);
    a.g = part(a.g);
    a.g_key = part(a.g_key);
    a.cu_seqlens = {};
    a.state = View<const T, 4>(state.data() + n * 2 * kK * kV, {1, 2, kK, kV});
    a.o = out.view();
    a.final_state = last.view();
    a.checkpoint_every = 0;
    a.checkpoints = {};
    EXPECT_TRUE(delta_rule(a).ok());
    return last;
  }

  std::vector<std::int64_t> bounds = {0, 5, 5, 12};
  Tensor<T, 4> q{{1, kT, 1, kK}}, k{{1, kT, 1, kK}}, v{{1, kT, 2, kV}}, g_key{{1, kT, 2, kK}}, state{{3, 2, kK, kV}};
  Tensor<T, 3> beta{{1, kT, 2}}, g{{1, kT, 2}};
  Tensor<T, 4> o{{1, kT, 2, kV}}, final_state{{3, 2, kK, kV}};
  DeltaRuleArguments<T> arguments;
};

template <typename T>
class DeltaRuleState : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(DeltaRuleState, Precisions);

TYPED_TEST(DeltaRuleState, CheckpointsAreThePrefixStatesOfEachSequenceInTurn) {
  using P = Packed<TypeParam>;
  for (Gates gates : {Gates::none, Gates::per_head, Gates::per_key})
    for (const Way& way : test::ways({Form::reference, Form::recurrent, Form::explicit_}, {0, 2, 3})) {
      P plain(gates), kept(gates);
      plain.arguments.form = kept.arguments.form = way.form;
      plain.arguments.chunk = kept.arguments.chunk = way.chunk;
      Tensor<TypeParam, 4> checkpoints({2 + 0 + 3, 2, P::kK, P::kV}, std::numeric_limits<TypeParam>::quiet_NaN());
      kept.arguments.checkpoint_every = 2;
      kept.arguments.checkpoints = checkpoints.view();
      ASSERT_TRUE(delta_rule(plain.arguments).ok() && delta_rule(kept.arguments).ok());
      EXPECT_LE(relative_difference(kept.o.view(), plain.o.view()), tolerance<TypeParam>()) << way;
      EXPECT_LE(relative_difference(kept.final_state.view(), plain.final_state.view()), tolerance<TypeParam>()) << way;
      const std::pair<std::int64_t, std::int64_t> rows[] = {{0, 2}, {0, 4}, {2, 2}, {2, 4}, {2, 6}};  // sequence, tokens
      for (std::int64_t row = 0; row < 5; ++row) {
        const Tensor<TypeParam, 4> expected = plain.state_after(rows[row].first, rows[row].second);
        const View<TypeParam, 4> got(checkpoints.data() + row * expected.size(), expected.extents());
        EXPECT_LE(relative_difference(got, expected.view()), tolerance<TypeParam>()) << way << " row " << row;
        if (way.form == Form::recurrent && gates != Gates::per_head) {
          EXPECT_EQ(relative_difference(got, expected.view()), 0) << row;
        }
      }
      if (way.form == Form::recurrent && gates != Gates::per_head) {
        EXPECT_EQ(kept.o.values(), plain.o.values());
      }
    }
}

// One token at a time: the state is that of an unrounded call, rounded, and the output is what the query reads from it then.
TYPED_TEST(DeltaRuleState, IsRoundedAfterEachWriteAndReadRounded) {
  using P = Packed<TypeParam>;
  for (StateType type : {StateType::float32, StateType::bfloat16, StateType::float16})
    for (Gates gates : {Gates::none, Gates::per_key}) {
      const auto rounding = rounding_to<TypeParam>(type);
      if (!rounding) continue;
      P p(gates);
      const Tensor<TypeParam, 3> no_writes({1, 1, 2});
      Tensor<TypeParam, 4> before({1, 2, P::kK, P::kV}), after = before, got = before, o({1, 1, 2, P::kV}), expected_o = o;
      for (std::int64_t i = 0; i < before.size(); ++i) before.data()[i] = rounded(*rounding, p.state.data()[i]);
      for (std::int64_t t = 0; t < P::kT; ++t) {
        DeltaRuleArguments<TypeParam> a = p.arguments;
        a.q = tokens_of(a.q, t, t + 1);
        a.k = tokens_of(a.k, t, t + 1);
        a.v = tokens_of(a.v, t, t + 1);
        a.beta = tokens_of(a.beta, t, t + 1);
        a.g_key = tokens_of(a.g_key, t, t + 1);
        a.cu_seqlens = {};
        a.state = before.view();
        a.o = o.view();
        a.final_state = got.view();
        a.state_type = type;
        ASSERT_TRUE(delta_rule(a).ok());
        a.state_type = {};
        a.o = expected_o.view();
        a.final_state = after.view();
        ASSERT_TRUE(delta_rule(a).ok());
        for (TypeParam& s : after.values()) s = rounded(*rounding, s);
        a.state = after.view();
        a.beta = no_writes.view();
        a.g_key = {};
        a.final_state = {};
        ASSERT_TRUE(delta_rule(a).ok());
        ASSERT_EQ(got.values(), after.values()) << state_type_name(type) << " token " << t;
        ASSERT_EQ(o.values(), expected_o.values()) << state_type_name(type) << " token " << t;
        before = got;
      }
    }
}

// One number per state, so that no order of sums differs: the two forms with a state agree bit for bit.
TYPED_TEST(DeltaRuleState, RecurrentAndReferenceRoundAlike) {
  const TypeParam ones[] = {1, 1, 1, 1}, values[] = {257, 1, 255.5, 3}, halves[] = {.5, .5, .5, .5}, S0[] = {1000};
  for (StateType type : {StateType::bfloat16, StateType::float16}) {
    std::vector<TypeParam> outputs[2];
    for (int at = 0; at < 2; ++at) {
      outputs[at].assign(5, 0);
      const View<const TypeParam, 4> one(ones, {1, 4, 1, 1});
      ASSERT_TRUE(delta_rule({.q = one,
                              .k = one,
                              .v = {values, {1, 4, 1, 1}},
                              .beta = {halves, {1, 4, 1}},
                              .state = {S0, {1, 1, 1, 1}},
                              .scale = 1.0,
                              .form = at == 0 ? Form::reference : Form::recurrent,
                              .state_type = type,
                              .o = View<TypeParam, 4>{outputs[at].data(), {1, 4, 1, 1}},
                              .final_state = View<TypeParam, 4>{outputs[at].data() + 4, {1, 1, 1, 1}}})
                      .ok());
    }
    EXPECT_EQ(outputs[0], outputs[1]);
    // unrounded: 628.5, 314.75, ...; bfloat16 has steps of 4, 2, 2 and 1 there, float16 of 0.5, 0.25, 0.25 and 0.125
    const std::vector<TypeParam> brain = {628, 314, 284, 144, 144}, half = {628.5, 314.75, 285, 144, 144};
    EXPECT_EQ(outputs[0], type == StateType::bfloat16 ? brain : half) << state_type_name(type);
  }
}

TYPED_TEST(DeltaRuleState, IsRoundedWhenLoadedEvenWhereNoTokenComes) {
  for (Form form : {Form::recurrent, Form::reference}) {
    const TypeParam S0 = 257;
    TypeParam nothing = 0, S = 0;
    const View<const TypeParam, 4> none(&nothing, {1, 0, 1, 1});
    ASSERT_TRUE(delta_rule({.q = none, .k = none, .v = none, .beta = {&nothing, {1, 0, 1}}, .state = {&S0, {1, 1, 1, 1}}, .form = form,
                            .state_type = StateType::bfloat16, .o = View<TypeParam, 4>{&nothing, {1, 0, 1, 1}},
                            .final_state = View<TypeParam, 4>{&S, {1, 1, 1, 1}}}).ok());
    EXPECT_EQ(S, 256) << form_name(form);
  }
}

TYPED_TEST(DeltaRuleState, PastTheLargestNumberIsInfinity) {
  const TypeParam one = 1, large = 70000;
  const View<const TypeParam, 4> token(&one, {1, 1, 1, 1});
  for (Form form : {Form::recurrent, Form::reference})
    for (int sign : {1, -1}) {
      const TypeParam value = sign * large;
      TypeParam o = 0;
      ASSERT_TRUE(delta_rule({.q = token, .k = token, .v = {&value, {1, 1, 1, 1}}, .beta = {&one, {1, 1, 1}}, .scale = 1.0, .form = form,
                              .state_type = StateType::float16, .o = View<TypeParam, 4>{&o, {1, 1, 1, 1}}}).ok());
      EXPECT_EQ(o, sign * std::numeric_limits<TypeParam>::infinity()) << form_name(form);
    }
}

TEST(DeltaRuleStateRefusals, SayWhyNot) {
  const auto message = [](auto change) {
    Packed<float> p(Gates::none);
    change(p.arguments);
    return delta_rule(p.arguments).message();
  };
  using A = DeltaRuleArguments<float>;
  Tensor<float, 4> four({4, 2, 3, 6}), five({5, 2, 3, 6});
  EXPECT_EQ(message([](A& a) { a.state_type = StateType::bfloat16; a.form = Form::chunked; }),
            "delta_rule: state_type is bf16, but form chunked has no state after each token; reference and recurrent have");
  EXPECT_EQ(message([](A& a) { a.state_type = StateType::float16; a.form = Form::explicit_; }),
            "delta_rule: state_type is f16, but form explicit has no state after each token; reference and recurrent have");
  EXPECT_EQ(message([](A& a) { a.state_type = StateType::float64; }),
            "delta_rule: state_type is f64, wider than f32, in which this call computes");
  EXPECT_EQ(message([](A& a) { a.state_type = StateType::float64; a.form = Form::reference; }), "");
  EXPECT_EQ(message([](A& a) { a.checkpoint_every = 2; }), "delta_rule: checkpoint_every is 2, but there are no checkpoints to write to");
  EXPECT_EQ(message([&](A& a) { a.checkpoints = five.view(); }), "delta_rule: checkpoints are given, but checkpoint_every is 0");
  EXPECT_EQ(message([&](A& a) { a.checkpoints = five.view(); a.checkpoint_every = -1; }),
            "delta_rule: checkpoint_every is -1, must be at least 1 token, or 0 for none");
  EXPECT_EQ(message([&](A& a) {
              a.checkpoints = four.view();
              a.checkpoint_every = 2;
            }),
            "delta_rule: M differs: checkpoint_every has 5, checkpoints has 4");
}

// The audit.

struct Sick {
  std::vector<double> q, k, v, beta, g;
  Sick(std::int64_t T, double key, double strength) : q(T, 1), k(T, key), v(T, 1), beta(T, strength), g(T, 0) {}
  DeltaRuleArguments<double> arguments() const {
    const auto T = static_cast<std::int64_t>(k.size());
    const Extents<4> row = {1, T, 1, 1};
    return {.q = {q.data(), row},
            .k = {k.data(), row},
            .v = {v.data(), row},
            .beta = {beta.data(), {1, T, 1}},
            .g = {g.data(), {1, T, 1}},
            .o = {}};
  }
};

TEST(DeltaRuleAudit, UnnormalizedKeysAreFoundAtEveryToken) {
  const Sick twenty(20, 2, 1);
  const auto report = audit_delta_rule(twenty.arguments(), 3);
  ASSERT_TRUE(report.ok()) << report.status().message();
  const StabilityReport& r = report.value();
  EXPECT_EQ(r.unstable_writes.total, 20);
  ASSERT_EQ(r.unstable_writes.listed.size(), 3u);
  EXPECT_EQ(r.unstable_writes.listed[2].token, 2);
  EXPECT_EQ(r.unstable_writes.listed[2].number, 4);
  EXPECT_EQ(r.growing_gates.total, 0);
  // S_t = 2 - 3 S_{t-1}: |S| goes 2, 4, 14, 40, ...; what is brought is 2, so all but the first two grow
  EXPECT_EQ(r.growing_states.total, 18);
  EXPECT_EQ(r.growing_states.listed[0].token, 2);
  EXPECT_EQ(r.growing_states.listed[0].number, 14);
}

TEST(DeltaRuleAudit, GatesAboveZeroAndNegativeStrengthsAreFound) {
  Sick three(3, 1, 1);
  three.g[1] = .25;
  three.beta[2] = -.5;
  const StabilityReport r = audit_delta_rule(three.arguments(), 10).value();
  EXPECT_EQ(r.growing_gates.total, 1);
  EXPECT_EQ(r.growing_gates.listed[0].token, 1);
  EXPECT_EQ(r.growing_gates.listed[0].number, .25);
  EXPECT_EQ(r.unstable_writes.total, 1);
  EXPECT_EQ(r.unstable_writes.listed[0].token, 2);
  EXPECT_EQ(r.unstable_writes.listed[0].number, -.5);
}

TEST(DeltaRuleAudit, StableStepsAreClean) {
  for (Gates gates : {Gates::none, Gates::per_head, Gates::per_key}) {
    Packed<float> p(gates);
    for (float& beta : p.beta.values()) beta *= 2;
    const StabilityReport r = audit_delta_rule(p.arguments, 10).value();
    EXPECT_EQ(r.unstable_writes.total + r.growing_gates.total + r.growing_states.total, 0);
  }
}

// At 2 a key's reading swings to the other side of v, as far as it was: it is not thrown further out.
TEST(DeltaRuleAudit, AStrengthOfExactlyTwoOrZeroIsStable) {
  for (double strength : {2.0, 0.0}) {
    const Sick reflecting(4, 1, strength);
    const StabilityReport r = audit_delta_rule(reflecting.arguments(), 10).value();
    EXPECT_EQ(r.unstable_writes.total, 0) << strength;
    EXPECT_EQ(r.growing_states.total, 0) << strength;
  }
}

TEST(DeltaRuleAudit, PlacesAreThoseOfTheArgumentsAxes) {
  Packed<double> p(Gates::per_key);
  p.g_key(0, 7, 1, 2) = .125;
  p.g_key(0, 7, 1, 0) = .0625;
  p.beta(0, 3, 1) = 2.5;
  const StabilityReport r = audit_delta_rule(p.arguments, 10).value();
  ASSERT_EQ(r.growing_gates.total, 1);
  EXPECT_EQ(r.growing_gates.listed[0].batch, 0);
  EXPECT_EQ(r.growing_gates.listed[0].token, 7);
  EXPECT_EQ(r.growing_gates.listed[0].head, 1);
  EXPECT_EQ(r.growing_gates.listed[0].number, .125);
  ASSERT_EQ(r.unstable_writes.total, 1);
  EXPECT_EQ(r.unstable_writes.listed[0].token, 3);
  EXPECT_NEAR(r.unstable_writes.listed[0].number, 2.5, 1e-4);  // the key's norm is 1 up to the epsilon in it
  for (double o : p.o.values()) EXPECT_EQ(o, 0) << "an audit writes no output";
}

TEST(DeltaRuleAudit, RefusesWhatTheDoorRefusesOfInputs) {
  Packed<float> p(Gates::none);
  EXPECT_EQ(audit_delta_rule(p.arguments, -1).status().message(), "delta_rule: limit is -1, must be at least 0");
  p.arguments.beta = {};
  EXPECT_EQ(audit_delta_rule(p.arguments, 1).status().message(), "delta_rule: beta is missing; it is [B,T,Hv]");
}

}  // namespace
}  // namespace linearmem
