// Two tokens a pass over a tile: a row takes both writes and feeds both outputs and both error reads of the pair after, half the loads and
// stores of one token a pass. The later token's error is read from a state that lacks the earlier one's write w: there k' (S + k w) =
// k' S + (k' . k) w. Included once per target, like simd-inl.hpp.

#if defined(LINEARMEM_DELTA_RULE_TWO_TOKENS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_DELTA_RULE_TWO_TOKENS_INL_HPP
#undef LINEARMEM_DELTA_RULE_TWO_TOKENS_INL_HPP
#else
#define LINEARMEM_DELTA_RULE_TWO_TOKENS_INL_HPP
#endif

#include <cstdint>

#include "delta_rule/kernel.hpp"
#include "delta_rule/token_ends-inl.hpp"
#include "foundation/column_tiles-inl.hpp"
#include "foundation/tail-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

// Four vectors need sixteen sums and eight writes; with sixteen registers, two vectors that way are slower than four of one token.
#if HWY_TARGET == HWY_AVX3
constexpr bool kTwoTokens = true;
#else
constexpr bool kTwoTokens = false;
#endif

// products: [tokens], at the second token of each pair its key times the first one's.
template <typename T>
HWY_INLINE void pair_products(const delta::KernelBlock<T>& block, T* products) {
  using S = Simd<T>;
  const std::int64_t lanes = S::lanes();
  for (std::int64_t t = 1; t < block.tokens; t += 2) {
    const T *k = block.k + t * block.k_stride, *before = k - block.k_stride;
    auto sum = S::zero();
    std::int64_t i = 0;
    for (; i + lanes <= block.K; i += lanes) sum = S::multiply_add(S::load(k + i), S::load(before + i), sum);
    if (i < block.K) sum = S::multiply_add(load_some(k + i, block.K - i), load_some(before + i, block.K - i), sum);
    products[t] = S::sum(sum);
  }
}

template <typename T, int kVectors>
HWY_INLINE void read_two(const delta::KernelBlock<T>& block, const Tile<T>& tile, typename Simd<T>::V (&read)[2][kVectors]) {
  using S = Simd<T>;
  const T *k = block.k, *k_later = k + block.k_stride, *at = tile.state;
  for (int c = 0; c < kVectors; ++c) read[0][c] = read[1][c] = S::zero();
  for (std::int64_t i = 0; i < block.K; ++i, at += tile.row) {
    const auto k_i = S::all(k[i]), later_i = S::all(k_later[i]);
    for (int c = 0; c < kVectors; ++c) {
      const auto s = S::load(at + c * S::lanes());
      read[0][c] = S::multiply_add(k_i, s, read[0][c]);
      read[1][c] = S::multiply_add(later_i, s, read[1][c]);
    }
  }
}

// Rows of the tile through the writes of tokens t and t + 1. kDecay: one of them decays the state.
template <typename T, int kVectors, bool kDecay>
HWY_INLINE void write_two_rows(const delta::KernelBlock<T>& block, const Tile<T>& tile, std::int64_t t, const typename Simd<T>::V (&write)[2][kVectors],
                               typename Simd<T>::V (&output)[2][kVectors], typename Simd<T>::V (&read)[2][kVectors]) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), K = block.K, row = tile.row, last = block.tokens - 1;
  const T *q = block.q + t * block.q_stride, *q_later = q + block.q_stride, *k = block.k + t * block.k_stride, *k_later = k + block.k_stride;
  const T *next = block.k + (t + 2 < last ? t + 2 : last) * block.k_stride, *next_later = block.k + (t + 3 < last ? t + 3 : last) * block.k_stride;
  const V decay = S::all(block.carried[t].state), decay_later = S::all(block.carried[t + 1].state);
  T* at = tile.state;
  for (std::int64_t i = 0; i < K; ++i, at += row) {
    const V k_i = S::all(k[i]), q_i = S::all(q[i]), k_later_i = S::all(k_later[i]), q_later_i = S::all(q_later[i]);
    const V next_i = S::all(next[i]), next_later_i = S::all(next_later[i]);
    for (int c = 0; c < kVectors; ++c) {
      V s = S::load(at + c * lanes);
      if constexpr (kDecay) s = S::multiply(decay, s);
      s = S::multiply_add(k_i, write[0][c], s);
      output[0][c] = S::multiply_add(q_i, s, output[0][c]);
      if constexpr (kDecay) s = S::multiply(decay_later, s);
      s = S::multiply_add(k_later_i, write[1][c], s);
      S::store(s, at + c * lanes);
      output[1][c] = S::multiply_add(q_later_i, s, output[1][c]);
      read[0][c] = S::multiply_add(next_i, s, read[0][c]);
      read[1][c] = S::multiply_add(next_later_i, s, read[1][c]);
    }
  }
}

// Tokens t and t + 1, whose error reads are those of the state before t; read: those of the next two on return.
template <typename T, int kVectors>
HWY_INLINE void advance_two(const delta::KernelBlock<T>& block, const Tile<T>& tile, std::int64_t t, T product,
                            typename Simd<T>::V (&read)[2][kVectors]) {
  using S = Simd<T>;
  typename S::V write[2][kVectors], output[2][kVectors];
  begin_token<T, kVectors>(block, tile, t, read[0], write[0]);
  const T decay = block.carried[t].state, decay_later = block.carried[t + 1].state;
  for (int c = 0; c < kVectors; ++c) read[1][c] = S::multiply_add(S::all(product), write[0][c], S::multiply(S::all(decay), read[1][c]));
  begin_token<T, kVectors>(block, tile, t + 1, read[1], write[1]);
  for (int n = 0; n < 2; ++n) {
    clear<T, kVectors>(output[n]);
    clear<T, kVectors>(read[n]);
  }
  if (decay != T{1} || decay_later != T{1})
    write_two_rows<T, kVectors, true>(block, tile, t, write, output, read);
  else
    write_two_rows<T, kVectors, false>(block, tile, t, write, output, read);
  for (int n = 0; n < 2; ++n) end_token<T, kVectors>(block, tile, t + n, output[n]);
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
