// What a device's tensor cores do, for the emulator: rounding to bfloat16 and the instruction mma.m16n8k16, as the PTX ISA describes it.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/tensor_tile.hpp"

namespace linearmem::test {

inline std::uint32_t rounded_to_bfloat(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (x != x) return 0x7fff;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// Two numbers as bfloat16, to nearest even, the first in the low half.
inline std::uint32_t bfloat_pair(float first, float second) { return rounded_to_bfloat(first) | rounded_to_bfloat(second) << 16; }

inline double number_of_pair(std::uint32_t pair, int half) {
  const std::uint32_t bits = half == 0 ? pair << 16 : pair & 0xffff0000u;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return static_cast<double>(x);
}

// Which lane and register hold element (row, column) of which operand is the instruction's. Products are exact, and a sum is rounded once: how
// a device adds is its own affair.
inline void multiply_lanes(const cuda::Product (&lanes)[32]) {
  double a[16][16], b[16][8], d[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, in_group = lane % 4;
    for (int i = 0; i < 8; ++i)
      a[group + (i / 2 % 2 == 0 ? 0 : 8)][in_group * 2 + (i & 1) + (i < 4 ? 0 : 8)] = number_of_pair(lanes[lane].left[i / 2], i & 1);
    for (int i = 0; i < 4; ++i) b[in_group * 2 + (i & 1) + (i < 2 ? 0 : 8)][group] = number_of_pair(lanes[lane].right[i / 2], i & 1);
    for (int i = 0; i < 4; ++i) d[group + (i < 2 ? 0 : 8)][in_group * 2 + (i & 1)] = static_cast<double>(lanes[lane].sums[i]);
  }
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < 16; ++k)
      for (int column = 0; column < 8; ++column) d[row][column] += a[row][k] * b[k][column];
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) lanes[lane].sums[i] = static_cast<float>(d[(lane >> 2) + (i < 2 ? 0 : 8)][lane % 4 * 2 + (i & 1)]);
}

}  // namespace linearmem::test
