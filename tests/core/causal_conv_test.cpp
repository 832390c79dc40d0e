// The causal convolution: agreement of the forms, invariance, meaning, refusals.
#include "linearmem/causal_conv.hpp"

#include <gtest/gtest.h>

#include "core/carried_state.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using test::Way;

struct ConvDoor {
  static constexpr Form kForms[] = {Form::reference, Form::recurrent};

  struct Shape {
    std::int64_t B, T, D, W, sequences = B;
  };

  template <typename T>
  struct Tensors {
    Tensors(const Shape& s, std::uint64_t seed)
        : x({s.B, s.T, s.D}), y(x), state({s.sequences, s.D, s.W - 1}), final_state(state), weight({s.D, s.W}), bias({s.D}),
          activation(seed % 2 ? Activation::silu : Activation::none) {
      Numbers numbers(seed);
      x.fill(numbers, -2, 2);
      weight.fill(numbers, -1, 1);
      bias.fill(numbers, -1, 1);
      state.fill(numbers, -2, 2);
    }
    auto inputs() { return std::tie(x, weight, bias, state); }
    CausalConvArguments<T> arguments() {
      return {.x = x.view(), .weight = weight.view(), .bias = bias.view(), .state = state.view(), .activation = activation, .y = y.view(),
              .final_state = final_state.view()};
    }
    CausalConvArguments<T> packed(const std::vector<std::int64_t>& offsets) {
      CausalConvArguments<T> packed = arguments();
      packed.cu_seqlens = {offsets.data(), {static_cast<std::int64_t>(offsets.size())}};
      return packed;
    }

    Guarded<T, 3> x, y, state, final_state;
    Guarded<T, 2> weight;
    Guarded<T, 1> bias;
    Activation activation;
  };

  template <typename T>
  static Status call(const CausalConvArguments<T>& a) {
    return causal_conv(a);
  }
  template <typename T, typename Visit>
  static void each_token_view(CausalConvArguments<T>& a, Visit visit) {
    visit(a.x), visit(a.y);
  }
  template <typename T, typename Visit>
  static void each_input(CausalConvArguments<T>& a, Visit visit) {
    visit(a.x), visit(a.weight), visit(a.bias), visit(a.state);
  }
};

template <typename T>
class CausalConv : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(CausalConv, Precisions);

TYPED_TEST(CausalConv, EveryFormAgreesWithTheReference) {
  for (const ConvDoor::Shape& shape : {ConvDoor::Shape{1, 1, 1, 1},
                                       {2, 9, 3, 4},
                                       {1, 65, 17, 2},
                                       {1, 130, 33, 4},
                                       {2, 2, 64, 7},
                                       {1, 66, 150, 5},
                                       {1, 0, 2, 3},
                                       {1, 5, 0, 3},
                                       {1, 200, 3, 150},
                                       {1, 4096, 2, 4}})
    for (std::uint64_t seed : {51, 52}) test::forms_agree<ConvDoor, TypeParam>(shape, seed, test::ways_of<ConvDoor>(shape.T));
}

TYPED_TEST(CausalConv, EverySplitOfTheRecurrentFormGivesTheSameBits) {
  for (std::int64_t split = 0; split <= 70; ++split) test::split_equals_whole<ConvDoor, TypeParam>({2, 70, 19, 6}, 53, split);
}

TYPED_TEST(CausalConv, PackedSequencesEqualEachAloneBitForBit) {
  for (const Way& way : test::ways_of<ConvDoor>(12))
    test::packed_equals_alone<ConvDoor, TypeParam>({1, 12, 7, 4, 5}, 54, {0, 0, 3, 3, 11, 12}, way);
}

TYPED_TEST(CausalConv, BatchRowsEqualEachAloneBitForBit) { test::batch_equals_alone<ConvDoor, TypeParam>({3, 10, 5, 4}, 55); }

TYPED_TEST(CausalConv, NoLeakBetweenPackedSequences) {
  for (std::int64_t sick : {0, 1, 2}) test::nan_stays_in_its_sequence<ConvDoor, TypeParam>({1, 11, 5, 4, 3}, {0, 4, 7, 11}, sick);
}

TYPED_TEST(CausalConv, StridedViewsEqualPackedCopies) { test::strides_change_nothing<ConvDoor, TypeParam>({2, 9, 21, 3}); }

TYPED_TEST(CausalConv, StateMayBeUpdatedInPlace) {
  test::state_may_be_updated_in_place<ConvDoor, TypeParam>({2, 8, 5, 4});
  test::state_may_be_updated_in_place<ConvDoor, TypeParam>({2, 2, 5, 6});
}

