// The elementwise selective scan: agreement of the forms, invariance, meaning, refusals.
#include "linearmem/selective_scan.hpp"

#include <gtest/gtest.h>

#include "core/carried_state.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using test::Way;

struct ScanDoor {
  static constexpr Form kForms[] = {Form::reference, Form::recurrent, Form::chunked, Form::explicit_, Form::parallel_scan};

  struct Shape {
    std::int64_t B, T, D, sequences = B;
    bool slow = false;  // decays close to 1: rounding adds up over thousands of tokens
  };

  template <typename T>
  struct Tensors {
    Tensors(const Shape& s, std::uint64_t seed)
        : x({s.B, s.T, s.D}), a(x), b(x), c(x), y(x), state({s.sequences, s.D}), final_state(state) {
      Numbers numbers(seed);
      x.fill(numbers, -1, 1);
      a.fill(numbers, s.slow ? .999 : -1, 1);
      b.fill(numbers, -1, 1);
      c.fill(numbers, -1, 1);
      state.fill(numbers, -1, 1);
    }
    auto inputs() { return std::tie(x, a, b, c, state); }
    SelectiveScanArguments<T> arguments() {
      return {.x = x.view(),
              .a = a.view(),
              .b = b.view(),
              .c = c.view(),
              .state = state.view(),
              .y = y.view(),
              .final_state = final_state.view()};
    }
    SelectiveScanArguments<T> packed(const std::vector<std::int64_t>& offsets) {
      SelectiveScanArguments<T> packed = arguments();
      packed.cu_seqlens = {offsets.data(), {static_cast<std::int64_t>(offsets.size())}};
      return packed;
    }

    Guarded<T, 3> x, a, b, c, y;
    Guarded<T, 2> state, final_state;
  };

  template <typename T>
  static Status call(const SelectiveScanArguments<T>& a) {
    return selective_scan(a);
  }
  template <typename T, typename Visit>
  static void each_token_view(SelectiveScanArguments<T>& a, Visit visit) {
    visit(a.x), visit(a.a), visit(a.b), visit(a.c), visit(a.y);
  }
  template <typename T, typename Visit>
  static void each_input(SelectiveScanArguments<T>& a, Visit visit) {
    visit(a.x), visit(a.a), visit(a.b), visit(a.c), visit(a.state);
  }
};

template <typename T>
class SelectiveScan : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(SelectiveScan, Precisions);

TYPED_TEST(SelectiveScan, EveryFormAgreesWithTheReference) {
  for (const ScanDoor::Shape& shape :
       {ScanDoor::Shape{1, 1, 1}, {2, 9, 3}, {1, 65, 17}, {3, 64, 1}, {1, 130, 33}, {2, 7, 64}, {1, 0, 4}, {1, 5, 0}, {0, 5, 2}})
    test::forms_agree<ScanDoor, TypeParam>(shape, 11, test::ways_of<ScanDoor>(shape.T));
}

TYPED_TEST(SelectiveScan, EveryFormAgreesOver4096Tokens) {
  test::forms_agree<ScanDoor, TypeParam>({1, 4096, 3}, 12,
                                         test::ways({Form::recurrent, Form::explicit_, Form::parallel_scan}, {0, 1, 1000, 4096, 4097}));
}

TYPED_TEST(SelectiveScan, EveryFormAgreesOver4096TokensThatFadeSlowly) {
  test::forms_agree<ScanDoor, TypeParam>({.B = 1, .T = 4096, .D = 3, .slow = true}, 18,
                                         test::ways({Form::recurrent, Form::explicit_, Form::parallel_scan}, {0, 1, 4097}));
}

TYPED_TEST(SelectiveScan, EverySplitOfTheRecurrentFormGivesTheSameBits) {
  for (std::int64_t split = 0; split <= 70; ++split) test::split_equals_whole<ScanDoor, TypeParam>({2, 70, 19}, 13, split);
}

TYPED_TEST(SelectiveScan, PackedSequencesEqualEachAloneBitForBit) {
  for (const Way& way : test::ways_of<ScanDoor>(12))
    test::packed_equals_alone<ScanDoor, TypeParam>({1, 12, 7, 5}, 14, {0, 0, 3, 3, 11, 12}, way);
}

TYPED_TEST(SelectiveScan, BatchRowsEqualEachAloneBitForBit) { test::batch_equals_alone<ScanDoor, TypeParam>({3, 10, 5}, 15); }

TYPED_TEST(SelectiveScan, NoLeakBetweenPackedSequences) {
  for (std::int64_t sick : {0, 1, 2}) test::nan_stays_in_its_sequence<ScanDoor, TypeParam>({1, 11, 5, 3}, {0, 4, 7, 11}, sick);
}

