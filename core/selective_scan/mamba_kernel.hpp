// What the SIMD kernel of the Mamba scan sees: packed rows padded to whole vectors, parameters and state in tile order.
#pragma once

#include <cstdint>

namespace linearmem::scan {

template <typename T>
struct MambaBlock {
  const T* u;      // [tokens,row]
  const T* delta;  // [tokens,row]
  const T* z;      // [tokens,row] or null
  const T* B;      // [tokens,N]
  const T* C;      // [tokens,N]
  const T* D;      // [row], zeros when absent
  const T* bias;   // [row], zeros when absent
  const T* A;      // N * row values in tile order (foundation/column_tiles.hpp), N rows of channels
  T* h;            // the same
  T* y;            // [tokens,row]
  std::int64_t tokens, N, channels;
  std::int64_t row;  // padded_columns<T>(channels)
  bool with_softplus;
};

// Advances the state by the block's tokens and writes their outputs.
void kernel_block(const MambaBlock<float>& block);
void kernel_block(const MambaBlock<double>& block);

}  // namespace linearmem::scan
