// One token over a state as it lies: two passes over whole rows, one to measure the error and one to write, which ask for the next head's state
// meanwhile. Included once per target, like simd-inl.hpp.

#if defined(LINEARMEM_DELTA_RULE_ONE_TOKEN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_DELTA_RULE_ONE_TOKEN_INL_HPP
#undef LINEARMEM_DELTA_RULE_ONE_TOKEN_INL_HPP
#else
#define LINEARMEM_DELTA_RULE_ONE_TOKEN_INL_HPP
#endif

#include <cstdint>

#include "delta_rule/kernel.hpp"
#include "foundation/column_tiles-inl.hpp"
#include "foundation/row_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

template <typename T, int kVectors, bool kDecay>
HWY_INLINE void write_whole_rows(const delta::KernelBlock<T>& block, const Tile<T>& tile, T decay, const T* value, const T* fetch,
                                 RowSums<T, kVectors>& sums) {
  using S = Simd<T>;
  const std::int64_t part = kVectors * S::lanes() / 2, K = block.K, row = tile.row;
  const T *k = block.k, *q = block.q;
  T* at = tile.state;
  for (std::int64_t i = 0; i < K; ++i, at += row, fetch += part) {
    fetch_row(fetch, part);
    sums.template write<kDecay>(S::all(decay), S::all(k[i]), S::all(q[i]), value, at);
  }
}

// next: the state, packed, that is taken up after this one; each row of both passes asks for its share of it.
template <typename T, int kVectors>
HWY_NOINLINE void one_token_tile(const delta::KernelBlock<T>& block, const Tile<T>& tile, const T* next) {
  using S = Simd<T>;
  const std::int64_t lanes = S::lanes(), width = kVectors * lanes, K = block.K, row = tile.row;
  const T *k = block.k, *v = block.v + tile.first, *fetch = next + tile.first * K;
  const CarriedDecay<T> carried = block.carried[0];  // a block's last token carries nothing further
  RowBuffer<T, kVectors> read, value;

  RowSums<T, kVectors> sums;
  sums.clear();
  const T* from = tile.state;
  for (std::int64_t i = 0; i < K; ++i, from += row, fetch += width / 2) {
    fetch_row(fetch, width / 2);
    sums.read(S::all(k[i]), from);
  }
  sums.store(read.values);
  const auto decay = S::all(carried.state), beta = S::all(block.beta[0] * carried.write);
  for (std::int64_t j = 0; j < width; j += lanes) {
    const auto decayed = S::multiply(decay, S::load(read.values + j));
    if (block.reads) S::store(decayed, block.reads + tile.first + j);
    S::store(S::multiply(beta, S::subtract(S::load(v + j), decayed)), value.values + j);
  }

  sums.clear();
  if (carried.state != T{1})
    write_whole_rows<T, kVectors, true>(block, tile, carried.state, value.values, fetch, sums);
  else
    write_whole_rows<T, kVectors, false>(block, tile, T{1}, value.values, fetch, sums);
  sums.store(read.values);
  const auto scale = S::all(block.scale);
  for (std::int64_t j = 0; j < width; j += lanes) S::store(S::multiply(scale, S::load(read.values + j)), block.o + tile.first + j);
}

template <typename T>
HWY_INLINE void one_token(const delta::KernelBlock<T>& block) {
  const T* next = block.ahead.state ? block.ahead.state : block.state;
  each_state_tile<T, 16>(block.state, block.state_stride, block.K, block.V, [&](int vectors, const Tile<T>& tile) HWY_ATTR {
    if (vectors == 16) return one_token_tile<T, 16>(block, tile, next);
    if (vectors == 8) return one_token_tile<T, 8>(block, tile, next);
    if (vectors == 4) return one_token_tile<T, 4>(block, tile, next);
    if (vectors == 2) return one_token_tile<T, 2>(block, tile, next);
    return one_token_tile<T, 1>(block, tile, next);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
