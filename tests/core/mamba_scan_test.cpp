// The Mamba scan: agreement of the forms, invariance, the worked vector, softplus, meaning, refusals.
#include <gtest/gtest.h>

#include "core/carried_state.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using test::tolerance;
using test::Way;
using test::worst;

struct MambaDoor {
  static constexpr Form kForms[] = {Form::reference, Form::recurrent, Form::chunked, Form::explicit_, Form::parallel_scan};

  struct Shape {
    std::int64_t B, T, D, N, sequences = B;
    bool slow = false;  // decays close to 1: rounding adds up over thousands of tokens
  };

  template <typename T>
  struct Tensors {
    Tensors(const Shape& s, std::uint64_t seed)
        : u({s.B, s.T, s.D}),
          delta(u),
          z(u),
          y(u),
          B({s.B, s.T, s.N}),
          C(B),
          state({s.sequences, s.D, s.N}),
          final_state(state),
          A({s.D, s.N}),
          D({s.D}),
          delta_bias(D) {
      Numbers numbers(seed);
      u.fill(numbers, -1, 1);
      delta.fill(numbers, -3, 2);
      A.fill(numbers, s.slow ? -1e-3 : -2, s.slow ? 0 : -.01);
      B.fill(numbers, -1, 1);
      C.fill(numbers, -1, 1);
      D.fill(numbers, -1, 1);
      z.fill(numbers, -3, 3);
      delta_bias.fill(numbers, -1, 1);
      state.fill(numbers, -1, 1);
    }
    auto inputs() { return std::tie(u, delta, A, B, C, D, z, delta_bias, state); }
    MambaScanArguments<T> arguments() {
      return {.u = u.view(), .delta = delta.view(), .A = A.view(), .B = B.view(), .C = C.view(), .D = D.view(), .z = z.view(),
              .delta_bias = delta_bias.view(), .state = state.view(), .y = y.view(), .final_state = final_state.view()};
    }
    MambaScanArguments<T> packed(const std::vector<std::int64_t>& offsets) {
      MambaScanArguments<T> packed = arguments();
      packed.cu_seqlens = {offsets.data(), {static_cast<std::int64_t>(offsets.size())}};
      return packed;
    }

    Guarded<T, 3> u, delta, z, y, B, C, state, final_state;
    Guarded<T, 2> A;
    Guarded<T, 1> D, delta_bias;
  };

  template <typename T>
  static Status call(const MambaScanArguments<T>& a) {
    return mamba_scan(a);
  }
  template <typename T, typename Visit>
  static void each_token_view(MambaScanArguments<T>& a, Visit visit) {
    visit(a.u), visit(a.delta), visit(a.B), visit(a.C), visit(a.z), visit(a.y);
  }
  template <typename T, typename Visit>
  static void each_input(MambaScanArguments<T>& a, Visit visit) {
    visit(a.u), visit(a.delta), visit(a.A), visit(a.B), visit(a.C), visit(a.D), visit(a.z), visit(a.delta_bias), visit(a.state);
  }
};

template <typename T>
class MambaScan : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(MambaScan, Precisions);

TYPED_TEST(MambaScan, EveryFormAgreesWithTheReference) {
  for (const MambaDoor::Shape& shape : {MambaDoor::Shape{1, 1, 1, 1},
                                        {2, 9, 3, 5},
                                        {1, 65, 17, 2},
                                        {1, 130, 33, 1},
                                        {2, 7, 64, 16},
                                        {1, 66, 1, 4},
                                        {1, 0, 2, 3},
                                        {1, 5, 0, 3},
                                        {1, 5, 3, 0}})
    test::forms_agree<MambaDoor, TypeParam>(shape, 31, test::ways_of<MambaDoor>(shape.T));
}

TYPED_TEST(MambaScan, EveryFormAgreesOver4096Tokens) {
  test::forms_agree<MambaDoor, TypeParam>({1, 4096, 2, 2}, 32,
                                          test::ways({Form::recurrent, Form::explicit_, Form::parallel_scan}, {0, 1, 1000, 4097}));
}

