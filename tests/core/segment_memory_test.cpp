// Segment memory: which rows are kept, and that they are copies.
#include "linearmem/segment_memory.hpp"

#include <gtest/gtest.h>

#include "core/carried_state.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;

template <typename T>
class SegmentMemory : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(SegmentMemory, Precisions);

template <typename T>
std::vector<T> rows_of(const std::vector<double>& ids, std::int64_t width) {
  std::vector<T> values;
  for (double id : ids)
    for (std::int64_t d = 0; d < width; ++d) values.push_back(static_cast<T>(id + static_cast<double>(d) / 8));
  return values;
}

TYPED_TEST(SegmentMemory, KeepsTheNewestRows) {
  const auto first = rows_of<TypeParam>({1, 2, 3, 4, 5, 11, 12, 13, 14, 15}, 7),
             second = rows_of<TypeParam>({6, 7, 8, 9, 16, 17, 18, 19}, 7);
  std::vector<TypeParam> memory(2 * 3 * 7), next(memory.size());
  const Extents<3> kept = {2, 3, 7};
  ASSERT_TRUE(
      segment_memory({.hidden = View<const TypeParam, 3>(first.data(), {2, 5, 7}), .limit = 3, .new_memory = {memory.data(), kept}}).ok());
  EXPECT_EQ(memory, rows_of<TypeParam>({3, 4, 5, 13, 14, 15}, 7));
  ASSERT_TRUE(segment_memory({.hidden = View<const TypeParam, 3>(second.data(), {2, 4, 7}), .memory = {memory.data(), kept}, .limit = 3,
                              .new_memory = {next.data(), kept}}).ok());
  EXPECT_EQ(next, rows_of<TypeParam>({7, 8, 9, 17, 18, 19}, 7));
}

TYPED_TEST(SegmentMemory, OldRowsStayWhileThereIsRoom) {
  const auto old = rows_of<TypeParam>({1, 2, 3}, 2), fresh = rows_of<TypeParam>({4}, 2);
  for (const auto& [limit, expected] : std::vector<std::pair<std::optional<std::int64_t>, std::vector<double>>>{
           {0, {}}, {1, {4}}, {2, {3, 4}}, {3, {2, 3, 4}}, {4, {1, 2, 3, 4}}, {50, {1, 2, 3, 4}}, {std::nullopt, {1, 2, 3, 4}}}) {
    const std::int64_t rows = segment_memory_rows(3, 1, limit);
    ASSERT_EQ(rows, static_cast<std::int64_t>(expected.size()));
    std::vector<TypeParam> kept(static_cast<std::size_t>(rows * 2));
    ASSERT_TRUE(segment_memory({.hidden = View<const TypeParam, 3>(fresh.data(), {1, 1, 2}),
                                .memory = {old.data(), {1, 3, 2}},
                                .limit = limit,
                                .new_memory = {kept.data(), {1, rows, 2}}})
                    .ok());
    EXPECT_EQ(kept, rows_of<TypeParam>(expected, 2));
  }
}

TYPED_TEST(SegmentMemory, MayStandWhereTheOldMemoryStood) {
  for (std::int64_t fresh_rows : {0, 1, 2, 3, 5}) {
    Guarded<TypeParam, 3> memory({2, 3, 5}), apart({2, 3, 5}), fresh({2, fresh_rows, 5});
    Numbers numbers(61);
    memory.fill(numbers, -1, 1);
    fresh.fill(numbers, -1, 1);
    ASSERT_TRUE(
        segment_memory({.hidden = View<const TypeParam, 3>(fresh.view()), .memory = memory.view(), .limit = 3, .new_memory = apart.view()})
            .ok());
    ASSERT_TRUE(
        segment_memory({.hidden = View<const TypeParam, 3>(fresh.view()), .memory = memory.view(), .limit = 3, .new_memory = memory.view()})
            .ok());
    EXPECT_TRUE(memory.same_bits(apart)) << fresh_rows;
  }
}

