// What the SIMD kernel sees: packed rows, raw pointers, a state in the kernel's own tile order.
#pragma once

#include <cstdint>

namespace linearmem::delta {

// Tokens handed to the kernel at a time: long enough to hide the call, short enough that a browser's compiler
// replaces its first-tier code soon.
constexpr std::int64_t kBlockTokens = 64;

template <typename T>
struct KernelBlock {
  const T* q;      // [tokens,K], normalized and scaled
  const T* k;      // [tokens,K], normalized
  const T* decay;  // [tokens], exp(g)
  const T* beta;   // [tokens]
  const T* v;      // [tokens,V], rows v_stride apart
  std::int64_t v_stride;
  T* o;  // [tokens,V], rows o_stride apart
  std::int64_t o_stride;
  T* reads;  // [tokens,V] or null
  std::int64_t reads_stride;
  T* state;  // K * padded_columns<T>(V) values, tile after tile
  std::int64_t tokens, K, V;
};

// Advances the state by the block's tokens and writes their outputs.
void kernel_block(const KernelBlock<float>& block);
void kernel_block(const KernelBlock<double>& block);

// Between a packed [K,V] matrix and the kernel's tile order.
void kernel_load_state(const float* packed, float* state, std::int64_t K, std::int64_t V);
void kernel_load_state(const double* packed, double* state, std::int64_t K, std::int64_t V);
void kernel_store_state(const float* state, float* packed, std::int64_t K, std::int64_t V);
void kernel_store_state(const double* state, double* packed, std::int64_t K, std::int64_t V);

}  // namespace linearmem::delta
