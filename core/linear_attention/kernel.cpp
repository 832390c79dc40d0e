// One pass per token over a tile of state columns: row i of the tile takes its decay and its write and feeds the output while it is in
// registers. A lane is a value column; all rows are padded to whole vectors, so there are no tails.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear_attention/kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/column_tiles-inl.hpp"
#include "foundation/exp-inl.hpp"
#include "foundation/rounding-inl.hpp"
#include "foundation/simd-inl.hpp"
#include "linear_attention/kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using linear::KernelBlock;

// What a pass does to each row of the state, in this order.
template <bool kWrite_, bool kRead_, bool kDecay_ = false, bool kRound_ = false>
struct Steps {
  static constexpr bool kDecay = kDecay_, kWrite = kWrite_, kRound = kRound_, kRead = kRead_;
};

// Tokens [t, t + kTokens) in order: each has row i to itself before the next. state: the tile's rows, kVectors vectors each.
template <typename T, int kVectors, int kTokens, typename Do>
HWY_INLINE void linear_step(const KernelBlock<T>& block, T* state, std::int64_t first, std::int64_t t) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), K = block.K;
  V value[kTokens][kVectors], output[kTokens][kVectors];
  for (int n = 0; n < kTokens; ++n)
    for (int c = 0; c < kVectors; ++c) {
      if constexpr (Do::kWrite) value[n][c] = S::load(block.values + (t + n) * block.row + first + c * lanes);
      output[n][c] = S::zero();
    }
  for (std::int64_t i = 0; i < K; ++i) {
    for (int c = 0; c < kVectors; ++c) {
      T* at = state + (i * kVectors + c) * lanes;
      V s = S::load(at);
      for (int n = 0; n < kTokens; ++n) {
        if constexpr (Do::kDecay) s = S::multiply(S::all(block.decay[(t + n) * K + i]), s);
        if constexpr (Do::kWrite) s = S::multiply_add(S::all(block.k[(t + n) * K + i]), value[n][c], s);
        if constexpr (Do::kRound) s = rounded_lanes<T>(*block.rounding, s);
        if constexpr (Do::kRead) output[n][c] = S::multiply_add(S::all(block.q[(t + n) * K + i]), s, output[n][c]);
      }
      if constexpr (Do::kWrite) S::store(s, at);
    }
  }
  if constexpr (Do::kRead)
    for (int n = 0; n < kTokens; ++n)
      for (int c = 0; c < kVectors; ++c) S::store(output[n][c], block.outputs + (t + n) * block.row + first + c * lanes);
}

// A narrow tile takes several tokens at once, to have as many sums under way as a wide one. The order of each sum stays.
template <typename T, int kVectors, typename Do>
HWY_NOINLINE void linear_tile(const KernelBlock<T>& block, T* state, std::int64_t first) {
  constexpr int kTokens = 2 * kTileVectors / kVectors;
  std::int64_t t = 0;
  for (; t + kTokens <= block.tokens; t += kTokens) linear_step<T, kVectors, kTokens, Do>(block, state, first, t);
  for (; t < block.tokens; ++t) linear_step<T, kVectors, 1, Do>(block, state, first, t);
}

template <typename T, int kVectors>
HWY_INLINE void linear_tile_of(const KernelBlock<T>& block, T* state, std::int64_t first) {
  if (!block.k) return linear_tile<T, kVectors, Steps<false, true>>(block, state, first);
  if (!block.q && block.rounding) return linear_tile<T, kVectors, Steps<true, false, true, true>>(block, state, first);
  if (!block.q) return linear_tile<T, kVectors, Steps<true, false>>(block, state, first);
  if (block.rounding) return linear_tile<T, kVectors, Steps<true, true, true, true>>(block, state, first);
  if (block.decay) return linear_tile<T, kVectors, Steps<true, true, true>>(block, state, first);
  return linear_tile<T, kVectors, Steps<true, true>>(block, state, first);
}

template <typename T>
HWY_INLINE void linear_tiles(const KernelBlock<T>& block) {
  each_tile<T>(block.K, block.columns, [&](int vectors, std::int64_t offset, std::int64_t first, std::int64_t) HWY_ATTR {
    if constexpr (kTileVectors == 4)  // a target with narrower tiles carries no code for wide ones
      if (vectors == 4) return linear_tile_of<T, 4>(block, block.state + offset, first);
    if (vectors == 2) return linear_tile_of<T, 2>(block, block.state + offset, first);
    return linear_tile_of<T, 1>(block, block.state + offset, first);
  });
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

void LinearBlockF32(const KernelBlock<float>& block) { linear_tiles(block); }
void LinearBlockF64(const KernelBlock<double>& block) { linear_tiles(block); }
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
