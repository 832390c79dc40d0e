// The shared block: agreement of the forms, worked values, rounds, invariance, what sharing saves, refusals; and halting over its states.
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

struct BlockShape {
  std::int64_t B, T, D, F, R;
};

template <typename T>
struct BlockProblem {
  BlockProblem(const BlockShape& s, std::uint64_t seed)
      : x({s.B, s.T, s.D}), w1({s.D, s.F}), b1({s.F}), w2({s.F, s.D}), b2({s.D}), y({s.B, s.T, s.D}), states({s.R, s.B, s.T, s.D}) {
    Numbers numbers(seed);
    const double inner = 1 / std::sqrt(static_cast<double>(s.D + 1)), outer = 1 / std::sqrt(static_cast<double>(s.F + 1));
    x.fill(numbers, -1, 1);
    w1.fill(numbers, -inner, inner);
    b1.fill(numbers, -1, 1);
    w2.fill(numbers, -outer, outer);
    b2.fill(numbers, -1, 1);
    arguments = {.x = x.view(), .w1 = w1.view(), .b1 = b1.view(), .w2 = w2.view(), .b2 = b2.view(), .rounds = s.R, .y = y.view(),
                 .states = states.view(), .work = &work};
  }
  Guarded<T, 3> x;
  Guarded<T, 2> w1;
  Guarded<T, 1> b1;
  Guarded<T, 2> w2;
  Guarded<T, 1> b2;
  Guarded<T, 3> y;
  Guarded<T, 4> states;
  DepthWork work;
  SharedDepthArguments<T> arguments;
};

template <typename T>
class DepthRecurrence : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(DepthRecurrence, Precisions);

const Form kBlockForms[] = {Form::automatic, Form::reference, Form::recurrent, Form::explicit_};
const BlockActivation kActivations[] = {BlockActivation::relu, BlockActivation::gelu, BlockActivation::tanh, BlockActivation::none};

TYPED_TEST(DepthRecurrence, TheBlockFormsAgreeOnTwoThousandShapes) {
  Numbers numbers(31);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const BlockShape shape{numbers.whole(0, 2), numbers.whole(0, 4), numbers.whole(0, 9), numbers.whole(0, 9), numbers.whole(0, 4)};
    BlockProblem<double> exact(shape, 0);
    for (Form form : {Form::reference, Form::recurrent, Form::explicit_}) {
      BlockProblem<TypeParam> problem(shape, seed);
      problem.arguments.form = form;
      problem.arguments.activation = exact.arguments.activation = kActivations[seed % 4];
      if (seed % 3 == 0) problem.arguments.b1 = {};
      if (seed % 3 == 0) exact.arguments.b1 = {};
      for (auto [from, to] : {std::pair{problem.w1.view(), exact.w1.view()}, {problem.w2.view(), exact.w2.view()}}) convert(from, to);
      for (auto [from, to] : {std::pair{problem.b1.view(), exact.b1.view()}, {problem.b2.view(), exact.b2.view()}}) convert(from, to);
      convert(problem.x.view(), exact.x.view());
      exact.arguments.form = Form::reference;
      ASSERT_TRUE(shared_depth(exact.arguments).ok() && shared_depth(problem.arguments).ok());
      ASSERT_LE(relative_difference(problem.y.view(), exact.y.view()), tolerance<TypeParam>()) << seed << " " << form_name(form);
      ASSERT_LE(relative_difference(problem.states.view(), exact.states.view()), tolerance<TypeParam>()) << seed << " " << form_name(form);
      ASSERT_TRUE(problem.y.guards_intact() && problem.states.guards_intact()) << seed;
    }
  }
}

