// The matrix product under every layer: sizes beside its tiles, blocks of tokens and blocks of columns; a row by itself gives the same bits.
#include <gtest/gtest.h>

#include <cstring>

#include "core/support.hpp"
#include "layers/projection.hpp"

namespace linearmem::test {
namespace {

template <typename T>
class LayerProjection : public testing::Test {};
using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(LayerProjection, Precisions);

template <typename T>
void check(std::int64_t tokens, std::int64_t from, std::int64_t to) {
  Numbers numbers(static_cast<std::uint64_t>(tokens * 1000 + from * 10 + to));
  std::vector<T> weights(static_cast<std::size_t>(to * from)), bias(static_cast<std::size_t>(to));
  for (T& value : weights) value = static_cast<T>(numbers.uniform(-1, 1));
  for (T& value : bias) value = static_cast<T>(numbers.uniform(-1, 1));
  layers::Projection<T> projection(from, to);
  projection.set_rows(weights.data(), bias.data());
  layers::Rows<T> x(tokens, from);
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t i = 0; i < from; ++i) x.row(t)[i] = static_cast<T>(numbers.uniform(-1, 1));
  const layers::Rows<T> y = projection(nullptr, x);
  double largest = 1, difference = 0;
  for (std::int64_t t = 0; t < tokens; ++t) {
    layers::Rows<T> one(1, from);
    std::copy_n(x.row(t), from, one.row(0));
    const layers::Rows<T> alone = projection(nullptr, one);
    EXPECT_EQ(std::memcmp(alone.row(0), y.row(t), sizeof(T) * to), 0) << "row " << t;
    for (std::int64_t j = 0; j < to; ++j) {
      double sum = bias[j];
      for (std::int64_t i = 0; i < from; ++i) sum += static_cast<double>(weights[j * from + i]) * static_cast<double>(x.row(t)[i]);
      largest = std::max(largest, std::abs(sum));
      const double gap = std::abs(sum - static_cast<double>(y.row(t)[j]));
      if (!(gap <= difference)) difference = gap;
    }
  }
  EXPECT_LE(difference / largest, tolerance<T>()) << tokens << " " << from << " " << to;
}

TYPED_TEST(LayerProjection, IsTheSumOfProductsAtEverySize) {
  for (std::int64_t tokens : {1, 2, 5, 6, 7, 12, 13})
    for (std::int64_t to : {1, 3, 8, 15, 16, 17, 33}) check<TypeParam>(tokens, 9, to);
  for (std::int64_t from : {1, 255, 256, 257, 513}) check<TypeParam>(3, from, 20);
  for (std::int64_t tokens : {95, 96, 97, 193}) check<TypeParam>(tokens, 260, 18);
  check<TypeParam>(0, 3, 4);
}

}  // namespace
}  // namespace linearmem::test
