// One pass over a tile of state columns per step: a row is decayed, written and read while it is in registers, for several tokens
// in turn. A lane is a column of x; all rows are padded to whole vectors, so there are no tails.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "selective_scan/ssd_kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/column_tiles-inl.hpp"
#include "foundation/simd-inl.hpp"
#include "selective_scan/ssd_kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using scan::SsdBlock;

// Tokens [t, t + kTokens) in order: each decays and writes row n before it reads it. Every sum keeps its order.
// kFetch: the next head's state is asked for.
template <typename T, int kVectors, int kTokens, bool kFetch>
HWY_INLINE void ssd_step(const SsdBlock<T>& block, const Tile<T>& tile, std::int64_t t) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), N = block.N, row = tile.row;
  V write[kTokens][kVectors], y[kTokens][kVectors], decay[kTokens];
  const T *B[kTokens], *C[kTokens];
  for (int k = 0; k < kTokens; ++k) {
    const V dt = S::all(block.dt[t + k]);
    decay[k] = S::all(block.decay[t + k]);
    B[k] = block.B + (t + k) * block.B_stride;
    C[k] = block.C + (t + k) * block.C_stride;
    for (int v = 0; v < kVectors; ++v) {
      write[k][v] = S::multiply(dt, S::load(block.x + (t + k) * block.x_stride + tile.first + v * lanes));
      y[k][v] = S::zero();
    }
  }
  T* at = tile.state;
  for (std::int64_t n = 0; n < N; ++n, at += row) {
    if constexpr (kFetch) fetch_state<T, kVectors, 1>(block.ahead, tile, N, n, 0);
    for (int v = 0; v < kVectors; ++v) {
      V s = S::load(at + v * lanes);
      for (int k = 0; k < kTokens; ++k) {
        s = S::multiply_add(S::all(B[k][n]), write[k][v], S::multiply(decay[k], s));
        y[k][v] = S::multiply_add(S::all(C[k][n]), s, y[k][v]);
      }
      S::store(s, at + v * lanes);
    }
  }
  for (int k = 0; k < kTokens; ++k)
    for (int v = 0; v < kVectors; ++v) {
      const T* x = block.x + (t + k) * block.x_stride + tile.first + v * lanes;
      if (block.skip) y[k][v] = S::multiply_add(S::all(block.D), S::load(x), y[k][v]);
      S::store(y[k][v], block.y + (t + k) * block.y_stride + tile.first + v * lanes);
    }
}

template <typename T, int kVectors, bool kFetch>
HWY_NOINLINE void ssd_tile(const SsdBlock<T>& block, const Tile<T>& tile) {
  constexpr int kTokens = 2 * kTileVectors / kVectors;
  std::int64_t t = 0;
  for (; t + kTokens <= block.tokens; t += kTokens) {
    for (int k = 0; k < kTokens; ++k) fetch_ahead(block.ahead, tile, t + k);
    ssd_step<T, kVectors, kTokens, kFetch>(block, tile, t);
  }
  for (; t < block.tokens; ++t) ssd_step<T, kVectors, 1, kFetch>(block, tile, t);
}

template <typename T, int kVectors>
HWY_INLINE void ssd_tile_of(const SsdBlock<T>& block, const Tile<T>& tile) {
  if constexpr (kFetchStates)
    if (block.ahead.state) return ssd_tile<T, kVectors, true>(block, tile);
  return ssd_tile<T, kVectors, false>(block, tile);
}

template <typename T>
HWY_INLINE void ssd_block(const SsdBlock<T>& block) {
  each_state_tile<T>(block.S, block.S_stride, block.N, block.width, [&](int vectors, const Tile<T>& tile) HWY_ATTR {
    if constexpr (kTileVectors == 4)  // a target with narrower tiles carries no code for wide ones
      if (vectors == 4) return ssd_tile_of<T, 4>(block, tile);
    if (vectors == 2) return ssd_tile_of<T, 2>(block, tile);
    return ssd_tile_of<T, 1>(block, tile);
  });
}

void SsdBlockF32(const SsdBlock<float>& block) { ssd_block(block); }
void SsdBlockF64(const SsdBlock<double>& block) { ssd_block(block); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(SsdBlockF32);
HWY_EXPORT(SsdBlockF64);

namespace scan {
void kernel_block(const SsdBlock<float>& block) { HWY_DYNAMIC_DISPATCH(SsdBlockF32)(block); }
void kernel_block(const SsdBlock<double>& block) { HWY_DYNAMIC_DISPATCH(SsdBlockF64)(block); }
}  // namespace scan
}  // namespace linearmem
#endif