// A copy is a constant: whatever becomes of the segment afterwards does not reach the memory.
TYPED_TEST(SegmentMemory, IsACopyThatTheSegmentNoLongerReaches) {
  auto hidden = rows_of<TypeParam>({1, 2}, 3);
  std::vector<TypeParam> memory(6);
  ASSERT_TRUE(
      segment_memory({.hidden = View<const TypeParam, 3>(hidden.data(), {1, 2, 3}), .new_memory = {memory.data(), {1, 2, 3}}}).ok());
  for (TypeParam& value : hidden) value += 1;
  EXPECT_EQ(memory, rows_of<TypeParam>({1, 2}, 3));
}

// Every size against rows counted from the end; NaN in rows that are dropped stays out, strides are honoured.
TYPED_TEST(SegmentMemory, HoldsForTwoThousandRandomShapes) {
  Numbers numbers(62);
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t B = numbers.whole(1, 3), M = numbers.whole(0, 6), T = numbers.whole(0, 6), D = numbers.whole(1, 9),
                       limit = numbers.whole(0, 13);
    const std::int64_t rows = std::min(limit, M + T), dropped = M + T - rows;
    std::list<std::vector<TypeParam>> owners;
    const View<TypeParam, 3> memory = test::spread_room<TypeParam>(View<TypeParam, 3>(nullptr, {B, M, D}), owners);
    const View<TypeParam, 3> hidden = test::spread_room<TypeParam>(View<TypeParam, 3>(nullptr, {B, T, D}), owners);
    const View<TypeParam, 3> kept = test::spread_room<TypeParam>(View<TypeParam, 3>(nullptr, {B, rows, D}), owners);
    const auto id = [&](std::int64_t b, std::int64_t row, std::int64_t d) { return static_cast<TypeParam>(1 + row + 20 * d + 200 * b); };
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t row = dropped; row < M + T; ++row)
        for (std::int64_t d = 0; d < D; ++d) (row < M ? memory(b, row, d) : hidden(b, row - M, d)) = id(b, row, d);
    ASSERT_TRUE(segment_memory({.hidden = View<const TypeParam, 3>(hidden), .memory = memory, .limit = limit, .new_memory = kept}).ok());
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t d = 0; d < D; ++d) ASSERT_EQ(kept(b, row, d), id(b, row + dropped, d)) << i;
  }
}

TEST(SegmentMemoryRefusals, NameTheArgumentTheAxisAndBothNumbers) {
  Tensor<double, 3> hidden({2, 4, 5}), memory({2, 3, 6}), kept({2, 3, 5});
  const auto message = [](const SegmentMemoryArguments<double>& a) { return segment_memory(a).message(); };
  EXPECT_EQ(message({.hidden = hidden.view(), .memory = memory.view(), .limit = 3, .new_memory = kept.view()}),
            "segment_memory: D differs: hidden has 5, memory has 6");
  EXPECT_EQ(message({.hidden = hidden.view(), .limit = -1, .new_memory = kept.view()}), "segment_memory: limit is -1, must be at least 0");
  EXPECT_EQ(message({.hidden = hidden.view(), .limit = 2, .new_memory = kept.view()}), "segment_memory: R is 3, but 2 rows are kept");
  EXPECT_EQ(message({.hidden = {}, .new_memory = kept.view()}), "segment_memory: hidden is missing; it is [B,T,D]");
  EXPECT_EQ(message({.hidden = hidden.view(), .limit = 3, .form = Form::recurrent, .new_memory = kept.view()}),
            "segment_memory: form recurrent is not one of reference");
}

TEST(SegmentMemoryRows, CannotOverflow) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(segment_memory_rows(most, most, std::nullopt), most);
  EXPECT_EQ(segment_memory_rows(most, 1, most), most);
  EXPECT_EQ(segment_memory_rows(5, most, 3), 3);
}

}  // namespace
}  // namespace linearmem
