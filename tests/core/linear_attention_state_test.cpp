// The state of linear attention: drift in narrow formats, and checkpoints in every form.
#include <gtest/gtest.h>

#include <cmath>

#include "core/support.hpp"
#include "core/ways.hpp"
#include "linearmem/linear_attention.hpp"

namespace linearmem {
namespace {

using test::relative_difference;
using test::tokens_of;
using test::tolerance;
using test::Way;

template <typename T>
class LinearAttentionState : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(LinearAttentionState, Precisions);

struct Sum {
  double S, z, last_output;
};

// `count` times `value`, added up in a state of the given format; z counts ones beside it.
template <typename T>
Sum added_up(std::int64_t count, double value, StateType type, Form form) {
  const std::vector<T> ones(static_cast<std::size_t>(count), 1), values(static_cast<std::size_t>(count), static_cast<T>(value));
  std::vector<T> o(static_cast<std::size_t>(count));
  T S = 0, z = 0;
  const Extents<4> row = {1, count, 1, 1};
  const Status status = linear_attention({.q = {ones.data(), row},
                                          .k = {ones.data(), row},
                                          .v = {values.data(), row},
                                          .feature = Feature::identity,
                                          .normalize = false,
                                          .form = form,
                                          .state_type = type,
                                          .o = View<T, 4>{o.data(), row},
                                          .final_state = View<T, 4>{&S, {1, 1, 1, 1}},
                                          .final_z = View<T, 3>{&z, {1, 1, 1}}});
  EXPECT_TRUE(status.ok()) << status.message();
  return {static_cast<double>(S), static_cast<double>(z), static_cast<double>(o.back())};
}

TYPED_TEST(LinearAttentionState, InBfloat16AddingOneStopsAt256AndAThousandthAtAHalf) {
  for (Form form : {Form::automatic, Form::recurrent, Form::reference}) {
    const Sum ones = added_up<TypeParam>(4096, 1, StateType::bfloat16, form);
    EXPECT_EQ(ones.S, 256) << form_name(form);
    EXPECT_EQ(ones.z, 256) << form_name(form);
    EXPECT_EQ(ones.last_output, 256) << form_name(form);
    EXPECT_EQ(added_up<TypeParam>(1000, .001, StateType::bfloat16, form).S, .5) << form_name(form);
  }
}

TYPED_TEST(LinearAttentionState, InFloat16AddingOneStopsAt2048) {
  EXPECT_EQ(added_up<TypeParam>(4096, 1, StateType::float16, Form::recurrent).S, 2048);
  EXPECT_EQ(added_up<TypeParam>(4096, 1, StateType::float16, Form::reference).S, 2048);
}

TYPED_TEST(LinearAttentionState, InFloat32BothSumsAreRight) {
  for (Form form : {Form::recurrent, Form::reference}) {
    EXPECT_EQ(added_up<TypeParam>(4096, 1, StateType::float32, form).S, 4096) << form_name(form);
    EXPECT_NEAR(added_up<TypeParam>(1000, .001, StateType::float32, form).S, 1, 1e-5) << form_name(form);
  }
}

TEST(LinearAttentionDrift, ErrorGrowsAsTheFormatNarrows) {
  const auto error = [](StateType type) { return std::abs(added_up<double>(1000, .001, type, Form::recurrent).S - 1); };
  EXPECT_LT(error(StateType::float64), 1e-13);
  EXPECT_LT(error(StateType::float64), error(StateType::float32));
  EXPECT_LT(error(StateType::float32), error(StateType::float16));
  EXPECT_LT(error(StateType::float16), error(StateType::bfloat16));
}

// A non-causal call rounds as it writes, and reads what is left.
TYPED_TEST(LinearAttentionState, IsRoundedWithoutCausalToo) {
  for (Form form : {Form::recurrent, Form::reference}) {
    const std::vector<TypeParam> ones(300, 1);
    std::vector<TypeParam> o(300);
    const Extents<4> row = {1, 300, 1, 1};
    const View<const TypeParam, 4> one(ones.data(), row);
    ASSERT_TRUE(linear_attention({.q = one,
                                  .k = one,
                                  .v = one,
                                  .feature = Feature::identity,
                                  .normalize = false,
                                  .causal = false,
                                  .form = form,
                                  .state_type = StateType::bfloat16,
                                  .o = View<TypeParam, 4>{o.data(), row}})
                    .ok());
    EXPECT_EQ(o, std::vector<TypeParam>(300, 256)) << form_name(form);
  }
}

TYPED_TEST(LinearAttentionState, PastTheLargestNumberIsInfinity) {
  for (Form form : {Form::recurrent, Form::reference}) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(added_up<TypeParam>(2, 32768, StateType::float16, form).S, infinity) << form_name(form);
    EXPECT_EQ(added_up<TypeParam>(2, -32768, StateType::float16, form).S, -infinity) << form_name(form);
    EXPECT_EQ(added_up<TypeParam>(2, 32752, StateType::float16, form).S, 65504) << form_name(form);
  }
}

// The one token is masked: nothing is written, and what is read is the state as it was loaded.
TYPED_TEST(LinearAttentionState, IsRoundedWhenLoaded) {
  const TypeParam one = 1, S0 = 257, z0 = 259;
  const std::uint8_t hidden = 0;
  const View<const TypeParam, 4> token(&one, {1, 1, 1, 1});
  for (Form form : {Form::recurrent, Form::reference}) {
    TypeParam o = 0, S = 0, z = 0;
    ASSERT_TRUE(linear_attention({.q = token, .k = token, .v = token, .state = {&S0, {1, 1, 1, 1}}, .z = {&z0, {1, 1, 1}},
                                  .key_mask = {&hidden, {1, 1}}, .feature = Feature::identity, .normalize = false, .form = form,
                                  .state_type = StateType::bfloat16, .o = View<TypeParam, 4>{&o, {1, 1, 1, 1}},
                                  .final_state = View<TypeParam, 4>{&S, {1, 1, 1, 1}}, .final_z = View<TypeParam, 3>{&z, {1, 1, 1}}}).ok());
    EXPECT_EQ(o, 256) << form_name(form);
    EXPECT_EQ(S, 256) << form_name(form);
    EXPECT_EQ(z, 260) << form_name(form);
  }
}

// Sequences of 5, 0 and 7 tokens packed in one row; two query heads on one key head.
template <typename T>
struct Packed {
  static constexpr std::int64_t kT = 12, kK = 3, kV = 6;

