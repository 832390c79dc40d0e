// Tiles of matrices as tensor cores take them: sums [16,8] += left [16,16] right [16,8], left and right in bfloat16, sums in float32. A tile
// is spread over the 32 lanes of a warp as the instruction mma.m16n8k16 has it (PTX ISA, "Matrix Fragments for mma.m16n8k16"): lane l holds
//   left    columns 2(l%4), +1 of row l/4, of row l/4 + 8, and of both rows 8 columns further right: four pairs, in this order
//   right   rows 2(l%4), +1 of column l/4, and the two rows 8 further down: two pairs
//   sums    columns 2(l%4), +1 of row l/4, and of row l/4 + 8: four numbers
// block.multiply(pick) does it for every warp of a block: pick(thread) says which registers of the thread hold its parts.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/block.hpp"

namespace linearmem::cuda {

using BFloat = std::uint16_t;                       // the bits of a bfloat16
using Pair LINEARMEM_MAY_ALIAS = std::uint32_t;     // two of them, the first in the low half

struct LeftTile {
  std::uint32_t at[4];
};
struct RightTile {
  std::uint32_t at[2];
};
struct SumTile {
  float at[4];
};

// The registers of one thread that a multiplication takes.
struct Product {
  float* sums;
  const std::uint32_t *left, *right;
};

// Where number i of a thread's SumTile lies.
LINEARMEM_INLINE int sum_row(int thread, int i) { return thread % 32 / 4 + i / 2 * 8; }
LINEARMEM_INLINE int sum_column(int thread, int i) { return thread % 4 * 2 + i % 2; }

LINEARMEM_INLINE std::uint32_t pair_at(const BFloat* first) { return *reinterpret_cast<const Pair*>(first); }
LINEARMEM_INLINE void put_pair(BFloat* first, std::uint32_t pair) { *reinterpret_cast<Pair*>(first) = pair; }

// Eight numbers, where both places are 16-byte aligned.
struct alignas(16) Eight {
  BFloat at[8];
};
LINEARMEM_INLINE void copy_eight(const BFloat* from, BFloat* to) { *reinterpret_cast<Eight*>(to) = *reinterpret_cast<const Eight*>(from); }

LINEARMEM_INLINE float widened(std::uint32_t bits) {
  bits <<= 16;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// The tile whose element (row, column) is first[row * stride + column].
LINEARMEM_INLINE LeftTile left_tile(const BFloat* first, int stride, int thread) {
  const BFloat* at = first + thread % 32 / 4 * stride + thread % 4 * 2;
  return {{pair_at(at), pair_at(at + 8 * stride), pair_at(at + 8), pair_at(at + 8 * stride + 8)}};
}

// The tile whose element (row, column) is first[column * stride + row].
LINEARMEM_INLINE LeftTile turned_left_tile(const BFloat* first, int stride, int thread) {
  const BFloat* at = first + thread % 4 * 2 * stride + thread % 32 / 4;
  const auto pair = [&](const BFloat* upper) { return upper[0] | static_cast<std::uint32_t>(upper[stride]) << 16; };
  return {{pair(at), pair(at + 8), pair(at + 8 * stride), pair(at + 8 * stride + 8)}};
}

// The tile whose element (row, column) is first[column * stride + row].
LINEARMEM_INLINE RightTile right_tile(const BFloat* first, int stride, int thread) {
  const BFloat* at = first + thread % 32 / 4 * stride + thread % 4 * 2;
  return {{pair_at(at), pair_at(at + 8)}};
}

}  // namespace linearmem::cuda
