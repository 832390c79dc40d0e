// What the SIMD kernel sees: packed rows, raw pointers, a state in tile order.
#pragma once

#include <cstdint>

#include "foundation/rounding_format.hpp"

namespace linearmem::linear {

// Tokens handed to the kernel at a time: long enough to hide the call, short enough that a browser's compiler
// replaces its first-tier code soon.
constexpr std::int64_t kBlockTokens = 64;

template <typename T>
struct KernelBlock {
  const T* q;       // [tokens,K], features; null: only write
  const T* k;       // [tokens,K], features, zeros where masked; null: only read
  const T* decay;   // [tokens,K], exp(g) for each key component, ones where masked; null: no decay
  const Rounding<T>* rounding;  // the narrower format of the state, which needs decay; null: T
  const T* values;  // [tokens,padded_columns<T>(columns)], zeros where masked and past the columns
  T* outputs;       // the same shape
  T* state;         // K * padded_columns<T>(columns) values in tile order (foundation/column_tiles.hpp)
  std::int64_t tokens, K, columns;
  std::int64_t row;  // padded_columns<T>(columns)
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