  explicit Packed(bool gated) {
    test::Numbers numbers(71);
    for (auto* tensor : {&q, &k, &v, &g_key, &state})
      for (T& value : tensor->values()) value = static_cast<T>(numbers.uniform(-1, 0));
    for (T& value : z.values()) value = static_cast<T>(numbers.uniform(.1, 1));
    for (std::int64_t t : {1, 3, 6}) mask(0, t) = 0;
    arguments = {.q = q.view(),
                 .k = k.view(),
                 .v = v.view(),
                 .state = state.view(),
                 .z = z.view(),
                 .key_mask = mask.view(),
                 .cu_seqlens = {bounds.data(), {4}},
                 .o = o.view()};
    if (gated) arguments.g_key = g_key.view();
  }
  Packed(const Packed&) = delete;

  std::vector<std::int64_t> bounds = {0, 5, 5, 12};
  Tensor<T, 4> q{{1, kT, 2, kK}}, k{{1, kT, 1, kK}}, v{{1, kT, 1, kV}}, g_key{{1, kT, 2, kK}}, state{{3, 2, kK, kV}};
  Tensor<T, 3> z{{3, 2, kK}};
  Tensor<std::uint8_t, 2> mask{{1, kT}, 1};
  Tensor<T, 4> o{{1, kT, 2, kV}};
  LinearAttentionArguments<T> arguments;
};

TYPED_TEST(LinearAttentionState, CheckpointsAreThePrefixStatesOfEachSequenceInTurn) {
  using P = Packed<TypeParam>;
  for (bool gated : {false, true})
    for (const Way& way : test::ways({Form::reference, Form::recurrent, Form::explicit_}, {0, 2, 4})) {
      P kept(gated);
      Tensor<TypeParam, 4> S({1 + 0 + 2, 2, P::kK, P::kV}, std::numeric_limits<TypeParam>::quiet_NaN());
      Tensor<TypeParam, 3> z({3, 2, P::kK}, std::numeric_limits<TypeParam>::quiet_NaN());
      kept.arguments.form = way.form;
      kept.arguments.chunk = way.chunk;
      kept.arguments.checkpoint_every = 3;
      kept.arguments.checkpoints = S.view();
      kept.arguments.checkpoints_z = z.view();
      ASSERT_TRUE(linear_attention(kept.arguments).ok());
      const std::pair<std::int64_t, std::int64_t> rows[] = {{0, 3}, {2, 3}, {2, 6}};  // sequence, tokens
      for (std::int64_t row = 0; row < 3; ++row) {
        const auto [n, length] = rows[row];
        const std::int64_t begin = kept.bounds[static_cast<std::size_t>(n)];
        auto a = kept.arguments;
        a.q = tokens_of(a.q, begin, begin + length);
        a.k = tokens_of(a.k, begin, begin + length);
        a.v = tokens_of(a.v, begin, begin + length);
        a.g_key = tokens_of(a.g_key, begin, begin + length);
        a.key_mask = tokens_of(a.key_mask, begin, begin + length);
        Tensor<TypeParam, 4> o({1, length, 2, P::kV}), last_S({1, 2, P::kK, P::kV});
        Tensor<TypeParam, 3> last_z({1, 2, P::kK});
        a.cu_seqlens = {};
        a.state = View<const TypeParam, 4>(kept.state.data() + n * 2 * P::kK * P::kV, {1, 2, P::kK, P::kV});
        a.z = View<const TypeParam, 3>(kept.z.data() + n * 2 * P::kK, {1, 2, P::kK});
        a.checkpoint_every = 0;
        a.checkpoints = {};
        a.checkpoints_z = {};
        a.o = o.view();
        a.final_state = last_S.view();
        a.final_z = last_z.view();
        ASSERT_TRUE(linear_attention(a).ok());
        const View<TypeParam, 4> got_S(S.data() + row * last_S.size(), last_S.extents());
        const View<TypeParam, 3> got_z(z.data() + row * last_z.size(), last_z.extents());
        EXPECT_LE(relative_difference(got_S, last_S.view()), tolerance<TypeParam>()) << way << " row " << row;
        EXPECT_LE(relative_difference(got_z, last_z.view()), tolerance<TypeParam>()) << way << " row " << row;
      }
    }
}

TEST(LinearAttentionStateRefusals, SayWhyNot) {
  const auto message = [](auto change) {
    Packed<float> p(false);
    change(p.arguments);
    return linear_attention(p.arguments).message();
  };
  using A = LinearAttentionArguments<float>;
  Tensor<float, 4> S({3, 2, 3, 6});
  Tensor<float, 3> z({3, 2, 3}), z_short({2, 2, 3});
  EXPECT_EQ(message([](A& a) { a.state_type = StateType::bfloat16; a.form = Form::chunked; }),
            "linear_attention: state_type is bf16, but form chunked has no state after each token; reference and recurrent have");
  EXPECT_EQ(message([](A& a) { a.state_type = StateType::float64; }),
            "linear_attention: state_type is f64, wider than f32, in which this call computes");
  EXPECT_EQ(message([&](A& a) { a.checkpoint_every = 3; a.checkpoints = S.view(); a.causal = false; }),
            "linear_attention: checkpoints are given, but causal is false; only a causal state grows token by token");
  EXPECT_EQ(message([&](A& a) { a.checkpoints_z = z.view(); }), "linear_attention: checkpoints_z is given without checkpoints");
  EXPECT_EQ(message([&](A& a) { a.checkpoint_every = 3; a.checkpoints = S.view(); a.checkpoints_z = z_short.view(); }),
            "linear_attention: M differs: checkpoint_every has 3, checkpoints_z has 2");
}

}  // namespace
}  // namespace linearmem
