// Tokens that each add an outer product to a state and read it: s_i <- decay s_i + k_i v, o += q_i s_i over the rows i of a tile of state
// columns. A row takes the writes of several tokens, one after the other, while it is in registers. A lane is a column; rows are
// padded to whole vectors, so there are no tails. Included once per target, like simd-inl.hpp.

#if defined(LINEARMEM_FOUNDATION_OUTER_PRODUCTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_FOUNDATION_OUTER_PRODUCTS_INL_HPP
#undef LINEARMEM_FOUNDATION_OUTER_PRODUCTS_INL_HPP
#else
#define LINEARMEM_FOUNDATION_OUTER_PRODUCTS_INL_HPP
#endif

#include <cstdint>

#include "foundation/carried_decay.hpp"
#include "foundation/column_tiles-inl.hpp"
#include "foundation/rounding-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

// Rows of `tokens` tokens, each array's `stride` apart and without gaps inside.
template <typename T>
struct OuterProducts {
  const T* q;  // [tokens,K]
  std::int64_t q_stride;
  const T* k;  // [tokens,K]
  std::int64_t k_stride;
  const T* v;  // [tokens,V]
  std::int64_t v_stride;
  T* o;  // [tokens,V]
  std::int64_t o_stride;
  const CarriedDecay<T>* carried;  // [tokens], or null
  const T* key_decay;              // [tokens,K], for Decay::by_key
  const Rounding<T>* rounding;     // of the state, or null
  std::int64_t tokens, K;
  AheadRows<T> ahead;
};

enum class Decay { none, carried, by_key };

// What a pass does to each row of the state, in this order: decay, write, round, read. kFetch: it asks for the next head's state.
template <bool kWrite_, bool kRead_, Decay kDecay_ = Decay::none, bool kRound_ = false, bool kFetch_ = false>
struct Steps {
  static constexpr Decay kDecay = kDecay_;
  static constexpr bool kWrite = kWrite_, kRound = kRound_, kRead = kRead_, kFetch = kFetch_;
};

// Two vectors and three tokens: six writes, six outputs, and room for a row and its factors in sixteen registers. V8's allocator wants fewer.
#if HWY_TARGET == HWY_WASM
constexpr int kPassTokens = 2;
#else
constexpr int kPassTokens = 3;
#endif
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kPassVectors = kTileVectors;  // thirty-two registers
#else
constexpr int kPassVectors = 2;
#endif

// The rows of the tile for tokens [t, t + kTokens). kSettle: a token may multiply the state by what its decays were carried as.
template <typename T, int kVectors, int kTokens, typename Do, bool kSettle>
HWY_INLINE void pass_rows(const OuterProducts<T>& rows, const Tile<T>& tile, std::int64_t t,
                          const typename Simd<T>::V (&value)[kTokens][kVectors], typename Simd<T>::V (&output)[kTokens][kVectors]) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), K = rows.K, row = tile.row;
  const T *k[kTokens], *q[kTokens], *decays[kTokens];
  V settle[kTokens];
  for (int n = 0; n < kTokens; ++n) {
    if constexpr (Do::kWrite) k[n] = rows.k + (t + n) * rows.k_stride;
    if constexpr (Do::kRead) q[n] = rows.q + (t + n) * rows.q_stride;
    if constexpr (kSettle) settle[n] = S::all(rows.carried[t + n].state);
    if constexpr (Do::kDecay == Decay::by_key) decays[n] = rows.key_decay + (t + n) * K;
  }
  T* at = tile.state;
  for (std::int64_t i = 0; i < K; ++i, at += row) {
    if constexpr (Do::kFetch) fetch_state<T, kVectors, 1>(rows.ahead.state, tile, K, i, 0);
    V s[kVectors];
    for (int c = 0; c < kVectors; ++c) s[c] = S::load(at + c * lanes);
    for (int n = 0; n < kTokens; ++n)
      for (int c = 0; c < kVectors; ++c) {
        if constexpr (kSettle) s[c] = S::multiply(settle[n], s[c]);
        if constexpr (Do::kDecay == Decay::by_key) s[c] = S::multiply(S::all(decays[n][i]), s[c]);
        if constexpr (Do::kWrite) s[c] = S::multiply_add(S::all(k[n][i]), value[n][c], s[c]);
        if constexpr (Do::kRound) s[c] = rounded_lanes<T>(*rows.rounding, s[c]);
        if constexpr (Do::kRead) output[n][c] = S::multiply_add(S::all(q[n][i]), s[c], output[n][c]);
      }
    for (int c = 0; c < kVectors; ++c)
      if constexpr (Do::kWrite) S::store(s[c], at + c * lanes);
  }
}