TYPED_TEST(DepthRecurrence, OneComponentByHand) {
  const auto run = [](TypeParam x, double w1, double b1, double w2, double b2, std::int64_t rounds, BlockActivation activation, Form form) {
    const TypeParam W1 = static_cast<TypeParam>(w1), B1 = static_cast<TypeParam>(b1), W2 = static_cast<TypeParam>(w2), B2 = static_cast<TypeParam>(b2);
    TypeParam y = -1;
    EXPECT_TRUE(shared_depth(SharedDepthArguments<TypeParam>{.x = {&x, {1, 1, 1}}, .w1 = {&W1, {1, 1}}, .b1 = {&B1, {1}}, .w2 = {&W2, {1, 1}},
                                                             .b2 = {&B2, {1}}, .rounds = rounds, .activation = activation, .form = form,
                                                             .y = {&y, {1, 1, 1}}}).ok());
    return static_cast<double>(y);
  };
  for (Form form : kBlockForms) {
    EXPECT_EQ(run(1, 2, 0, 3, 0, 3, BlockActivation::none, form), 343);      // each round multiplies by 1 + 2 * 3
    EXPECT_EQ(run(1, 2, -3, 5, 0.5, 2, BlockActivation::relu, form), 2);     // inner -1, 0: the rounds add their bias
    EXPECT_EQ(run(2, 2, -3, 5, 0.5, 1, BlockActivation::relu, form), 7.5);
    EXPECT_EQ(run(2, 2, -3, 5, 0.5, 0, BlockActivation::relu, form), 2);     // no round, no change
    EXPECT_NEAR(run(0, 1, 1, 1, 0, 1, BlockActivation::gelu, form), 0.8413447460685429, tolerance<TypeParam>());  // Phi(1)
    EXPECT_NEAR(run(0, 1, 1, 1, 0, 1, BlockActivation::tanh, form), 0.7615941559557649, tolerance<TypeParam>());
  }
}

TYPED_TEST(DepthRecurrence, RoundsComposeAndTheLastStateIsTheOutput) {
  const BlockShape shape{2, 3, 7, 5, 4};
  BlockProblem<TypeParam> whole(shape, 33), parts(shape, 33);
  ASSERT_TRUE(shared_depth(whole.arguments).ok());
  parts.arguments.states = {};
  for (std::int64_t rounds : {1, 0, 3}) {  // in place: what one call leaves, the next takes up
    parts.arguments.rounds = rounds;
    ASSERT_TRUE(shared_depth(parts.arguments).ok());
    parts.arguments.x = parts.y.view();
  }
  EXPECT_TRUE(parts.y.same_bits(whole.y));
  each_index<3>(whole.y.view().extents(), [&](const Extents<3>& at) { EXPECT_EQ(whole.states.view()(3, at[0], at[1], at[2]), whole.y.view()[at]); });
}

TYPED_TEST(DepthRecurrence, InPlaceAndStridedCallsGiveTheSameBits) {
  for (Form form : kBlockForms) {
    BlockProblem<TypeParam> apart(BlockShape{2, 3, 5, 6, 3}, 34), in_place(BlockShape{2, 3, 5, 6, 3}, 34);
    apart.arguments.form = in_place.arguments.form = form;
    in_place.arguments.y = in_place.x.view();
    Turned<TypeParam, 3> x(apart.arguments.x), y(apart.y.view().extents());
    Turned<TypeParam, 2> w1(apart.arguments.w1), w2(apart.arguments.w2);
    SharedDepthArguments<TypeParam> strided = apart.arguments;
    strided.x = x.view();
    strided.w1 = w1.view();
    strided.w2 = w2.view();
    strided.y = y.view();
    strided.states = {};
    ASSERT_TRUE(shared_depth(apart.arguments).ok() && shared_depth(in_place.arguments).ok() && shared_depth(strided).ok());
    EXPECT_TRUE(in_place.x.same_bits(apart.y)) << form_name(form);
    each_index<3>(apart.y.view().extents(), [&](const Extents<3>& at) { EXPECT_EQ(y.view()[at], apart.y.view()[at]); });
  }
}

