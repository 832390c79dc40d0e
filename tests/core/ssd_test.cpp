// ssd: agreement of the forms, invariance, the worked vector, meaning, refusals.
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

struct SsdDoor {
  static constexpr Form kForms[] = {Form::reference, Form::recurrent, Form::chunked, Form::explicit_};

  struct Shape {
    std::int64_t B, T, H, G, N, P, sequences = B;
    bool slow = false;  // decays close to 1: rounding adds up over thousands of tokens
  };

  template <typename T>
  struct Tensors {
    Tensors(const Shape& s, std::uint64_t seed)
        : x({s.B, s.T, s.H, s.P}), B({s.B, s.T, s.G, s.N}), C(B), y(x), state({s.sequences, s.H, s.N, s.P}), final_state(state),
          dt({s.B, s.T, s.H}), A({s.H}), D({s.H}) {
      Numbers numbers(seed);
      x.fill(numbers, -1, 1);
      dt.fill(numbers, .01, 1);
      A.fill(numbers, s.slow ? -1e-3 : -3, s.slow ? 0 : -.01);
      B.fill(numbers, -1, 1);
      C.fill(numbers, -1, 1);
      D.fill(numbers, -1, 1);
      state.fill(numbers, -1, 1);
    }
    auto inputs() { return std::tie(x, dt, A, B, C, D, state); }
    SsdArguments<T> arguments() {
      return {.x = x.view(),
              .dt = dt.view(),
              .A = A.view(),
              .B = B.view(),
              .C = C.view(),
              .D = D.view(),
              .state = state.view(),
              .y = y.view(),
              .final_state = final_state.view()};
    }
    SsdArguments<T> packed(const std::vector<std::int64_t>& offsets) {
      SsdArguments<T> packed = arguments();
      packed.cu_seqlens = {offsets.data(), {static_cast<std::int64_t>(offsets.size())}};
      return packed;
    }

    Guarded<T, 4> x, B, C, y, state, final_state;
    Guarded<T, 3> dt;
    Guarded<T, 1> A, D;
  };

  template <typename T>
  static Status call(const SsdArguments<T>& a) {
    return ssd(a);
  }
  template <typename T, typename Visit>
  static void each_token_view(SsdArguments<T>& a, Visit visit) {
    visit(a.x), visit(a.dt), visit(a.B), visit(a.C), visit(a.y);
  }
  template <typename T, typename Visit>
  static void each_input(SsdArguments<T>& a, Visit visit) {
    visit(a.x), visit(a.dt), visit(a.A), visit(a.B), visit(a.C), visit(a.D), visit(a.state);
  }
};

template <typename T>
class Ssd : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Ssd, Precisions);

TYPED_TEST(Ssd, EveryFormAgreesWithTheReference) {
  for (const SsdDoor::Shape& shape : {SsdDoor::Shape{1, 1, 1, 1, 1, 1},
                                      {2, 9, 3, 1, 5, 3},
                                      {1, 65, 4, 2, 16, 17},
                                      {1, 130, 2, 2, 1, 33},
                                      {2, 7, 2, 1, 9, 64},
                                      {1, 66, 1, 1, 3, 1},
                                      {1, 0, 2, 1, 3, 4},
                                      {1, 5, 2, 1, 3, 0},
                                      {1, 3, 0, 0, 3, 4}})
    test::forms_agree<SsdDoor, TypeParam>(shape, 21, test::ways_of<SsdDoor>(shape.T));
}

TYPED_TEST(Ssd, EveryFormAgreesOver4096Tokens) {
  test::forms_agree<SsdDoor, TypeParam>({1, 4096, 1, 1, 2, 2}, 22, test::ways({Form::recurrent, Form::explicit_}, {0, 1, 1000, 4097}));
}

TYPED_TEST(Ssd, EveryFormAgreesOver4096TokensThatFadeSlowly) {
  test::forms_agree<SsdDoor, TypeParam>({.B = 1, .T = 4096, .H = 1, .G = 1, .N = 2, .P = 2, .slow = true}, 28,
                                        test::ways({Form::recurrent, Form::explicit_}, {0, 1, 4097}));
}

