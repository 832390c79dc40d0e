// Tensors and views: what they count, how strides are read, and sizes that are refused before anything is allocated.
#include "linearmem/tensor.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace linearmem {
namespace {

// 17 x 16384 x 8192 doubles are 18.25 GB: more than 32 bits address, though each extent fits and 32-bit arithmetic would wrap to 1.07 GB.
TEST(Tensor, SizeOverflowIsRefusedWithTheByteCountBeforeAllocating) {
  const Extents<3> large = {17, 16384, 8192};
  const auto bytes = checked_bytes("state", large.data(), 3, 8);
  if (sizeof(void*) == 4) {
    const auto tensor = Tensor<double, 3>::create("state", large);
    EXPECT_EQ(tensor.status().code(), StatusCode::out_of_memory);
    EXPECT_EQ(tensor.status().message(), "state [17,16384,8192] needs 18253611008 bytes; this target can address 2147483647");
    EXPECT_EQ(bytes.status().message(), tensor.status().message());
  } else {
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    EXPECT_EQ(bytes.value(), 18253611008);
  }
}

TEST(Tensor, CountsPast64BitsSaturate) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto refused = Tensor<double, 3>::create("state", {most, most, 2});
  EXPECT_EQ(refused.status().code(), StatusCode::out_of_memory);
  EXPECT_NE(refused.status().message().find("needs 18446744073709551615 bytes"), std::string::npos) << refused.status().message();
}

TEST(Tensor, AnEmptyAxisNeedsNothingAndANegativeOneIsRefused) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Extents<3> empty = {most, most, 0}, negative = {2, -3, 0};
  EXPECT_EQ(checked_bytes("v", empty.data(), 3, 8).value(), 0);
  EXPECT_EQ(checked_bytes("v", negative.data(), 3, 8).status().message(), "v: axis 1 has a negative size, -3");
}

TEST(Tensor, StartsAsZerosAndIndexesRowMajor) {
  Tensor<int, 3> tensor({2, 3, 4});
  EXPECT_EQ(tensor.values(), std::vector<int>(24, 0));
  std::iota(tensor.values().begin(), tensor.values().end(), 0);
  EXPECT_EQ(tensor(1, 2, 3), 23);
  EXPECT_EQ(tensor(1, 0, 2), 14);
  EXPECT_TRUE(tensor.view().packed());
}

TEST(View, ReadsThroughItsStrides) {
  const std::vector<int> values = {0, 1, 2, 3, 4, 5};
  const View<const int, 2> transposed(values.data(), {3, 2}, {1, 3}), every_second(values.data(), {1, 3}, {6, 2});
  EXPECT_EQ(transposed(2, 1), 5);
  EXPECT_EQ(transposed(1, 0), 1);
  EXPECT_EQ(every_second(0, 2), 4);
  EXPECT_FALSE(transposed.packed());
  EXPECT_FALSE((View<const int, 2>().given()));
}

}  // namespace
}  // namespace linearmem
