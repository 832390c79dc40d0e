// Named tensors: exact widening, rounding, kinds and sizes.
#include "linearmem/named_tensors.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace linearmem {
namespace {

template <typename Stored>
NamedTensor raw(DType dtype, std::vector<std::int64_t> shape, const std::vector<Stored>& stored) {
  NamedTensor tensor{.dtype = dtype, .shape = std::move(shape), .bytes = std::vector<std::byte>(stored.size() * sizeof(Stored))};
  if (!stored.empty()) std::memcpy(tensor.bytes.data(), stored.data(), tensor.bytes.size());
  return tensor;
}

template <typename T = double>
std::vector<T> widened(DType dtype, const std::vector<std::uint16_t>& bits) {
  const auto values = floating_values<T>("x", raw(dtype, {static_cast<std::int64_t>(bits.size())}, bits));
  EXPECT_TRUE(values.ok()) << values.status().message();
  return values.ok() ? values.value() : std::vector<T>{};
}

TEST(NamedTensors, DTypeNamesAreTheFilesSpellingAndRoundTrip) {
  for (DType dtype : {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i64, DType::i32, DType::boolean})
    EXPECT_EQ(dtype_named(dtype_name(dtype)), dtype);
  EXPECT_EQ(dtype_name(DType::boolean), "BOOL");
  EXPECT_EQ(dtype_bytes(DType::bf16), 2);
  EXPECT_FALSE(dtype_named("f32").has_value());
  EXPECT_TRUE(is_floating(DType::f16));
  EXPECT_FALSE(is_floating(DType::i32));
}

// A half's value from its definition, for every one of the 65536 patterns.
double half_by_definition(std::uint16_t bits) {
  const double sign = bits >> 15 ? -1 : 1;
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 31) return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return exponent == 0 ? sign * std::ldexp(mantissa, -24) : sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(NamedTensors, EveryHalfWidensExactly) {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  const auto doubles = widened<double>(DType::f16, bits);
  const auto floats = widened<float>(DType::f16, bits);
  ASSERT_EQ(doubles.size(), bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const double expected = half_by_definition(bits[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(doubles[i]) && std::isnan(floats[i])) << i;
      continue;
    }
    ASSERT_EQ(doubles[i], expected) << i;
    ASSERT_EQ(floats[i], expected) << i;
    ASSERT_EQ(std::signbit(doubles[i]), i >= 32768) << i;
  }
}

TEST(NamedTensors, Bfloat16IsTheUpperHalfOfAFloat) {
  const auto values = widened(DType::bf16, {0x3f80, 0xc040, 0x0001, 0x7f7f, 0x8000, 0x7f80, 0x7fc0});
  ASSERT_EQ(values.size(), 7u);
  EXPECT_EQ(values[0], 1.0);
  EXPECT_EQ(values[1], -3.0);
  EXPECT_EQ(values[2], std::ldexp(1.0, -133));
  EXPECT_EQ(values[3], std::ldexp(255.0, 120));
  EXPECT_TRUE(values[4] == 0 && std::signbit(values[4]));
  EXPECT_TRUE(std::isinf(values[5]));
  EXPECT_TRUE(std::isnan(values[6]));
}

TEST(NamedTensors, NarrowingRoundsToNearestEven) {
  const double tie_to_even = 1 + 0x1p-24, tie_up = 1 + 3 * 0x1p-24, above = 1 + 0x1p-24 + 0x1p-50;
  const auto values = floating_values<float>("x", raw<double>(DType::f64, {5}, {tie_to_even, tie_up, above, 1e300, -1e-300}));
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values.value()[0], 1.0f);
  EXPECT_EQ(values.value()[1], 1 + 0x1p-22f);
  EXPECT_EQ(values.value()[2], 1 + 0x1p-23f);
  EXPECT_TRUE(std::isinf(values.value()[3]));
  EXPECT_TRUE(values.value()[4] == 0 && std::signbit(values.value()[4]));
}

TEST(NamedTensors, RoundTripKeepsEveryBit) {
  const std::vector<double> values = {__builtin_bit_cast(double, 0x7ff8000000000123ull), -0.0, 5e-324, 1.0 / 3};
  const NamedTensor tensor = to_named(values, {2, 2});
  EXPECT_EQ(tensor.dtype, DType::f64);
  EXPECT_EQ(tensor.size(), 4);
  const auto back = floating_values<double>("x", tensor);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(std::memcmp(back.value().data(), values.data(), sizeof(double) * values.size()), 0);
  EXPECT_EQ(to_named(std::vector<float>{1}, {}).dtype, DType::f32);
  EXPECT_EQ(to_named(std::vector<std::int64_t>{}, {0}).dtype, DType::i64);
  EXPECT_EQ(to_named(std::vector<std::uint8_t>{1}, {1}).dtype, DType::boolean);
}

TEST(NamedTensors, IntegersAndBooleans) {
  const auto wide = integer_values("ids", raw<std::int64_t>(DType::i64, {2}, {std::numeric_limits<std::int64_t>::min(), 40000}));
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide.value(), (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), 40000}));
  const auto narrow = integer_values("ids", raw<std::int32_t>(DType::i32, {2}, {-1, 7}));
  ASSERT_TRUE(narrow.ok());
  EXPECT_EQ(narrow.value(), (std::vector<std::int64_t>{-1, 7}));
  const auto mask = boolean_values("mask", raw<std::uint8_t>(DType::boolean, {2}, {1, 0}));
  ASSERT_TRUE(mask.ok());
  EXPECT_EQ(mask.value(), (std::vector<std::uint8_t>{1, 0}));
}

TEST(NamedTensors, RefusesWrongKindsSizesAndBooleans) {
  EXPECT_EQ(floating_values<float>("q", raw<std::int64_t>(DType::i64, {1}, {1})).status().message(),
            "q: must be floating (F64, F32, BF16, F16), is I64");
  EXPECT_EQ(integer_values("cu", raw<double>(DType::f64, {1}, {1})).status().message(), "cu: must be integer (I64, I32), is F64");
  EXPECT_EQ(boolean_values("mask", raw<std::int32_t>(DType::i32, {1}, {1})).status().message(), "mask: must be BOOL, is I32");
  EXPECT_EQ(boolean_values("mask", raw<std::uint8_t>(DType::boolean, {2}, {1, 7})).status().message(),
            "mask: element 1 is 7; a BOOL is 0 or 1");
  EXPECT_EQ(floating_values<double>("q", raw<double>(DType::f64, {3}, {1, 2})).status().message(),
            "q: its shape and dtype F64 need 24 bytes, it has 16");
  EXPECT_EQ(floating_values<double>("q", raw<double>(DType::f64, {-1}, {})).status().message(), "q: axis 0 has a negative size, -1");
  const auto huge = floating_values<double>("q", raw<double>(DType::f64, {std::int64_t{1} << 31, std::int64_t{1} << 31}, {}));
  EXPECT_EQ(huge.status().code(), StatusCode::out_of_memory);
}

}  // namespace
}  // namespace linearmem