TYPED_TEST(SelectiveScan, StridedViewsEqualPackedCopies) { test::strides_change_nothing<ScanDoor, TypeParam>({2, 9, 21}); }

TYPED_TEST(SelectiveScan, StateMayBeUpdatedInPlace) { test::state_may_be_updated_in_place<ScanDoor, TypeParam>({2, 8, 5}); }

// h: 3, then .5 3 + 2 1 = 3.5, then 0 3.5 - 1 4 = -4: a decay of 0 forgets even an infinite state's successor exactly.
TYPED_TEST(SelectiveScan, DecaysThenWritesThenReads) {
  const std::vector<TypeParam> x = {1, 4}, a = {.5, 0}, b = {2, -1}, c = {10, 100}, before = {3};
  for (const Way& way : test::ways_of<ScanDoor>(2)) {
    std::vector<TypeParam> y(2), last(1);
    const Extents<3> e = {1, 2, 1};
    test::must_run<ScanDoor>(SelectiveScanArguments<TypeParam>{.x = {x.data(), e},
                                                               .a = {a.data(), e},
                                                               .b = {b.data(), e},
                                                               .c = {c.data(), e},
                                                               .state = {before.data(), {1, 1}},
                                                               .y = {y.data(), e},
                                                               .final_state = {last.data(), {1, 1}}},
                             way);
    EXPECT_EQ(y, (std::vector<TypeParam>{35, -400})) << way;
    EXPECT_EQ(last, std::vector<TypeParam>{-4}) << way;
  }
}

TYPED_TEST(SelectiveScan, RecycledSlotIsAsZeros) {
  for (const Way& way : test::ways_of<ScanDoor>(3)) {
    ScanDoor::Tensors<TypeParam> zeros({1, 3, 5}, 16), recycled({1, 3, 5}, 16);
    for (std::int64_t d = 0; d < 5; ++d) zeros.state.data()[d] = 0;
    auto reset = recycled.arguments();
    reset.state = {};
    test::must_run<ScanDoor>(zeros.arguments(), way);
    test::must_run<ScanDoor>(reset, way);
    EXPECT_TRUE(recycled.y.same_bits(zeros.y) && recycled.final_state.same_bits(zeros.final_state)) << way;
  }
}

TEST(SelectiveScanRefusals, NameTheArgumentTheAxisAndBothNumbers) {
  Tensor<double, 3> narrow({2, 4, 2});
  Tensor<double, 2> three({3, 5});
  const std::vector<std::int64_t> offsets = {0, 4};
  auto message = [&](auto change) {
    ScanDoor::Tensors<double> tensors({2, 4, 5}, 17);
    auto a = tensors.arguments();
    change(a);
    const Status status = selective_scan(a);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(std::isnan(tensors.y.data()[0])) << "outputs are untouched when refused";
    return status.message();
  };
  using A = SelectiveScanArguments<double>;
  EXPECT_EQ(message([&](A& a) { a.c = narrow.view(); }), "selective_scan: D differs: x has 5, c has 2");
  EXPECT_EQ(message([&](A& a) { a.state = three.view(); }), "selective_scan: N differs: x has 2, state has 3");
  EXPECT_EQ(message([&](A& a) { a.a = {}; }), "selective_scan: a is missing; it is [B,T,D]");
  EXPECT_EQ(message([&](A& a) {
              a.cu_seqlens = {offsets.data(), {2}};
            }),
            "selective_scan: cu_seqlens packs its sequences in one row: B is 2, must be 1");
  EXPECT_EQ(message([&](A& a) { a.form = Form::streaming; }),
            "selective_scan: form streaming is not one of reference, recurrent, chunked, explicit, parallel-scan");
  EXPECT_EQ(message([&](A& a) {
              a.chunk = 8;
              a.form = Form::parallel_scan;
            }),
            "selective_scan: chunk is 8, but form is parallel-scan, not chunked");
}

// One value shown at every place of a huge array: what a form would have to allocate is refused with its byte count.
TEST(SelectiveScanRefusals, SizeOverflowIsRefusedWithTheByteCountBeforeAllocating) {
  double value = 0;
  const Extents<3> huge = {1, std::int64_t{1} << 40, std::int64_t{1} << 20}, still = {0, 0, 0};
  const View<const double, 3> in(&value, huge, still);
  const Status status = selective_scan(
      SelectiveScanArguments<double>{.x = in, .a = in, .b = in, .c = in, .form = Form::parallel_scan, .y = {&value, huge, still}});
  EXPECT_EQ(status.code(), StatusCode::out_of_memory);
  EXPECT_NE(status.message().find("[2,1099511627776,1048576] needs 18446744073709551615 bytes"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace linearmem
