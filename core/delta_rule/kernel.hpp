// What the SIMD kernel sees: raw pointers to rows without gaps inside, those of V values padded to whole vectors, a state in the kernel's own tile order or as it lies.
#pragma once

#include <cstdint>

#include "foundation/ahead_rows.hpp"
#include "foundation/carried_decay.hpp"
#include "foundation/rounding_format.hpp"

namespace linearmem::delta {

// Tokens handed to the kernel at a time: long enough to hide the call, short enough that a browser's compiler
// replaces its first-tier code soon.
constexpr std::int64_t kBlockTokens = 32;

template <typename T>
struct KernelBlock {
  const T* q;  // [tokens,K], rows q_stride apart, normalized
  std::int64_t q_stride;
  const T* k;  // [tokens,K], rows k_stride apart, normalized
  std::int64_t k_stride;
  T scale;         // multiplies the outputs
  const CarriedDecay<T>* carried;  // [tokens]; where k_decayed is given, ones
  const T* decay;      // [tokens,K], exp(g), where k_decayed is given
  const T* k_decayed;  // [tokens,K], k times decay, which reads the state before it has decayed; null: one decay per token
  const Rounding<T>* rounding;  // the narrower format of the state, which needs k_decayed; null: T
  bool pairs;  // tokens may go two at a time, where the processor gains from it, which rounds otherwise than one by one; not with k_decayed
  const T* beta;   // [tokens]
  const T* v;      // [tokens,V], rows v_stride apart
  std::int64_t v_stride;
  T* o;  // [tokens,V], rows o_stride apart
  std::int64_t o_stride;
  T* reads;  // [tokens,V] or null
  std::int64_t reads_stride;
  T* state;  // K * padded_columns<T>(V) values in tile order (foundation/column_tiles.hpp)
  std::int64_t state_stride;  // 0; or the state is [K,V] with rows this far apart, V a multiple of padded_columns<T>(1)
  std::int64_t tokens, K, V;
  AheadRows<T> ahead;
};

// Advances the state by the block's tokens and writes their outputs.
void kernel_block(const KernelBlock<float>& block);
void kernel_block(const KernelBlock<double>& block);

}  // namespace linearmem::delta
