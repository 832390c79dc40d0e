// What the SIMD kernel sees: packed rows padded to whole vectors, the inputs kept in front of the block's own.
#pragma once

#include <cstdint>

namespace linearmem::conv {

// Tokens handed to the kernel at a time: long enough to hide the call, short enough that a browser's compiler
// replaces its first-tier code soon.
constexpr std::int64_t kBlockTokens = 32;

template <typename T>
struct KernelBlock {
  const T* x;       // [W-1+tokens,row]
  const T* weight;  // [W,row]
  const T* bias;    // [row]
  T* y;             // [tokens,row]
  std::int64_t tokens, W, row;  // row: a multiple of padded_columns<T>(1)
  bool with_silu;
};

void kernel_block(const KernelBlock<float>& block);
void kernel_block(const KernelBlock<double>& block);

}  // namespace linearmem::conv