TYPED_TEST(MambaScan, EveryFormAgreesOver4096TokensThatFadeSlowly) {
  test::forms_agree<MambaDoor, TypeParam>({.B = 1, .T = 4096, .D = 2, .N = 2, .slow = true}, 40,
                                          test::ways({Form::recurrent, Form::explicit_, Form::parallel_scan}, {0, 1, 4097}));
}

TYPED_TEST(MambaScan, EverySplitOfTheRecurrentFormGivesTheSameBits) {
  for (std::int64_t split = 0; split <= 70; ++split) test::split_equals_whole<MambaDoor, TypeParam>({1, 70, 19, 3}, 33, split);
}

TYPED_TEST(MambaScan, PackedSequencesEqualEachAloneBitForBit) {
  for (const Way& way : test::ways_of<MambaDoor>(12))
    test::packed_equals_alone<MambaDoor, TypeParam>({1, 12, 7, 3, 5}, 34, {0, 0, 3, 3, 11, 12}, way);
}

TYPED_TEST(MambaScan, BatchRowsEqualEachAloneBitForBit) { test::batch_equals_alone<MambaDoor, TypeParam>({3, 10, 5, 4}, 35); }

TYPED_TEST(MambaScan, NoLeakBetweenPackedSequences) {
  for (std::int64_t sick : {0, 1, 2}) test::nan_stays_in_its_sequence<MambaDoor, TypeParam>({1, 11, 5, 2, 3}, {0, 4, 7, 11}, sick);
}

TYPED_TEST(MambaScan, StridedViewsEqualPackedCopies) { test::strides_change_nothing<MambaDoor, TypeParam>({2, 9, 21, 3}); }

TYPED_TEST(MambaScan, StateMayBeUpdatedInPlace) { test::state_may_be_updated_in_place<MambaDoor, TypeParam>({2, 8, 5, 3}); }

using Values = std::vector<double>;

// One batch row, one channel; an empty D, z, bias or state is not given.
struct Case {
  std::int64_t N = 1;
  Values u, delta, A, B, C, D = {}, z = {}, bias = {}, state = {};
  bool softplus = true;
};

template <typename T>
struct Outputs {
  std::vector<T> y, state;
};

template <typename T>
Outputs<T> run(const Case& c, const Way& way) {
  auto cast = [](const Values& values) { return std::vector<T>(values.begin(), values.end()); };
  const std::vector<T> u = cast(c.u), delta = cast(c.delta), A = cast(c.A), B = cast(c.B), C = cast(c.C), D = cast(c.D), z = cast(c.z),
                       bias = cast(c.bias), state = cast(c.state);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::int64_t tokens = static_cast<std::int64_t>(u.size());
  Outputs<T> out{std::vector<T>(u.size(), nan), std::vector<T>(static_cast<std::size_t>(c.N), nan)};
  MambaScanArguments<T> a{.u = {u.data(), {1, tokens, 1}}, .delta = {delta.data(), {1, tokens, 1}}, .A = {A.data(), {1, c.N}},
                          .B = {B.data(), {1, tokens, c.N}}, .C = {C.data(), {1, tokens, c.N}}, .softplus = c.softplus,
                          .y = {out.y.data(), {1, tokens, 1}}, .final_state = {out.state.data(), {1, 1, c.N}}};
  if (!D.empty()) a.D = {D.data(), {1}};
  if (!z.empty()) a.z = {z.data(), {1, tokens, 1}};
  if (!bias.empty()) a.delta_bias = {bias.data(), {1}};
  if (!state.empty()) a.state = {state.data(), {1, 1, c.N}};
  test::must_run<MambaDoor>(a, way);
  return out;
}

TYPED_TEST(MambaScan, WorkedVector) {
  const Case worked{.N = 2, .u = {1, 2, -1, .5, 3}, .delta = {.5, .1, 1, .25, 2}, .A = {-1, -2}, .B = {1, 0, .5, .5, 0, 1, 1, -1, .2, .3},
                    .C = {1, 1, 0, 1, 2, -1, .5, .5, 1, 0}, .D = {.5}, .bias = {.1}};
  for (const Way& way : test::ways_of<MambaDoor>(5)) {
    const auto out = run<TypeParam>(worked, way);
    EXPECT_LE(worst(out.y, {1.537487950485886, 1.798138869381592, 1.469487567274304, 0.201023319139246, 2.891748468785981}),
              tolerance<TypeParam>())
        << way;
    EXPECT_LE(worst(out.state, {1.391748468785981, 1.985990067066316}), tolerance<TypeParam>()) << way;
  }
}

