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

template <typename T>
HWY_NOINLINE void conv_block(const conv::KernelBlock<T>& block) {
  using S = Simd<T>;
  const std::int64_t lanes = S::lanes(), row = block.row;
  for (std::int64_t t = 0; t < block.tokens; ++t)
    for (std::int64_t d = 0; d < row; d += lanes) {
      auto sum = S::load(block.bias + d);
      for (std::int64_t j = 0; j < block.W; ++j)
        sum = S::multiply_add(S::load(block.weight + j * row + d), S::load(block.x + (t + j) * row + d), sum);
      S::store(block.with_silu ? silu<T>(sum) : sum, block.y + t * row + d);
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
