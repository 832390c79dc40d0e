// One pass over a tile of state columns per step: a row is decayed, written and read while it is in registers, for several tokens
// in turn where the tile is narrow. A lane is a column of x; all rows are padded to whole vectors, so there are no tails.
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
template <typename T, int kVectors, int kTokens>
HWY_INLINE void ssd_step(const SsdBlock<T>& block, T* state, std::int64_t first, std::int64_t t) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), N = block.N;
  V write[kTokens][kVectors], y[kTokens][kVectors];
  for (int k = 0; k < kTokens; ++k)
    for (int v = 0; v < kVectors; ++v) {
      write[k][v] = S::load(block.write + (t + k) * block.row + first + v * lanes);
      y[k][v] = S::zero();
    }
  for (std::int64_t n = 0; n < N; ++n)
    for (int v = 0; v < kVectors; ++v) {
      T* at = state + (n * kVectors + v) * lanes;
      V s = S::load(at);
      for (int k = 0; k < kTokens; ++k) {
        const V add = S::multiply(S::all(block.B[(t + k) * N + n]), write[k][v]);
        s = S::multiply_add(S::all(block.decay[t + k]), s, add);
        y[k][v] = S::multiply_add(S::all(block.C[(t + k) * N + n]), s, y[k][v]);
      }
      S::store(s, at);
    }
  for (int k = 0; k < kTokens; ++k)
    for (int v = 0; v < kVectors; ++v) S::store(y[k][v], block.y + (t + k) * block.row + first + v * lanes);
}

template <typename T, int kVectors>
HWY_NOINLINE void ssd_tile(const SsdBlock<T>& block, T* state, std::int64_t first) {
  constexpr int kTokens = 2 * kTileVectors / kVectors;
  std::int64_t t = 0;
  for (; t + kTokens <= block.tokens; t += kTokens) ssd_step<T, kVectors, kTokens>(block, state, first, t);
  for (; t < block.tokens; ++t) ssd_step<T, kVectors, 1>(block, state, first, t);
}

template <typename T>
HWY_INLINE void ssd_block(const SsdBlock<T>& block) {
  each_tile<T>(block.N, block.width, [&](int vectors, std::int64_t offset, std::int64_t first, std::int64_t) HWY_ATTR {
    if constexpr (kTileVectors == 4)  // a target with narrower tiles carries no code for wide ones
      if (vectors == 4) return ssd_tile<T, 4>(block, block.S + offset, first);
    if (vectors == 2) return ssd_tile<T, 2>(block, block.S + offset, first);
    return ssd_tile<T, 1>(block, block.S + offset, first);
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