// u, B, C = 1 and A = 0: each token adds its step to the state. Held to relative precision, so that the small one counts too.
TYPED_TEST(MambaScan, SoftplusIsPreciseAndDoesNotOverflow) {
  const double relative = sizeof(TypeParam) == 8 ? 1e-15 : 4e-7;
  const std::pair<double, double> rows[] = {{-20, 2.0611536203143807e-9},
                                            {100, 100},
                                            {1000, 1000},
                                            {0, 0.6931471805599453},
                                            {-1, 0.31326168751822286},
                                            {30, 30.00000000000009357},
                                            {-50, 1.9287498479639178e-22},
                                            {1, 1.3132616875182228},
                                            {17, 17.000000041399376}};
  for (const Way& way : test::ways_of<MambaDoor>(1))
    for (const auto& [x, expected] : rows) {
      const TypeParam step = run<TypeParam>({.u = {1}, .delta = {x}, .A = {0}, .B = {1}, .C = {1}}, way).y[0];
      EXPECT_LE(std::abs(static_cast<double>(step) - expected), relative * expected) << way << " at " << x;
    }
}

TYPED_TEST(MambaScan, WithoutSoftplusTheStepIsTheSum) {
  for (const Way& way : test::ways_of<MambaDoor>(1))
    EXPECT_EQ(run<TypeParam>({.u = {3}, .delta = {2}, .A = {0}, .B = {5}, .C = {1}, .bias = {.5}, .softplus = false}, way).y,
              std::vector<TypeParam>{37.5})
        << way;
}

// silu of a large number is itself, of a very negative one 0; the gate stands after the skip.
TYPED_TEST(MambaScan, TheGateMultipliesTheSkipToo) {
  for (const Way& way : test::ways_of<MambaDoor>(3)) {
    const Values ones = {1, 1, 1};
    const auto out = run<TypeParam>({.u = ones, .delta = ones, .A = {0}, .B = {0, 0, 0}, .C = ones, .D = {3}, .z = {200, -200, 0}}, way);
    EXPECT_LE(worst(out.y, {600, 0, 0}), tolerance<TypeParam>()) << way;
  }
}

TYPED_TEST(MambaScan, AVeryStrongDecayForgetsExactly) {
  for (const Way& way : test::ways_of<MambaDoor>(2)) {
    const auto out =
        run<TypeParam>({.u = {1, 2}, .delta = {1000, 1}, .A = {-1000}, .B = {0, 1}, .C = {1, 1}, .state = {1e30}, .softplus = false}, way);
    EXPECT_EQ(out.y, (std::vector<TypeParam>{0, 2})) << way;
  }
}

TYPED_TEST(MambaScan, RecycledSlotIsAsZeros) {
  for (const Way& way : test::ways_of<MambaDoor>(1))
    EXPECT_EQ(run<TypeParam>({.u = {3}, .delta = {2}, .A = {-1}, .B = {5}, .C = {7}, .softplus = false}, way).state,
              std::vector<TypeParam>{30})
        << way;
}

TYPED_TEST(MambaScan, AllowedGrowthIsComputed) {
  for (const Way& way : test::ways_of<MambaDoor>(60)) {
    MambaDoor::Tensors<TypeParam> tensors({1, 60, 3, 2}, 36);
    MambaDoor::Tensors<double> exact({1, 60, 3, 2}, 36);
    for (std::int64_t i = 0; i < tensors.A.size(); ++i) tensors.A.data()[i] = static_cast<TypeParam>(.25);
    test::convert_inputs(tensors, exact);
    auto a = tensors.arguments();
    auto e = exact.arguments();
    a.allow_growth = e.allow_growth = true;
    test::must_run<MambaDoor>(e, {Form::reference});
    test::must_run<MambaDoor>(a, way);
    EXPECT_LE(test::relative_difference(tensors.y.view(), exact.y.view()), tolerance<TypeParam>()) << way;
  }
}

