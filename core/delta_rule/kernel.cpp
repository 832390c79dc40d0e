// One pass per token over a tile of state columns: while row i of S is in registers for the write of token t, it also feeds
// the output of t and the error read of t+1; where it pays, two tokens a pass (two_tokens-inl.hpp). Columns are independent, so a
// lane is a value column; all rows are padded to whole vectors, so there are no tails.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "delta_rule/kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "delta_rule/kernel.hpp"
#include "delta_rule/one_token-inl.hpp"
#include "delta_rule/token_ends-inl.hpp"
#include "delta_rule/two_tokens-inl.hpp"
#include "foundation/column_tiles-inl.hpp"
#include "foundation/rounding-inl.hpp"
#include "foundation/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using delta::KernelBlock;

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

// AVX-512 stores the halves of a vector faster than the whole.
template <typename T>
HWY_INLINE void store_state(typename Simd<T>::V value, T* to) {
#if HWY_TARGET == HWY_AVX3
  const hn::Half<typename Simd<T>::Tag> half;
  hn::StoreU(hn::LowerHalf(half, value), half, to);
  hn::StoreU(hn::UpperHalf(half, value), half, to + Simd<T>::lanes() / 2);
#else
  Simd<T>::store(value, to);
#endif
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
      store_state<T>(s, at + c * lanes);
      output[c] = S::multiply_add(q_i, s, output[c]);
      read[c] = S::multiply_add(next_i, s, read[c]);
    }
  }
}

// kByKey: each key component has its own decay. kFetch: the next head's state is asked for. read: token t's on entry, the next one's on return.
template <typename T, int kVectors, bool kByKey, bool kRounded, bool kFetch>
HWY_INLINE void advance(const KernelBlock<T>& block, const Tile<T>& tile, std::int64_t t, const T* k_next, typename Simd<T>::V (&read)[kVectors]) {
  fetch_ahead(block.ahead, tile, t, 1, block.tokens);
  typename Simd<T>::V write[kVectors], output[kVectors];
  begin_token<T, kVectors>(block, tile, t, read, write);
  clear<T, kVectors>(output);
  clear<T, kVectors>(read);
  if (kByKey)
    write_rows<T, kVectors, Decay::by_key, kRounded, kFetch>(block, tile, t, k_next, write, output, read);
  else if (block.carried[t].state != T{1})
    write_rows<T, kVectors, Decay::by_token, kRounded, kFetch>(block, tile, t, k_next, write, output, read);
  else
    write_rows<T, kVectors, Decay::none, kRounded, kFetch>(block, tile, t, k_next, write, output, read);
  end_token<T, kVectors>(block, tile, t, output);
}

template <typename T, int kVectors, bool kByKey, bool kRounded, bool kFetch = false>
HWY_NOINLINE void tile_block(const KernelBlock<T>& block, const Tile<T>& tile) {
  const T* read_keys = kByKey ? block.k_decayed : block.k;
  const std::int64_t read_stride = kByKey ? block.K : block.k_stride;
  typename Simd<T>::V read[kVectors];
  read_rows<T, kVectors, kFetch>(block, tile, read_keys, read);
  for (std::int64_t t = 0; t < block.tokens; ++t)
    advance<T, kVectors, kByKey, kRounded, kFetch>(block, tile, t, read_keys + (t + 1 < block.tokens ? t + 1 : t) * read_stride, read);
}

template <typename T, int kVectors>
HWY_NOINLINE void tile_block_in_pairs(const KernelBlock<T>& block, const Tile<T>& tile, const T* products) {
  typename Simd<T>::V read[2][kVectors];
  read_two<T, kVectors>(block, tile, read);
  std::int64_t t = 0;
  for (; t + 1 < block.tokens; t += 2) {
    fetch_ahead(block.ahead, tile, t, 2, block.tokens);
    advance_two<T, kVectors>(block, tile, t, products[t + 1], read);
  }
  if (t < block.tokens) advance<T, kVectors, false, false, false>(block, tile, t, block.k + t * block.k_stride, read[0]);
}

template <typename T, int kVectors>
HWY_INLINE void tile_of(const KernelBlock<T>& block, const Tile<T>& tile, [[maybe_unused]] const T* products) {
  if constexpr (kTwoTokens)
    if (products) return tile_block_in_pairs<T, kVectors>(block, tile, products);
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
  T products[delta::kBlockTokens];
  const bool pairs = kTwoTokens && block.pairs;
  if (pairs) pair_products(block, products);
  each_state_tile<T>(block.state, block.state_stride, block.K, block.V, [&](int vectors, const Tile<T>& tile) HWY_ATTR {
    if constexpr (kTileVectors == 4)  // a target with narrower tiles carries no code for wide ones
      if (vectors == 4) return tile_of<T, 4>(block, tile, pairs ? products : nullptr);
    if (vectors == 2) return tile_of<T, 2>(block, tile, pairs ? products : nullptr);
    return tile_of<T, 1>(block, tile, pairs ? products : nullptr);
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