// Within a call decays are kept outside the state, so that a cut rounds the state where the whole does not.
TYPED_TEST(Ssd, EverySplitOfTheRecurrentFormEqualsTheWhole) {
  for (std::int64_t split = 0; split <= 70; ++split) test::split_equals_whole<SsdDoor, TypeParam>({1, 70, 2, 1, 6, 19}, 23, split, false);
}

TYPED_TEST(Ssd, PackedSequencesEqualEachAloneBitForBit) {
  for (const Way& way : test::ways_of<SsdDoor>(12))
    test::packed_equals_alone<SsdDoor, TypeParam>({1, 12, 2, 1, 5, 7, 5}, 24, {0, 0, 3, 3, 11, 12}, way);
}

TYPED_TEST(Ssd, BatchRowsEqualEachAloneBitForBit) { test::batch_equals_alone<SsdDoor, TypeParam>({3, 10, 4, 2, 5, 6}, 25); }

TYPED_TEST(Ssd, NoLeakBetweenPackedSequences) {
  for (std::int64_t sick : {0, 1, 2}) test::nan_stays_in_its_sequence<SsdDoor, TypeParam>({1, 11, 2, 1, 3, 5, 3}, {0, 4, 7, 11}, sick);
}

TYPED_TEST(Ssd, StridedViewsEqualPackedCopies) { test::strides_change_nothing<SsdDoor, TypeParam>({2, 9, 2, 1, 5, 21}); }

TYPED_TEST(Ssd, StateMayBeUpdatedInPlace) { test::state_may_be_updated_in_place<SsdDoor, TypeParam>({2, 8, 2, 2, 3, 5}); }

using Values = std::vector<double>;

// One batch row, row-major lists; an empty D or state is not given.
struct Case {
  std::int64_t T = 1, H = 1, G = 1, N = 1, P = 1;
  Values x, dt, A, B, C, D = {}, state = {};
};

template <typename T>
struct Outputs {
  std::vector<T> y, state;
};

template <typename T>
Outputs<T> run(const Case& c, const Way& way) {
  auto cast = [](const Values& values) { return std::vector<T>(values.begin(), values.end()); };
  const std::vector<T> x = cast(c.x), dt = cast(c.dt), A = cast(c.A), B = cast(c.B), C = cast(c.C), D = cast(c.D), state = cast(c.state);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  Outputs<T> out{std::vector<T>(x.size(), nan), std::vector<T>(static_cast<std::size_t>(c.H * c.N * c.P), nan)};
  SsdArguments<T> a{.x = {x.data(), {1, c.T, c.H, c.P}},
                    .dt = {dt.data(), {1, c.T, c.H}},
                    .A = {A.data(), {c.H}},
                    .B = {B.data(), {1, c.T, c.G, c.N}},
                    .C = {C.data(), {1, c.T, c.G, c.N}},
                    .y = {out.y.data(), {1, c.T, c.H, c.P}},
                    .final_state = {out.state.data(), {1, c.H, c.N, c.P}}};
  if (!D.empty()) a.D = {D.data(), {c.H}};
  if (!state.empty()) a.state = {state.data(), {1, c.H, c.N, c.P}};
  test::must_run<SsdDoor>(a, way);
  return out;
}

TYPED_TEST(Ssd, WorkedVector) {
  const Case worked{.T = 5, .N = 2, .x = {1, 2, -1, .5, 3}, .dt = {.5, .1, 1, .25, 2}, .A = {-.8}, .B = {1, 0, .5, .5, 0, 1, 1, -1, .2, .3},
                    .C = {1, 1, 0, 1, 2, -1, .5, .5, 1, 0}, .D = {.5}, .state = {.3, -.2}};
  for (const Way& way : test::ways_of<SsdDoor>(5)) {
    const auto out = run<TypeParam>(worked, way);
    EXPECT_LE(worst(out.y, {1.067032004603564, 0.976243321638772, 1.182145648455859, -0.026296666591421, 2.780733776642617}),
              tolerance<TypeParam>())
        << way;
    EXPECT_LE(worst(out.state, {1.280733776642618, 1.607699553520706}), tolerance<TypeParam>()) << way;
  }
}