// The forms that compose decays may give NaN here, as infinity times 0; the ones that go token by token do not.
TYPED_TEST(MambaScan, GrowthPastTheFormatIsInfiniteTokenByToken) {
  const TypeParam one = 1, step = 1000, minus = -1, infinity = std::numeric_limits<TypeParam>::infinity();
  for (const Way& way : test::ways({Form::reference, Form::recurrent}))
    for (const auto& [state, expected] : {std::pair{one, infinity}, {minus, -infinity}}) {
      TypeParam y = 0;
      test::must_run<MambaDoor>(
          MambaScanArguments<TypeParam>{.u = {&one, {1, 1, 1}}, .delta = {&step, {1, 1, 1}}, .A = {&one, {1, 1}}, .B = {&one, {1, 1, 1}},
                                        .C = {&one, {1, 1, 1}}, .state = {&state, {1, 1, 1}}, .allow_growth = true, .y = {&y, {1, 1, 1}}},
          way);
      EXPECT_EQ(y, expected) << way;
    }
}

TEST(MambaScanRefusals, NameTheArgumentTheAxisAndBothNumbers) {
  Tensor<double, 3> wide({2, 4, 5});
  Tensor<double, 1> two({2});
  auto message = [&](auto change) {
    MambaDoor::Tensors<double> tensors({2, 4, 3, 2}, 37);
    auto a = tensors.arguments();
    change(a);
    const Status status = mamba_scan(a);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(std::isnan(tensors.y.data()[0])) << "outputs are untouched when refused";
    return status.message();
  };
  using A = MambaScanArguments<double>;
  EXPECT_EQ(message([&](A& a) { a.B = wide.view(); }), "mamba_scan: N differs: A has 2, B has 5");
  EXPECT_EQ(message([&](A& a) { a.z = wide.view(); }), "mamba_scan: D differs: u has 3, z has 5");
  EXPECT_EQ(message([&](A& a) { a.delta_bias = two.view(); }), "mamba_scan: D differs: u has 3, delta_bias has 2");
  EXPECT_EQ(message([&](A& a) { a.A = {}; }), "mamba_scan: A is missing; it is [D,N]");
  EXPECT_EQ(message([&](A& a) { a.form = Form::streaming; }),
            "mamba_scan: form streaming is not one of reference, recurrent, chunked, explicit, parallel-scan");
}

TEST(MambaScanRefusals, AGrowingStateIsRefusedUnlessAllowed) {
  MambaDoor::Tensors<double> tensors({2, 4, 3, 2}, 38);
  Numbers numbers(39);
  tensors.delta.fill(numbers, .1, 1);
  tensors.delta.view()(1, 2, 1) = -.5;
  tensors.A.view()(1, 0) = -.5;
  tensors.A.view()(1, 1) = -.25;
  auto a = tensors.arguments();
  a.delta_bias = {};
  EXPECT_TRUE(mamba_scan(a).ok()) << "softplus makes the step positive";
  a.softplus = false;
  EXPECT_EQ(mamba_scan(a).message(),
            "mamba_scan: delta A is 0.25 at batch 1, token 2, channel 1; a log decay is at most 0 unless growth is allowed");
  a.allow_growth = true;
  EXPECT_TRUE(mamba_scan(a).ok());
}

TEST(MambaScanRefusals, SizeOverflowIsRefusedWithTheByteCountBeforeAllocating) {
  double value = 0;
  const Extents<3> none = {1, std::int64_t{1} << 60, 0}, huge = {1, std::int64_t{1} << 60, 4}, still = {0, 0, 0};
  const View<const double, 3> channels(&value, none, still), states(&value, huge, still);
  const Status status = mamba_scan(MambaScanArguments<double>{.u = channels,
                                                              .delta = channels,
                                                              .A = {&value, {0, 4}},
                                                              .B = states,
                                                              .C = states,
                                                              .form = Form::parallel_scan,
                                                              .y = {&value, none, still}});
  EXPECT_EQ(status.code(), StatusCode::out_of_memory);
  EXPECT_NE(status.message().find("[2,1152921504606846976,4] needs 18446744073709551615 bytes"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace linearmem
