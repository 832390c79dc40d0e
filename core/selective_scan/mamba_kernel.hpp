// What the SIMD kernel of the Mamba scan sees: packed rows padded to whole vectors, parameters and state in tile order.
#pragma once

#include <cstdint>

namespace linearmem::scan {

template <typename T>
struct MambaBlock {
  T* u;            // [tokens,row], used up: the kernel keeps its own numbers there
  T* delta;        // the same
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
  bool decaying;  // no step times A is above 0
};

// Advances the state by the block's tokens and writes their outputs.
void kernel_block(const MambaBlock<float>& block);
void kernel_block(const MambaBlock<double>& block);

// The same where A and the state lie, channel by channel, and rows as they are: for so few tokens that tiles of channels do not pay.
// Same bits.
template <typename T>
struct MambaFew {
  // Rows without gaps inside, `stride` apart.
  struct Rows {
    const T* first;
    std::int64_t stride;
    const T* operator[](std::int64_t t) const { return first + t * stride; }
  };
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
