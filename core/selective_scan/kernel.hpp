// What the SIMD kernel of the elementwise scan sees: rows without gaps, raw pointers.
#pragma once

#include <cstdint>

namespace linearmem::scan {

// Tokens handed to a kernel at a time: long enough to hide the call, short enough that a browser's compiler
// replaces its first-tier code soon.
constexpr std::int64_t kBlockTokens = 64;

template <typename T>
struct Rows {
  T* data;
  std::int64_t stride;  // from one token to the next
};

template <typename T>
struct ScanBlock {
  Rows<const T> x, a, b, c;  // [tokens,D]
  Rows<T> y;                 // [tokens,D]
  T* h;                      // [D]
  std::int64_t tokens, D;
};

// Advances the state by the block's tokens and writes their outputs.
void kernel_block(const ScanBlock<float>& block);
void kernel_block(const ScanBlock<double>& block);

}  // namespace linearmem::scan
