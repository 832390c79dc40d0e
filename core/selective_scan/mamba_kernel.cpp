// One exponential per state value and token is nearly all the work, so it runs in vectors: a lane is a channel, and the N rows of
// a tile of channels are decayed, written and read in one pass. All rows are padded to whole vectors, so there are no tails.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "selective_scan/mamba_kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/activation-inl.hpp"
#include "foundation/column_tiles-inl.hpp"
#include "selective_scan/mamba_kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using scan::MambaBlock;

template <typename T, int kVectors>
HWY_NOINLINE void mamba_tile(const MambaBlock<T>& block, std::int64_t offset, std::int64_t first) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), N = block.N;
  for (std::int64_t t = 0; t < block.tokens; ++t) {
    const std::int64_t at = t * block.row + first;
    V step[kVectors], write[kVectors], y[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      const V sum = S::add(S::load(block.delta + at + v * lanes), S::load(block.bias + first + v * lanes));
      const V u = S::load(block.u + at + v * lanes);
      step[v] = block.with_softplus ? softplus<T>(sum) : sum;
      write[v] = S::multiply(step[v], u);
      y[v] = S::multiply(S::load(block.D + first + v * lanes), u);
    }
    for (std::int64_t n = 0; n < N; ++n) {
      const V B = S::all(block.B[t * N + n]), C = S::all(block.C[t * N + n]);
      for (int v = 0; v < kVectors; ++v) {
        const std::int64_t place = offset + (n * kVectors + v) * lanes;
        const V decay = exp_any<T>(S::multiply(step[v], S::load(block.A + place)));
        const V h = S::multiply_add(decay, S::load(block.h + place), S::multiply(B, write[v]));
        S::store(h, block.h + place);
        y[v] = S::multiply_add(C, h, y[v]);
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      if (block.z) y[v] = S::multiply(y[v], silu<T>(S::load(block.z + at + v * lanes)));
      S::store(y[v], block.y + at + v * lanes);
    }
  }
}

template <typename T>
HWY_INLINE void mamba_block(const MambaBlock<T>& block) {
  each_tile<T>(block.N, block.channels, [&](int vectors, std::int64_t offset, std::int64_t first, std::int64_t) HWY_ATTR {
    if constexpr (kTileVectors == 4)  // a target with narrower tiles carries no code for wide ones
      if (vectors == 4) return mamba_tile<T, 4>(block, offset, first);
    if (vectors == 2) return mamba_tile<T, 2>(block, offset, first);
    return mamba_tile<T, 1>(block, offset, first);
  });
}

void MambaBlockF32(const MambaBlock<float>& block) { mamba_block(block); }
void MambaBlockF64(const MambaBlock<double>& block) { mamba_block(block); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(MambaBlockF32);
HWY_EXPORT(MambaBlockF64);

namespace scan {
void kernel_block(const MambaBlock<float>& block) { HWY_DYNAMIC_DISPATCH(MambaBlockF32)(block); }
void kernel_block(const MambaBlock<double>& block) { HWY_DYNAMIC_DISPATCH(MambaBlockF64)(block); }
}  // namespace scan
}  // namespace linearmem
#endif
