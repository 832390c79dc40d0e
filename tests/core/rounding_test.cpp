// Rounding to the narrower formats a state may be kept in: every number of the format stands, halves go to even, past the end is infinity.
#include "foundation/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "linearmem/named_tensors.hpp"

namespace linearmem {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// All finite numbers of a 16-bit format from 0 up, in order, as the tensor reader widens them.
std::vector<double> positive_numbers(DType dtype, std::uint16_t infinity) {
  NamedTensor tensor{.dtype = dtype, .shape = {infinity}, .bytes = {}};
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    tensor.bytes.push_back(static_cast<std::byte>(bits & 0xff));
    tensor.bytes.push_back(static_cast<std::byte>(bits >> 8));
  }
  return floating_values<double>("", tensor).value();
}

template <typename T>
class RoundingIn : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(RoundingIn, Precisions);

template <typename T>
void expect_nearest_even(StateType type, const std::vector<double>& numbers) {
  const auto rounding = rounding_to<T>(type);
  ASSERT_TRUE(rounding.has_value());
  const auto of = [&](T x) { return static_cast<double>(rounded(*rounding, x)); };
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
    const T low = static_cast<T>(numbers[i]), high = static_cast<T>(numbers[i + 1]), half = low + (high - low) / 2;
    ASSERT_EQ(of(low), numbers[i]);
    ASSERT_EQ(of(-high), -numbers[i + 1]);
    if (half == low || half == high) continue;  // T's own smallest numbers
    ASSERT_EQ(of(half), i % 2 == 0 ? numbers[i] : numbers[i + 1]) << half;
    ASSERT_EQ(of(std::nextafter(half, T{0})), numbers[i]) << half;
    ASSERT_EQ(of(std::nextafter(half, high)), numbers[i + 1]) << half;
    ASSERT_EQ(of(-std::nextafter(half, high)), -numbers[i + 1]) << half;
  }
}

TYPED_TEST(RoundingIn, Bfloat16) { expect_nearest_even<TypeParam>(StateType::bfloat16, positive_numbers(DType::bf16, 0x7f80)); }
TYPED_TEST(RoundingIn, Float16) { expect_nearest_even<TypeParam>(StateType::float16, positive_numbers(DType::f16, 0x7c00)); }

TYPED_TEST(RoundingIn, PastTheLargestNumberIsInfinityAndNaNStays) {
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  const auto half = *rounding_to<TypeParam>(StateType::float16), brain = *rounding_to<TypeParam>(StateType::bfloat16);
  EXPECT_EQ(rounded(half, std::nextafter(TypeParam{65520}, TypeParam{0})), 65504);
  EXPECT_EQ(rounded(half, TypeParam{65520}), infinity);
  EXPECT_EQ(rounded(half, TypeParam{-1e30f}), -infinity);
  EXPECT_EQ(rounded(brain, std::nextafter(TypeParam{0x1.ffp127f}, TypeParam{0})), TypeParam{0x1.fep127f});
  EXPECT_EQ(rounded(brain, TypeParam{0x1.ffp127f}), infinity);
  for (const auto& format : {half, brain}) {
    EXPECT_EQ(rounded(format, infinity), infinity);
    EXPECT_EQ(rounded(format, -infinity), -infinity);
    EXPECT_TRUE(std::isnan(rounded(format, std::numeric_limits<TypeParam>::quiet_NaN())));
  }
}

TEST(Rounding, Float32InFloat64IsTheCast) {
  const auto rounding = *rounding_to<double>(StateType::float32);
  for (double x : {1.0 / 3, -2.0 / 3, 1e-40, -1.4e-45, 7e-46, 1e-50, 3.4028235677973366e38, 0x1.000001p0, 0x1.000003p0, 0x1.0000010000001p0,
                   0.0, 1e300, kInfinity})
    EXPECT_EQ(rounded(rounding, x), static_cast<double>(static_cast<float>(x))) << x;
}

TEST(Rounding, OnceNotTwice) {
  const double just_above_half = 1 + 0x1p-8 + 0x1p-40;  // by way of float32 it would be the half itself, and go down to even
  EXPECT_EQ(rounded(*rounding_to<double>(StateType::bfloat16), just_above_half), 1 + 0x1p-7);
}

TEST(Rounding, IsAbsentWhereNothingIsLost) {
  EXPECT_FALSE(rounding_to<double>(StateType::float64).has_value());
  EXPECT_FALSE(rounding_to<float>(StateType::float32).has_value());
  EXPECT_FALSE(rounding_to<float>(StateType::float64).has_value());
}

TEST(StateTypes, HaveNames) {
  for (StateType type : {StateType::float64, StateType::float32, StateType::bfloat16, StateType::float16})
    EXPECT_EQ(state_type_named(state_type_name(type)), type);
  EXPECT_EQ(state_type_name(StateType::bfloat16), "bf16");
  EXPECT_EQ(state_type_named("f8"), std::nullopt);
}

TEST(CheckpointCount, IsThatOfWholeStretchesInEachSequence) {
  const std::vector<std::int64_t> bounds = {0, 0, 5, 7, 12};
  const View<const std::int64_t, 1> packed(bounds.data(), {5});
  EXPECT_EQ(checkpoint_count({}, 3, 7, 2), 9);
  EXPECT_EQ(checkpoint_count({}, 3, 7, 8), 0);
  EXPECT_EQ(checkpoint_count({}, 3, 7, 0), 0);
  EXPECT_EQ(checkpoint_count(packed, 1, 12, 2), 2 + 1 + 2);
  EXPECT_EQ(checkpoint_count(packed, 1, 12, 5), 2);
}

}  // namespace
}  // namespace linearmem
