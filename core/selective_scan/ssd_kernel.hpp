// What the SIMD kernel of ssd sees: raw pointers to rows without gaps inside, those of P values padded to whole vectors, a state in
// tile order or as it lies.
#pragma once

#include <cstdint>

#include "foundation/ahead_rows.hpp"
#include "foundation/carried_decay.hpp"

namespace linearmem::scan {

constexpr std::int64_t kSsdBlockTokens = 48;  // tokens handed to the kernel at a time: see linear_attention/kernel.hpp

template <typename T>
struct SsdBlock {
  const T* B;  // [tokens,N], rows B_stride apart
  std::int64_t B_stride;
  const T* C;  // [tokens,N], rows C_stride apart
  std::int64_t C_stride;
  const CarriedDecay<T>* carried;  // [tokens], of exp(dt A), writes times dt
  const T* x;      // [tokens,width], rows x_stride apart
  std::int64_t x_stride;
  T* y;  // [tokens,width], rows y_stride apart: C S, with the skip D x where there is one
  std::int64_t y_stride;
  T D;
  bool skip;
  T* S;                   // N * padded_columns<T>(width) values in tile order (foundation/column_tiles.hpp)
  std::int64_t S_stride;  // 0; or S is [N,width] with rows this far apart, width a multiple of padded_columns<T>(1)
  std::int64_t tokens, N, width;
  AheadRows<T> ahead;
};

// Advances the state by the block's tokens and writes their outputs.
void kernel_block(const SsdBlock<float>& block);
void kernel_block(const SsdBlock<double>& block);

}  // namespace linearmem::scan
