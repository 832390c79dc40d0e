// A lane is a channel: every tap is one multiply-add of a row of weights and a row of inputs, oldest first. All rows are padded to
// whole vectors, so there are no tails.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "causal_conv/kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "causal_conv/kernel.hpp"
#include "foundation/activation-inl.hpp"
#include "foundation/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

// kTokens outputs at once share the load of each weight and hide each other's latency.
template <typename T, int kTokens>
HWY_INLINE void conv_tokens(const conv::KernelBlock<T>& block, std::int64_t t, std::int64_t d) {
  using S = Simd<T>;
  const std::int64_t row = block.row;
  const T* x = block.x + t * row + d;
  typename S::V sum[kTokens];
  for (int k = 0; k < kTokens; ++k) sum[k] = S::load(block.bias + d);
  for (std::int64_t j = 0; j < block.W; ++j) {
    const auto weight = S::load(block.weight + j * row + d);
    for (int k = 0; k < kTokens; ++k) sum[k] = S::multiply_add(weight, S::load(x + (j + k) * row), sum[k]);
  }
  for (int k = 0; k < kTokens; ++k) S::store(block.with_silu ? silu<T>(sum[k]) : sum[k], block.y + (t + k) * row + d);
}

template <typename T>
HWY_NOINLINE void conv_block(const conv::KernelBlock<T>& block) {
  for (std::int64_t d = 0; d < block.row; d += Simd<T>::lanes()) {
    std::int64_t t = 0;
    for (; t + 4 <= block.tokens; t += 4) conv_tokens<T, 4>(block, t, d);
    for (; t < block.tokens; ++t) conv_tokens<T, 1>(block, t, d);
  }
}

void ConvBlockF32(const conv::KernelBlock<float>& block) { conv_block(block); }
void ConvBlockF64(const conv::KernelBlock<double>& block) { conv_block(block); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(ConvBlockF32);
HWY_EXPORT(ConvBlockF64);

namespace conv {
void kernel_block(const KernelBlock<float>& block) { HWY_DYNAMIC_DISPATCH(ConvBlockF32)(block); }
void kernel_block(const KernelBlock<double>& block) { HWY_DYNAMIC_DISPATCH(ConvBlockF64)(block); }
}  // namespace conv
}  // namespace linearmem
#endif