TYPED_TEST(DepthRecurrence, TokensDoNotMeet) {
  for (Form form : kBlockForms) {
    BlockProblem<TypeParam> clean(BlockShape{1, 4, 5, 6, 3}, 35), spoiled(BlockShape{1, 4, 5, 6, 3}, 35);
    clean.arguments.form = spoiled.arguments.form = form;
    for (std::int64_t d = 0; d < 5; ++d) spoiled.x.view()(0, 1, d) = std::numeric_limits<TypeParam>::quiet_NaN();
    ASSERT_TRUE(shared_depth(clean.arguments).ok() && shared_depth(spoiled.arguments).ok());
    each_index<3>(clean.y.view().extents(), [&](const Extents<3>& at) {
      if (at[1] == 1) EXPECT_TRUE(std::isnan(spoiled.y.view()[at]));
      else EXPECT_EQ(spoiled.y.view()[at], clean.y.view()[at]);
    });
  }
}

TYPED_TEST(DepthRecurrence, SharingKeepsOneSetOfParametersAndDoesTheWorkOfR) {
  const std::int64_t each = 7 * 5 + 5 + 5 * 7 + 7, tokens = 6;
  for (std::int64_t R = 0; R <= 5; ++R)
    for (Form form : kBlockForms) {
      BlockProblem<TypeParam> problem(BlockShape{2, 3, 7, 5, R}, 36);
      problem.arguments.form = form;
      ASSERT_TRUE(shared_depth(problem.arguments).ok());
      EXPECT_EQ(problem.work.parameters, form == Form::explicit_ ? R * each : each);
      EXPECT_EQ(problem.work.operations, R * tokens * 2 * 7 * 5);
    }
}

// The two doors together: a halting unit that is sure in round n picks the state after round n.
TYPED_TEST(DepthRecurrence, HaltingPicksTheStateOfARound) {
  BlockProblem<TypeParam> problem(BlockShape{1, 3, 4, 6, 3}, 37);
  ASSERT_TRUE(shared_depth(problem.arguments).ok());
  const std::vector<TypeParam> p = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  Tensor<TypeParam, 3> o({1, 3, 4});
  ASSERT_TRUE(adaptive_computation_time(AdaptiveComputationTimeArguments<TypeParam>{
      .p = {p.data(), {1, 3, 3}}, .x = problem.states.view(), .o = o.view()}).ok());
  each_index<3>(o.extents(), [&](const Extents<3>& at) { EXPECT_EQ(o.view()[at], problem.states.view()(at[1], 0, at[1], at[2])); });
}

TEST(SharedDepthRefusals, NameTheArgumentTheAxisAndBothNumbers) {
  Tensor<double, 2> narrow({5, 6});
  auto message = [&](auto change) {
    BlockProblem<double> problem(BlockShape{2, 3, 7, 5, 2}, 38);
    change(problem.arguments);
    const Status status = shared_depth(problem.arguments);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(std::isnan(problem.y.data()[0])) << "outputs are untouched when refused";
    EXPECT_EQ(problem.work.parameters, 0);
    return status.message();
  };
  using A = SharedDepthArguments<double>;
  EXPECT_EQ(message([&](A& a) { a.w2 = narrow.view(); }), "shared_depth: D differs: x has 7, w2 has 6");
  EXPECT_EQ(message([&](A& a) { a.w1 = {}; }), "shared_depth: w1 is missing; it is [D,F]");
  EXPECT_EQ(message([&](A& a) { a.rounds = -1; }), "shared_depth: rounds is -1, must be at least 0");
  EXPECT_EQ(message([&](A& a) { a.rounds = 3; }), "shared_depth: R differs: rounds has 3, states has 2");
  EXPECT_EQ(message([&](A& a) { a.form = Form::streaming; }), "shared_depth: form streaming is not one of reference, recurrent, explicit");
}

TEST(DepthRecurrenceNames, AreReadBack) {
  for (Halting halting : {Halting::graves, Halting::cap_without_remainder}) EXPECT_EQ(halting_named(halting_name(halting)), halting);
  for (BlockActivation activation : kActivations) EXPECT_EQ(block_activation_named(block_activation_name(activation)), activation);
  EXPECT_FALSE(halting_named("grave") || block_activation_named("silu"));
}

}  // namespace
}  // namespace linearmem