// Tokens [t, t + kTokens) in order: each has row i to itself before the next. finish(t, first column, outputs) has the outputs last.
template <typename T, int kVectors, int kTokens, typename Do, typename Finish>
HWY_INLINE void pass_tokens(const OuterProducts<T>& rows, const Tile<T>& tile, std::int64_t t, const Finish& finish) {
  using S = Simd<T>;
  typename S::V value[kTokens][kVectors], output[kTokens][kVectors];
  bool settle = false;
  for (int n = 0; n < kTokens; ++n)
    for (int c = 0; c < kVectors; ++c) {
      if constexpr (Do::kWrite) value[n][c] = S::load(rows.v + (t + n) * rows.v_stride + tile.first + c * S::lanes());
      if constexpr (Do::kDecay == Decay::carried) value[n][c] = S::multiply(S::all(rows.carried[t + n].write), value[n][c]);
      output[n][c] = S::zero();
    }
  if constexpr (Do::kDecay == Decay::carried)
    for (int n = 0; n < kTokens; ++n) settle = settle || rows.carried[t + n].state != T{1};
  if (settle)
    pass_rows<T, kVectors, kTokens, Do, Do::kDecay == Decay::carried>(rows, tile, t, value, output);
  else
    pass_rows<T, kVectors, kTokens, Do, false>(rows, tile, t, value, output);
  if constexpr (Do::kRead)
    for (int n = 0; n < kTokens; ++n) {
      if constexpr (Do::kDecay == Decay::carried)
        for (int c = 0; c < kVectors; ++c) output[n][c] = S::multiply(S::all(rows.carried[t + n].read), output[n][c]);
      finish(t + n, tile.first, output[n]);
      for (int c = 0; c < kVectors; ++c) S::store(output[n][c], rows.o + (t + n) * rows.o_stride + tile.first + c * S::lanes());
    }
}

template <typename T, int kVectors, typename Do, typename Finish>
HWY_NOINLINE void pass_tile(const OuterProducts<T>& rows, const Tile<T>& tile, const Finish& finish) {
  std::int64_t t = 0;
  for (; t + kPassTokens <= rows.tokens; t += kPassTokens) {
    fetch_ahead(rows.ahead, tile, t, kPassTokens, rows.tokens);
    pass_tokens<T, kVectors, kPassTokens, Do>(rows, tile, t, finish);
  }
  for (; t < rows.tokens; ++t) pass_tokens<T, kVectors, 1, Do>(rows, tile, t, finish);
}

// A tile of kTileVectors vectors, kPassVectors at a time.
template <typename T, typename Do, typename Finish>
HWY_INLINE void pass_wide_tile(const OuterProducts<T>& rows, Tile<T> tile, const Finish& finish) {
  constexpr int kParts = kTileVectors / kPassVectors;
  tile.index *= kParts, tile.count *= kParts;
  for (int part = 0; part < kParts; ++part, ++tile.index, tile.first += kPassVectors * Simd<T>::lanes(), tile.state += kPassVectors * Simd<T>::lanes())
    pass_tile<T, kPassVectors, Do>(rows, tile, finish);
}

// Every tile of a state in tile order, or of one that lies with rows `stride` apart.
template <typename T, typename Do, typename Finish>
HWY_INLINE void pass_tiles(const OuterProducts<T>& rows, T* state, std::int64_t stride, std::int64_t V, const Finish& finish) {
  each_state_tile<T>(state, stride, rows.K, V, [&](int vectors, const Tile<T>& tile) HWY_ATTR {
    if (vectors == kTileVectors) return pass_wide_tile<T, Do>(rows, tile, finish);
    if constexpr (kTileVectors == 4)  // a target with narrower tiles carries no code for these
      if (vectors == 2) return pass_tile<T, 2, Do>(rows, tile, finish);
    return pass_tile<T, 1, Do>(rows, tile, finish);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
