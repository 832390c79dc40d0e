// What the SIMD kernel sees: raw pointers to rows without gaps inside, those of V values padded to whole vectors, a state in tile order
// or as it lies.
#pragma once

#include <cstdint>

#include "foundation/ahead_rows.hpp"
#include "foundation/carried_decay.hpp"
#include "foundation/rounding_format.hpp"

namespace linearmem::linear {

// Tokens handed to the kernel at a time: long enough to hide the call, short enough that a browser's compiler replaces its first-tier
// code soon; a whole number of passes over two or three tokens.
constexpr std::int64_t kBlockTokens = 48;

template <typename T>
struct KernelBlock {
  const T* q;  // [tokens,K], rows q_stride apart, features; null: only write
  std::int64_t q_stride;
  const T* k;  // [tokens,K], rows k_stride apart, features, zeros where masked; null: only read
  std::int64_t k_stride;
  const T* decay;  // [tokens], exp(g), ones where masked; by_key: [tokens,K]; null: no decay
  bool by_key;
  const CarriedDecay<T>* carried;  // [tokens], the same decays; null: none, or by_key
  const Rounding<T>* rounding;  // the narrower format of S and z, which needs by_key; null: T
  const T* v;  // [tokens,V], rows v_stride apart, zeros where masked
  std::int64_t v_stride;
  T* o;  // [tokens,V], rows o_stride apart
  std::int64_t o_stride;
  T* z;             // [K]; null: not counted
  T* denominators;  // [tokens], room for the kernel's own use
  T eps;
  bool normalize;
  T* state;                   // as in delta_rule/kernel.hpp
  std::int64_t state_stride;  // the same
  std::int64_t tokens, K, V;
  AheadRows<T> ahead;
};

// Token by token: decay, write, then read.
void kernel_block(const KernelBlock<float>& block);
void kernel_block(const KernelBlock<double>& block);

// Features in place; count is a multiple of padded_columns<T>(1).
void kernel_elu1(float* values, std::int64_t count);
void kernel_elu1(double* values, std::int64_t count);
void kernel_relu(float* values, std::int64_t count);
void kernel_relu(double* values, std::int64_t count);

}  // namespace linearmem::linear
