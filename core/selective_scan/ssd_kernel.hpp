// What the SIMD kernel of ssd sees: packed rows, raw pointers, a state in tile order.
#pragma once

#include <cstdint>

namespace linearmem::scan {

template <typename T>
struct SsdBlock {
  const T* B;      // [tokens,N]
  const T* C;      // [tokens,N]
  const T* decay;  // [tokens], exp(dt A)
  const T* write;  // [tokens,row], dt x, zeros past the width
  T* y;            // [tokens,row], C S
  T* S;            // N * row values in tile order (foundation/column_tiles.hpp)
  std::int64_t tokens, N, width;
  std::int64_t row;  // padded_columns<T>(width)
};

// Advances the state by the block's tokens and writes what each reads from it.
void kernel_block(const SsdBlock<float>& block);
void kernel_block(const SsdBlock<double>& block);

}  // namespace linearmem::scan
