// A warp's multiplication on emulated tensor cores: the tiles that the loaders make are the matrices meant, and numbers are rounded to
// bfloat16 to nearest even.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "cuda/emulator.hpp"

namespace linearmem {
namespace {

using test::EmulatedBlock;

constexpr int kStride = 24;

cuda::BFloat bits_of(float x) { return static_cast<cuda::BFloat>(EmulatedBlock::pair(x, 0)); }

// Element (row, column) of a matrix that stands in rows of kStride, as it is or turned.
struct Matrix {
  alignas(16) cuda::BFloat at[32 * kStride] = {};
  float operator()(int row, int column) const { return cuda::widened(at[row * kStride + column]); }
};

Matrix whole_numbers(int factor) {
  Matrix matrix;
  for (int i = 0; i < 32 * kStride; ++i) matrix.at[i] = bits_of(static_cast<float>(i * factor % 31 - 15));
  return matrix;
}

enum class Left { straight, turned };

std::vector<float> product(Left how, const Matrix& left, const Matrix& right) {
  EmulatedBlock block(0, {.threads = 64, .shared_bytes = 16}, test::Order::shuffled);
  EmulatedBlock::Registers<cuda::LeftTile> a(block);
  EmulatedBlock::Registers<cuda::RightTile> b(block);
  EmulatedBlock::Registers<cuda::SumTile> d(block);
  std::vector<float> out(2 * 16 * 8, std::nanf(""));
  block.each_apart([&](int thread) {
    a[thread] = how == Left::straight ? cuda::left_tile(left.at, kStride, thread) : cuda::turned_left_tile(left.at, kStride, thread);
    b[thread] = cuda::right_tile(right.at, kStride, thread);
    d[thread] = {{1, 1, 1, 1}};
  });
  block.multiply([&](int thread) { return cuda::Product{d[thread].at, a[thread].at, b[thread].at}; });
  block.each_apart([&](int thread) {
    for (int i = 0; i < 4; ++i)
      out[static_cast<std::size_t>((thread / 32 * 16 + cuda::sum_row(thread, i)) * 8 + cuda::sum_column(thread, i))] = d[thread].at[i];
  });
  return out;
}

TEST(CudaTensorTile, EveryWarpMultipliesTheTilesThatTheLoadersTake) {
  const Matrix left = whole_numbers(7), right = whole_numbers(11);
  for (Left how : {Left::straight, Left::turned}) {
    const std::vector<float> got = product(how, left, right);
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        float expected = 1;
        for (int k = 0; k < 16; ++k) expected += (how == Left::straight ? left(row, k) : left(k, row)) * right(column, k);
        for (int warp : {0, 1}) EXPECT_EQ(got[static_cast<std::size_t>((warp * 16 + row) * 8 + column)], expected) << row << " " << column;
      }
  }
}

// The table of the PTX ISA at single places: which register of which lane holds a number that stands alone.
TEST(CudaTensorTile, LanesHoldWhatTheInstructionExpects) {
  const struct {
    int row, column, lane, reg, half;
  } places[] = {{0, 0, 0, 0, 0}, {0, 1, 0, 0, 1}, {1, 0, 4, 0, 0}, {8, 2, 1, 1, 0}, {7, 9, 28, 2, 1}, {15, 15, 31, 3, 1}};
  for (const auto& place : places) {
    Matrix one;
    one.at[place.row * kStride + place.column] = bits_of(1);
    for (int lane = 0; lane < 32; ++lane)
      for (int reg = 0; reg < 4; ++reg)
        EXPECT_EQ(cuda::left_tile(one.at, kStride, lane).at[reg], lane == place.lane && reg == place.reg ? 0x3f80u << 16 * place.half : 0u);
  }
  Matrix one;
  one.at[5 * kStride + 11] = bits_of(1);  // row 11 of column 5: the second pair of lane 4 * 5 + (11 - 8) / 2
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(cuda::right_tile(one.at, kStride, lane).at[0], 0u);
    EXPECT_EQ(cuda::right_tile(one.at, kStride, lane).at[1], lane == 21 ? 0x3f800000u : 0u);
  }
}

TEST(CudaTensorTile, RoundsToNearestEven) {
  EXPECT_EQ(EmulatedBlock::pair(1, -2), 0xc0003f80u);
  EXPECT_EQ(bits_of(1 + 0x1p-8f), 0x3f80);             // half way, down to even
  EXPECT_EQ(bits_of(1 + 3 * 0x1p-8f), 0x3f82);         // half way, up to even
  EXPECT_EQ(bits_of(1 + 0x1p-8f + 0x1p-20f), 0x3f81);  // above half way
  EXPECT_EQ(bits_of(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(cuda::widened(bits_of(std::nanf("")))));
  for (float x : {3.0f, -0.15625f, 1e-30f}) EXPECT_LE(std::abs(cuda::widened(bits_of(x)) - x), std::abs(x) * 0x1p-9f);
}

}  // namespace
}  // namespace linearmem
