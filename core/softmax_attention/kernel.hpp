// What the SIMD kernel sees: packed queries, the keys that are not masked in transposed tiles, their values in padded rows.
#pragma once

#include <cstdint>

namespace linearmem::softmax {

constexpr std::int64_t kTileKeys = 64;
// Queries handed to the kernel at a time: a browser's compiler replaces its first-tier code only between calls.
constexpr std::int64_t kBlockQueries = 48;

template <typename T>
struct KernelBlock {
  const T* q;                 // [queries,K], scaled and over ln 2: a score is an exponent of 2
  const T* keys;              // tiles of [K,kTileKeys], zero-filled past the last key
  const T* values;            // [keys,row], zero-filled past V
  const std::int64_t* first;  // [queries], first key seen
  const std::int64_t* end;    // [queries], one past the last key seen
  T* o;                       // [queries,row]
  std::int64_t queries, K;
  std::int64_t row;  // padded_columns<T>(V)
};

// The outputs of the block's queries; 0 where none is seen.
void kernel_block(const KernelBlock<float>& block);
void kernel_block(const KernelBlock<double>& block);

}  // namespace linearmem::softmax
