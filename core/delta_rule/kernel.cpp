// One pass per token over a tile of state columns: while row i of S is in registers for the write of token t, it also feeds
// the output of t and the error read of t+1. Columns are independent, so a lane is a value column; all rows
// are padded to whole vectors, so there are no tails.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "delta_rule/kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "delta_rule/kernel.hpp"
#include "delta_rule/one_token-inl.hpp"
#include "foundation/column_tiles-inl.hpp"
#include "foundation/rounding-inl.hpp"
#include "foundation/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using delta::KernelBlock;

template <typename T, int kVectors>
HWY_INLINE void store_row(const typename Simd<T>::V (&values)[kVectors], T* row) {
  for (int c = 0; c < kVectors; ++c) Simd<T>::store(values[c], row + c * Simd<T>::lanes());
}

template <typename T, int kVectors, bool kFetch>
HWY_INLINE void read_rows(const KernelBlock<T>& block, const Tile<T>& tile, const T* x, typename Simd<T>::V (&sum)[kVectors]) {
  using S = Simd<T>;
  for (int c = 0; c < kVectors; ++c) sum[c] = S::zero();
  const T* state = tile.state;
  for (std::int64_t i = 0; i < block.K; ++i, state += tile.row) {
    if constexpr (kFetch) fetch_state<T, kVectors, 2>(block.ahead.state, tile, block.K, i, 0);
    const auto x_i = S::all(x[i]);
    for (int c = 0; c < kVectors; ++c) sum[c] = S::multiply_add(x_i, S::load(state + c * S::lanes()), sum[c]);
  }
}

// How a pass treats the state before it writes to it.
enum class Decay { none, by_token, by_key };

// Rows of the tile through token t's write: s += k_i write; they feed its output and the next token's error read.
template <typename T, int kVectors, Decay kDecay, bool kRounded, bool kFetch>
HWY_INLINE void write_rows(const KernelBlock<T>& block, const Tile<T>& tile, std::int64_t t, const T* k_next,
                           const typename Simd<T>::V (&write)[kVectors], typename Simd<T>::V (&output)[kVectors],
                           typename Simd<T>::V (&read)[kVectors]) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), K = block.K, row = tile.row;
  const T *q = block.q + t * block.q_stride, *k = block.k + t * block.k_stride;
  const T* decays = kDecay == Decay::by_key ? block.decay + t * K : nullptr;
  const V decay = kDecay == Decay::by_token ? S::all(block.carried[t].state) : S::zero();
  T* at = tile.state;
  for (std::int64_t i = 0; i < K; ++i, at += row) {
    if constexpr (kFetch)
      if (t == 0) fetch_state<T, kVectors, 2>(block.ahead.state, tile, K, i, 1);
    const V k_i = S::all(k[i]), q_i = S::all(q[i]), next_i = S::all(k_next[i]), decay_i = kDecay == Decay::by_key ? S::all(decays[i]) : decay;
    for (int c = 0; c < kVectors; ++c) {
      V s = S::load(at + c * lanes);
      if constexpr (kDecay != Decay::none) s = S::multiply(decay_i, s);
      s = S::multiply_add(k_i, write[c], s);
      if constexpr (kRounded) s = rounded_lanes<T>(*block.rounding, s);
      S::store(s, at + c * lanes);
      output[c] = S::multiply_add(q_i, s, output[c]);
      read[c] = S::multiply_add(next_i, s, read[c]);
    }
  }
}

// kByKey: each key component has its own decay. kFetch: the next head's state is asked for.
template <typename T, int kVectors, bool kByKey, bool kRounded, bool kFetch = false>
HWY_NOINLINE void tile_block(const KernelBlock<T>& block, const Tile<T>& tile) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), first = tile.first;
  const T* read_keys = kByKey ? block.k_decayed : block.k;
  const std::int64_t read_stride = kByKey ? block.K : block.k_stride;
  V read[kVectors];
  read_rows<T, kVectors, kFetch>(block, tile, read_keys, read);
  for (std::int64_t t = 0; t < block.tokens; ++t) {
    fetch_ahead(block.ahead, tile, t, 1, block.tokens);
    const T* k_next = read_keys + (t + 1 < block.tokens ? t + 1 : t) * read_stride;
    const CarriedDecay<T> carried = block.carried[t];
    if constexpr (!kByKey)
      for (int c = 0; c < kVectors; ++c) read[c] = S::multiply(S::all(carried.state * carried.read), read[c]);
    if (block.reads) store_row<T, kVectors>(read, block.reads + t * block.reads_stride + first);
    const V beta = S::all(block.beta[t] * carried.write);
    const T* v = block.v + t * block.v_stride + first;
    V write[kVectors], output[kVectors];
    for (int c = 0; c < kVectors; ++c) {
      write[c] = S::multiply(beta, S::subtract(S::load(v + c * lanes), read[c]));
      output[c] = S::zero();
      read[c] = S::zero();
    }
    if (kByKey)
      write_rows<T, kVectors, Decay::by_key, kRounded, kFetch>(block, tile, t, k_next, write, output, read);
    else if (carried.state != T{1})
      write_rows<T, kVectors, Decay::by_token, kRounded, kFetch>(block, tile, t, k_next, write, output, read);
    else
      write_rows<T, kVectors, Decay::none, kRounded, kFetch>(block, tile, t, k_next, write, output, read);
    for (int c = 0; c < kVectors; ++c) output[c] = S::multiply(S::all(block.scale * carried.read), output[c]);
    store_row<T, kVectors>(output, block.o + t * block.o_stride + first);
  }
}

template <typename T, int kVectors>
HWY_INLINE void tile_of(const KernelBlock<T>& block, const Tile<T>& tile) {
  if (block.rounding) return tile_block<T, kVectors, true, true>(block, tile);
  if (block.k_decayed) return tile_block<T, kVectors, true, false>(block, tile);
  if constexpr (kFetchStates)
    if (block.ahead.state) return tile_block<T, kVectors, false, false, true>(block, tile);
  return tile_block<T, kVectors, false, false>(block, tile);
}

template <typename T>
HWY_INLINE void all_tiles(const KernelBlock<T>& block) {
  if constexpr (kFetchStates)
    if (block.tokens == 1 && block.state_stride > 0 && !block.k_decayed) return one_token(block);
  each_state_tile<T>(block.state, block.state_stride, block.K, block.V, [&](int vectors, const Tile<T>& tile) HWY_ATTR {
    if constexpr (kTileVectors == 4)  // a target with narrower tiles carries no code for wide ones
      if (vectors == 4) return tile_of<T, 4>(block, tile);
    if (vectors == 2) return tile_of<T, 2>(block, tile);
    return tile_of<T, 1>(block, tile);
  });
}

void BlockF32(const KernelBlock<float>& block) { all_tiles(block); }
void BlockF64(const KernelBlock<double>& block) { all_tiles(block); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(BlockF32);
HWY_EXPORT(BlockF64);

namespace delta {
void kernel_block(const KernelBlock<float>& block) { HWY_DYNAMIC_DISPATCH(BlockF32)(block); }
void kernel_block(const KernelBlock<double>& block) { HWY_DYNAMIC_DISPATCH(BlockF64)(block); }
}  // namespace delta
}  // namespace linearmem
#endif
