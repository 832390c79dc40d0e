// What the SIMD kernel of the Mamba scan sees: packed rows padded to whole vectors, parameters and state in tile order.
#pragma once

#include <cstdint>

namespace linearmem::scan {

// Rows without gaps inside, `stride` apart.
template <typename T>
struct MambaRows {
  const T* first;
  std::int64_t stride;
  const T* operator[](std::int64_t t) const { return first + t * stride; }
};

template <typename T>
struct MambaBlock {
  MambaRows<T> u, delta, z, B, C;  // z.first null: no gate
  T* y;
  std::int64_t y_stride;
  const T* D;       // [row], zeros when absent
  const T* bias;    // [row], zeros when absent
  const T* A;       // N * row values in tile order (foundation/column_tiles.hpp), N rows of channels
  const T* A_size;  // [row]: the largest |A| of a channel
  T* h;             // in tile order
  T *step, *write, *read;  // [tokens,row], the kernel's own
  std::int64_t tokens, N, channels;
  std::int64_t row;  // padded_columns<T>(channels)
  bool with_softplus;
};

// Advances the state by the block's tokens and writes their outputs.
void kernel_block(const MambaBlock<float>& block);
void kernel_block(const MambaBlock<double>& block);

// The same where A and the state lie, channel by channel, and rows as they are: for so few tokens that tiles of channels do not pay.
// Same bits.
template <typename T>
struct MambaFew {
  using Rows = MambaRows<T>;
  Rows u, delta, z, B, C;  // z.first null: no gate
  const T* D;              // [channels], or null
  const T* bias;           // the same
  Rows A;                  // rows of N
  T* h;                    // rows of N, h_stride apart
  std::int64_t h_stride;
  T* y;
  std::int64_t y_stride;
  std::int64_t tokens, N, channels;
  bool with_softplus;
};

constexpr std::int64_t kMambaFewTokens = 4;
constexpr std::int64_t kMambaBlockTokens = 16;
void kernel_few(const MambaFew<float>& few);
void kernel_few(const MambaFew<double>& few);

}  // namespace linearmem::scan