// 1000 x_{t-2} + 100 x_{t-1} + 10 x_t + bias, tokens 3 4 5 after the kept 1 2.
TYPED_TEST(CausalConv, TheLastWeightMeetsTheTokenItself) {
  const std::vector<TypeParam> x = {3, 4, 5}, weight = {1000, 100, 10}, bias = {.5}, before = {1, 2};
  for (const Way& way : test::ways_of<ConvDoor>(3)) {
    std::vector<TypeParam> y(3), kept(2);
    test::must_run<ConvDoor>(CausalConvArguments<TypeParam>{.x = {x.data(), {1, 3, 1}},
                                                            .weight = {weight.data(), {1, 3}},
                                                            .bias = {bias.data(), {1}},
                                                            .state = {before.data(), {1, 1, 2}},
                                                            .activation = Activation::none,
                                                            .y = {y.data(), {1, 3, 1}},
                                                            .final_state = {kept.data(), {1, 1, 2}}},
                             way);
    EXPECT_EQ(y, (std::vector<TypeParam>{1230.5, 2340.5, 3450.5})) << way;
    EXPECT_EQ(kept, (std::vector<TypeParam>{4, 5})) << way;
  }
}

TYPED_TEST(CausalConv, FewerTokensThanTheStateHoldsMoveItOn) {
  const std::vector<TypeParam> x = {9}, weight = {1, 1, 1, 1}, before = {1, 2, 3};
  for (const Way& way : test::ways_of<ConvDoor>(1)) {
    std::vector<TypeParam> y(1), kept(3);
    test::must_run<ConvDoor>(CausalConvArguments<TypeParam>{.x = {x.data(), {1, 1, 1}}, .weight = {weight.data(), {1, 4}},
                                                            .state = {before.data(), {1, 1, 3}}, .activation = Activation::none,
                                                            .y = {y.data(), {1, 1, 1}}, .final_state = {kept.data(), {1, 1, 3}}}, way);
    EXPECT_EQ(y, std::vector<TypeParam>{15}) << way;
    EXPECT_EQ(kept, (std::vector<TypeParam>{2, 3, 9})) << way;
  }
}

// silu(1) = 0.7310585786300049; a large number is itself, a very negative one 0.
TYPED_TEST(CausalConv, SiluIsTheDefault) {
  const std::vector<TypeParam> x = {1, 500, -500, 0}, weight = {1};
  for (const Way& way : test::ways_of<ConvDoor>(4)) {
    std::vector<TypeParam> y(4);
    test::must_run<ConvDoor>(
        CausalConvArguments<TypeParam>{.x = {x.data(), {1, 4, 1}}, .weight = {weight.data(), {1, 1}}, .y = {y.data(), {1, 4, 1}}}, way);
    EXPECT_LE(test::worst(y, {0.7310585786300049, 500, 0, 0}), test::tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(CausalConv, RecycledSlotIsAsZeros) {
  for (const Way& way : test::ways_of<ConvDoor>(2)) {
    ConvDoor::Tensors<TypeParam> zeros({1, 2, 5, 4}, 56), recycled({1, 2, 5, 4}, 56);
    for (std::int64_t i = 0; i < zeros.state.size(); ++i) zeros.state.data()[i] = 0;
    auto reset = recycled.arguments();
    reset.state = {};
    test::must_run<ConvDoor>(zeros.arguments(), way);
    test::must_run<ConvDoor>(reset, way);
    EXPECT_TRUE(recycled.y.same_bits(zeros.y) && recycled.final_state.same_bits(zeros.final_state)) << way;
  }
}

TEST(CausalConvRefusals, NameTheArgumentTheAxisAndBothNumbers) {
  Tensor<double, 3> long_state({2, 5, 4});
  Tensor<double, 2> none({5, 0}), narrow({4, 4});
  auto message = [&](auto change) {
    ConvDoor::Tensors<double> tensors({2, 4, 5, 4}, 57);
    auto a = tensors.arguments();
    change(a);
    const Status status = causal_conv(a);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(std::isnan(tensors.y.data()[0])) << "outputs are untouched when refused";
    return status.message();
  };
  using A = CausalConvArguments<double>;
  EXPECT_EQ(message([&](A& a) { a.state = long_state.view(); }), "causal_conv: W-1 differs: weight has 3, state has 4");
  EXPECT_EQ(message([&](A& a) { a.weight = none.view(); }), "causal_conv: W is 0; a filter has at least one tap");
  EXPECT_EQ(message([&](A& a) { a.weight = narrow.view(); }), "causal_conv: D differs: x has 5, weight has 4");
  EXPECT_EQ(message([&](A& a) { a.weight = {}; }), "causal_conv: weight is missing; it is [D,W]");
  EXPECT_EQ(message([&](A& a) { a.form = Form::chunked; }), "causal_conv: form chunked is not one of reference, recurrent");
}

TEST(CausalConvActivation, NamesAreReadBack) {
  for (Activation activation : {Activation::silu, Activation::none}) EXPECT_EQ(activation_named(activation_name(activation)), activation);
  EXPECT_EQ(activation_named("swish"), std::nullopt);
}

}  // namespace
}  // namespace linearmem