// The state keeps one value per step: y = C (decay S + dt B x) + D x. The step multiplies the write, not the skip.
TYPED_TEST(Ssd, DecaysThenWritesThenReadsAndSkips) {
  for (const Way& way : test::ways_of<SsdDoor>(1)) {
    const auto out = run<TypeParam>({.x = {3}, .dt = {2}, .A = {0}, .B = {5}, .C = {7}, .D = {11}, .state = {1}}, way);
    EXPECT_EQ(out.state, std::vector<TypeParam>{31}) << way;
    EXPECT_EQ(out.y, std::vector<TypeParam>{250}) << way;
  }
}

TYPED_TEST(Ssd, TwoGroupsServeFourHeadsInPairs) {
  for (const Way& way : test::ways_of<SsdDoor>(1)) {
    const Case c{.H = 4, .G = 2, .x = {1, 2, 3, 4}, .dt = {1, 1, 1, 1}, .A = {0, 0, 0, 0}, .B = {1, 10}, .C = {1, 1}};
    EXPECT_EQ(run<TypeParam>(c, way).y, (std::vector<TypeParam>{1, 2, 30, 40})) << way;
  }
}

TYPED_TEST(Ssd, StrongDecayInAChunk) {
  const std::size_t n = 64;
  const Case c{.T = 64, .x = Values(n, 1), .dt = Values(n, 1), .A = {-1000}, .B = Values(n, 1), .C = Values(n, 1), .state = {1e30}};
  for (const Way& way : test::ways_of<SsdDoor>(64)) EXPECT_EQ(run<TypeParam>(c, way).y, std::vector<TypeParam>(n, 1)) << way;
}

TYPED_TEST(Ssd, RecycledSlotIsAsZeros) {
  for (const Way& way : test::ways_of<SsdDoor>(1))
    EXPECT_EQ(run<TypeParam>({.x = {3}, .dt = {2}, .A = {-1}, .B = {5}, .C = {7}}, way).state, std::vector<TypeParam>{30}) << way;
}

TEST(SsdRefusals, NameTheArgumentTheAxisAndBothNumbers) {
  Tensor<double, 4> wide({2, 4, 1, 5}), three({2, 4, 3, 3});
  auto message = [&](auto change) {
    SsdDoor::Tensors<double> tensors({2, 4, 2, 1, 3, 5}, 26);
    auto a = tensors.arguments();
    change(a);
    const Status status = ssd(a);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(std::isnan(tensors.y.data()[0])) << "outputs are untouched when refused";
    return status.message();
  };
  using A = SsdArguments<double>;
  EXPECT_EQ(message([&](A& a) { a.C = wide.view(); }), "ssd: N differs: B has 3, C has 5");
  EXPECT_EQ(message([&](A& a) { a.B = three.view(), a.C = three.view(); }), "ssd: H is 2, not a multiple of G, which is 3");
  EXPECT_EQ(message([&](A& a) { a.dt = {}; }), "ssd: dt is missing; it is [B,T,H]");
  EXPECT_EQ(message([&](A& a) { a.form = Form::parallel_scan; }),
            "ssd: form parallel-scan is not one of reference, recurrent, chunked, explicit");
}

TEST(SsdRefusals, AGrowingStateIsRefusedUnlessAllowed) {
  SsdDoor::Tensors<double> tensors({2, 4, 2, 1, 3, 5}, 27);
  tensors.dt.view()(1, 2, 1) = -.5;
  tensors.A.view()(1) = -.5;
  auto a = tensors.arguments();
  EXPECT_EQ(ssd(a).message(), "ssd: dt A is 0.25 at batch 1, token 2, head 1; a log decay is at most 0 unless growth is allowed");
  a.allow_growth = true;
  EXPECT_TRUE(ssd(a).ok());
}

}  // namespace
}  // namespace linearmem
