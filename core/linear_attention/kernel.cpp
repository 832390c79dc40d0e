// Every token adds the outer product of its key and value to the state and reads it (foundation/outer_products-inl.hpp); there a lane is a
// value column. The normalizer z goes first: there a lane is a key component.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear_attention/kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/exp-inl.hpp"
#include "foundation/one_token-inl.hpp"
#include "foundation/outer_products-inl.hpp"
#include "foundation/rounding-inl.hpp"
#include "foundation/simd-inl.hpp"
#include "foundation/tail-inl.hpp"
#include "linear_attention/kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using linear::KernelBlock;

// Some lanes of z through token t; what they add to its denominator.
template <typename T>
HWY_INLINE typename Simd<T>::V advance_z(const KernelBlock<T>& block, std::int64_t t, std::int64_t i, std::int64_t count) {
  using S = Simd<T>;
  const auto part = [&](const T* row) HWY_ATTR { return count == S::lanes() ? S::load(row + i) : load_some(row + i, count); };
  auto z = part(block.z);
  if (block.k) {
    if (block.decay) z = S::multiply(block.by_key ? part(block.decay + t * block.K) : S::all(block.decay[t]), z);
    z = S::add(z, part(block.k + t * block.k_stride));
    if (block.rounding) z = rounded_lanes<T>(*block.rounding, z);
    if (count == S::lanes())
      S::store(z, block.z + i);
    else
      store_some<T>(z, block.z + i, count);
  }
  return block.q ? S::multiply(part(block.q + t * block.q_stride), z) : S::zero();
}

template <typename T>
HWY_NOINLINE void advance_denominators(const KernelBlock<T>& block) {
  using S = Simd<T>;
  for (std::int64_t t = 0; t < block.tokens; ++t) {
    auto sum = S::zero();
    for (std::int64_t i = 0; i < block.K; i += S::lanes())
      sum = S::add(sum, advance_z(block, t, i, block.K - i < S::lanes() ? block.K - i : S::lanes()));
    block.denominators[t] = S::sum(sum) + block.eps;
  }
}

// What reads of the state become: divided by the denominators, where they are normalized.
template <typename T>
struct Normalized {
  const KernelBlock<T>& block;
  template <int kVectors>
  HWY_INLINE void operator()(std::int64_t t, std::int64_t, typename Simd<T>::V (&output)[kVectors]) const {
    using S = Simd<T>;
    if (!block.normalize) return;
    const T denominator = block.denominators[t];
    for (int c = 0; c < kVectors; ++c) output[c] = denominator == T{0} ? S::zero() : S::divide(output[c], S::all(denominator));
  }
};

template <typename T>
HWY_INLINE OuterProducts<T> outer_products(const KernelBlock<T>& block) {
  return {.q = block.q,
          .q_stride = block.q_stride,
          .k = block.k,
          .k_stride = block.k_stride,
          .v = block.v,
          .v_stride = block.v_stride,
          .o = block.o,
          .o_stride = block.o_stride,
          .carried = block.carried,
          .key_decay = block.by_key ? block.decay : nullptr,
          .rounding = block.rounding,
          .tokens = block.tokens,
          .K = block.K,
          .ahead = block.ahead};
}

template <typename T, typename Do>
HWY_INLINE void linear_pass(const KernelBlock<T>& block) {
  pass_tiles<T, Do>(outer_products(block), block.state, block.state_stride, block.V, Normalized<T>{block});
}

template <typename T>
HWY_INLINE void linear_block(const KernelBlock<T>& block) {
  if (block.z) advance_denominators(block);
  if (!block.k) return linear_pass<T, Steps<false, true>>(block);
  if (!block.q && block.rounding) return linear_pass<T, Steps<true, false, Decay::by_key, true>>(block);
  if (!block.q) return linear_pass<T, Steps<true, false>>(block);
  if (block.rounding) return linear_pass<T, Steps<true, true, Decay::by_key, true>>(block);
  if (block.decay && block.by_key) return linear_pass<T, Steps<true, true, Decay::by_key>>(block);
  if constexpr (kFetchStates) {
    if (block.tokens == 1 && block.state_stride > 0)
      return one_token(outer_products(block), block.state, block.state_stride, block.V, Normalized<T>{block});
    if (block.ahead.state)
      return block.decay ? linear_pass<T, Steps<true, true, Decay::carried, false, true>>(block)
                         : linear_pass<T, Steps<true, true, Decay::none, false, true>>(block);
  }
  if (block.decay) return linear_pass<T, Steps<true, true, Decay::carried>>(block);
  return linear_pass<T, Steps<true, true>>(block);
}

template <typename T>
HWY_INLINE void elu1(T* values, std::int64_t count) {
  using S = Simd<T>;
  for (std::int64_t at = 0; at < count; at += S::lanes()) {
    const auto x = S::load(values + at);
    S::store(S::select_less(S::zero(), x, S::add(x, S::all(T{1})), exp_up_to_zero<T>(x)), values + at);
  }
}

template <typename T>
HWY_INLINE void relu(T* values, std::int64_t count) {
  using S = Simd<T>;
  for (std::int64_t at = 0; at < count; at += S::lanes()) {
    const auto x = S::load(values + at);
    S::store(S::select_less(x, S::zero(), S::zero(), x), values + at);  // in this order NaN stays NaN
  }
}

void LinearBlockF32(const KernelBlock<float>& block) { linear_block(block); }
void LinearBlockF64(const KernelBlock<double>& block) { linear_block(block); }
void LinearElu1F32(float* values, std::int64_t count) { elu1(values, count); }
void LinearElu1F64(double* values, std::int64_t count) { elu1(values, count); }
void LinearReluF32(float* values, std::int64_t count) { relu(values, count); }
void LinearReluF64(double* values, std::int64_t count) { relu(values, count); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(LinearBlockF32);
HWY_EXPORT(LinearBlockF64);
HWY_EXPORT(LinearElu1F32);
HWY_EXPORT(LinearElu1F64);
HWY_EXPORT(LinearReluF32);
HWY_EXPORT(LinearReluF64);

namespace linear {
void kernel_block(const KernelBlock<float>& block) { HWY_DYNAMIC_DISPATCH(LinearBlockF32)(block); }
void kernel_block(const KernelBlock<double>& block) { HWY_DYNAMIC_DISPATCH(LinearBlockF64)(block); }
void kernel_elu1(float* values, std::int64_t count) { HWY_DYNAMIC_DISPATCH(LinearElu1F32)(values, count); }
void kernel_elu1(double* values, std::int64_t count) { HWY_DYNAMIC_DISPATCH(LinearElu1F64)(values, count); }
void kernel_relu(float* values, std::int64_t count) { HWY_DYNAMIC_DISPATCH(LinearReluF32)(values, count); }
void kernel_relu(double* values, std::int64_t count) { HWY_DYNAMIC_DISPATCH(LinearReluF64)(values, count); }
}  // namespace linear
}  // namespace linearmem
#endif
