// One pass per two or more tokens over a tile of state columns: row i of the tile takes its decay and its write and feeds the output of
// each while it is in registers. A lane is a value column; rows are padded to whole vectors, so there are no tails. The normalizer z
// goes first: there a lane is a key component.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear_attention/kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/column_tiles-inl.hpp"
#include "foundation/exp-inl.hpp"
#include "foundation/rounding-inl.hpp"
#include "foundation/simd-inl.hpp"
#include "foundation/tail-inl.hpp"
#include "linear_attention/kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using linear::KernelBlock;

enum class Decay { none, by_token, by_key };

// What a pass does to each row of the state, in this order: decay, write, round, read.
template <bool kWrite_, bool kRead_, Decay kDecay_ = Decay::none, bool kRound_ = false>
struct Steps {
  static constexpr Decay kDecay = kDecay_;
  static constexpr bool kWrite = kWrite_, kRound = kRound_, kRead = kRead_;
};

// Tokens [t, t + kTokens) in order: each has row i to itself before the next. kVectors vectors of columns. kFetch: the next head's state
// is asked for.
template <typename T, int kVectors, int kTokens, typename Do, bool kFetch>
HWY_INLINE void linear_step(const KernelBlock<T>& block, const Tile<T>& tile, std::int64_t t) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), K = block.K, row = tile.row;
  V value[kTokens][kVectors], output[kTokens][kVectors], decay[kTokens];
  const T *k[kTokens], *q[kTokens], *decays[kTokens];
  for (int n = 0; n < kTokens; ++n) {
    if constexpr (Do::kWrite) k[n] = block.k + (t + n) * block.k_stride;
    if constexpr (Do::kRead) q[n] = block.q + (t + n) * block.q_stride;
    if constexpr (Do::kDecay == Decay::by_token) decay[n] = S::all(block.decay[t + n]);
    if constexpr (Do::kDecay == Decay::by_key) decays[n] = block.decay + (t + n) * K;
    for (int c = 0; c < kVectors; ++c) {
      if constexpr (Do::kWrite) value[n][c] = S::load(block.v + (t + n) * block.v_stride + tile.first + c * lanes);
      output[n][c] = S::zero();
    }
  }
  T* at = tile.state;
  for (std::int64_t i = 0; i < K; ++i, at += row) {
    if constexpr (kFetch) fetch_state<T, kVectors, 1>(block.ahead, tile, K, i, 0);
    for (int c = 0; c < kVectors; ++c) {
      V s = S::load(at + c * lanes);
      for (int n = 0; n < kTokens; ++n) {
        if constexpr (Do::kDecay == Decay::by_token) s = S::multiply(decay[n], s);
        if constexpr (Do::kDecay == Decay::by_key) s = S::multiply(S::all(decays[n][i]), s);
        if constexpr (Do::kWrite) s = S::multiply_add(S::all(k[n][i]), value[n][c], s);
        if constexpr (Do::kRound) s = rounded_lanes<T>(*block.rounding, s);
        if constexpr (Do::kRead) output[n][c] = S::multiply_add(S::all(q[n][i]), s, output[n][c]);
      }
      if constexpr (Do::kWrite) S::store(s, at + c * lanes);
    }
  }
  if constexpr (Do::kRead)
    for (int n = 0; n < kTokens; ++n) {
      const T denominator = block.denominators[t + n];
      const V over = S::all(denominator);
      for (int c = 0; c < kVectors; ++c) {
        if (block.normalize) output[n][c] = denominator == T{0} ? S::zero() : S::divide(output[n][c], over);
        S::store(output[n][c], block.o + (t + n) * block.o_stride + tile.first + c * lanes);
      }
    }
}

// Several tokens at once, so that a row is loaded and stored once for all of them. The order of each sum stays.
template <typename T, int kVectors, typename Do, bool kFetch = false>
HWY_NOINLINE void linear_tile(const KernelBlock<T>& block, const Tile<T>& tile) {
  constexpr int kTokens = 2 * kTileVectors / kVectors;
  std::int64_t t = 0;
  for (; t + kTokens <= block.tokens; t += kTokens) {
    for (int n = 0; n < kTokens; ++n) fetch_ahead(block.ahead, tile, t + n);
    linear_step<T, kVectors, kTokens, Do, kFetch>(block, tile, t);
  }
  for (; t < block.tokens; ++t) linear_step<T, kVectors, 1, Do, kFetch>(block, tile, t);
}

template <typename T, int kVectors>
HWY_INLINE void linear_tile_of(const KernelBlock<T>& block, const Tile<T>& tile) {
  if (!block.k) return linear_tile<T, kVectors, Steps<false, true>>(block, tile);
  if (!block.q && block.rounding) return linear_tile<T, kVectors, Steps<true, false, Decay::by_key, true>>(block, tile);
  if (!block.q) return linear_tile<T, kVectors, Steps<true, false>>(block, tile);
  if (block.rounding) return linear_tile<T, kVectors, Steps<true, true, Decay::by_key, true>>(block, tile);
  if (block.decay && block.by_key) return linear_tile<T, kVectors, Steps<true, true, Decay::by_key>>(block, tile);
  if constexpr (kFetchStates)
    if (block.ahead.state)
      return block.decay ? linear_tile<T, kVectors, Steps<true, true, Decay::by_token>, true>(block, tile)
                         : linear_tile<T, kVectors, Steps<true, true>, true>(block, tile);
  if (block.decay) return linear_tile<T, kVectors, Steps<true, true, Decay::by_token>>(block, tile);
  return linear_tile<T, kVectors, Steps<true, true>>(block, tile);
}

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

template <typename T>
HWY_INLINE void linear_tiles(const KernelBlock<T>& block) {
  advance_denominators(block);
  each_state_tile<T>(block.state, block.state_stride, block.K, block.V, [&](int vectors, const Tile<T>& tile) HWY_ATTR {
    if constexpr (kTileVectors == 4)  // a target with narrower tiles carries no code for wide ones
      if (vectors == 4) return linear_tile_of<T, 4>(block, tile);
    if (vectors == 2) return linear_tile_of<T, 2>(block, tile);
    return linear_tile_of<T, 1>(block, tile);
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
