// Every token adds the outer product of B and dt x to the decayed state and reads it with C (foundation/outer_products-inl.hpp). A lane is a
// column of x.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "selective_scan/ssd_kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/one_token-inl.hpp"
#include "foundation/outer_products-inl.hpp"
#include "foundation/simd-inl.hpp"
#include "selective_scan/ssd_kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using scan::SsdBlock;

// Reads become outputs: the skip is added, where there is one.
template <typename T>
struct Skipped {
  const SsdBlock<T>& block;
  template <int kVectors>
  HWY_INLINE void operator()(std::int64_t t, std::int64_t first, typename Simd<T>::V (&y)[kVectors]) const {
    using S = Simd<T>;
    if (!block.skip) return;
    const T* x = block.x + t * block.x_stride + first;
    for (int v = 0; v < kVectors; ++v) y[v] = S::multiply_add(S::all(block.D), S::load(x + v * S::lanes()), y[v]);
  }
};

template <typename T>
HWY_INLINE void ssd_block(const SsdBlock<T>& block) {
  const OuterProducts<T> rows{.q = block.C,
                              .q_stride = block.C_stride,
                              .k = block.B,
                              .k_stride = block.B_stride,
                              .v = block.x,
                              .v_stride = block.x_stride,
                              .o = block.y,
                              .o_stride = block.y_stride,
                              .carried = block.carried,
                              .key_decay = nullptr,
                              .rounding = nullptr,
                              .tokens = block.tokens,
                              .K = block.N,
                              .ahead = block.ahead};
  if constexpr (kFetchStates) {
    if (block.tokens == 1 && block.S_stride > 0)
      return one_token(rows, block.S, block.S_stride, block.width, Skipped<T>{block});
    if (block.ahead.state)
      return pass_tiles<T, Steps<true, true, Decay::carried, false, true>>(rows, block.S, block.S_stride, block.width, Skipped<T>{block});
  }
  pass_tiles<T, Steps<true, true, Decay::carried>>(rows, block.S, block.S_stride, block.width, Skipped<T>{block});
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
