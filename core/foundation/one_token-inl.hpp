// One token of outer_products-inl.hpp over a state as it lies: one pass over whole rows, which are asked for a little ahead. Included once per
// target, like simd-inl.hpp.

#if defined(LINEARMEM_FOUNDATION_ONE_TOKEN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_FOUNDATION_ONE_TOKEN_INL_HPP
#undef LINEARMEM_FOUNDATION_ONE_TOKEN_INL_HPP
#else
#define LINEARMEM_FOUNDATION_ONE_TOKEN_INL_HPP
#endif

#include <cstdint>

#include "foundation/outer_products-inl.hpp"
#include "foundation/row_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

// Where to ask for the row that lies 4 KiB ahead of the one in work: in this tile, then in what is taken up after it.
template <typename T>
class RowAhead {
 public:
  HWY_INLINE RowAhead(const Tile<T>& tile, std::int64_t K, const T* after)
      : row_(tile.row), left_(K - ahead(tile.row)), at_(left_ > 0 ? tile.state + ahead(tile.row) * tile.row : after), after_(after) {}
  HWY_INLINE const T* next() {
    const T* here = at_;
    at_ = --left_ == 0 ? after_ : at_ + row_;
    return here;
  }

 private:
  static HWY_INLINE std::int64_t ahead(std::int64_t row) { return 4096 / (row * static_cast<std::int64_t>(sizeof(T))) + 1; }
  std::int64_t row_, left_;
  const T *at_, *after_;
};

template <typename T, int kVectors, bool kDecay>
HWY_INLINE void pass_whole_rows(const OuterProducts<T>& rows, const Tile<T>& tile, T decay, const T* value, RowAhead<T> ahead,
                                RowSums<T, kVectors>& sums) {
  using S = Simd<T>;
  const std::int64_t width = kVectors * S::lanes(), K = rows.K, row = tile.row;
  const T *k = rows.k, *q = rows.q;
  T* at = tile.state;
  for (std::int64_t i = 0; i < K; ++i, at += row) {
    fetch_row(ahead.next(), width);
    sums.template write<kDecay>(S::all(decay), S::all(k[i]), S::all(q[i]), value, at);
  }
}

template <typename T, int kVectors, typename Finish>
HWY_NOINLINE void one_token_tile(const OuterProducts<T>& rows, const Tile<T>& tile, const T* after, const Finish& finish) {
  using S = Simd<T>;
  const std::int64_t lanes = S::lanes(), width = kVectors * lanes;
  const T* v = rows.v + tile.first;
  const CarriedDecay<T> carried = rows.carried ? rows.carried[0] : CarriedDecay<T>{1, 1, 1};
  RowBuffer<T, kVectors> value, output;
  for (std::int64_t j = 0; j < width; j += lanes) S::store(S::multiply(S::all(carried.write), S::load(v + j)), value.values + j);

  RowSums<T, kVectors> sums;
  sums.clear();
  const RowAhead<T> ahead(tile, rows.K, after);
  if (carried.state != T{1})
    pass_whole_rows<T, kVectors, true>(rows, tile, carried.state, value.values, ahead, sums);
  else
    pass_whole_rows<T, kVectors, false>(rows, tile, T{1}, value.values, ahead, sums);
  sums.store(output.values);
  for (std::int64_t j = 0; j < width; j += lanes) {
    typename S::V o[1] = {S::load(output.values + j)};
    finish(0, tile.first + j, o);
    S::store(o[0], rows.o + tile.first + j);
  }
}

// The only token of `rows`, whose decay is carried no further; state [K,V] with rows `stride` apart. finish(0, first column, output) as in
// outer_products-inl.hpp.
template <typename T, typename Finish>
HWY_INLINE void one_token(const OuterProducts<T>& rows, T* state, std::int64_t stride, std::int64_t V, const Finish& finish) {
  each_state_tile<T, 32>(state, stride, rows.K, V, [&](int vectors, const Tile<T>& tile) HWY_ATTR {
    const T* next = rows.ahead.state ? rows.ahead.state : state;
    const T* after = tile.index + 1 < tile.count ? tile.state + vectors * Simd<T>::lanes() : next;
    if (vectors == 32) return one_token_tile<T, 32>(rows, tile, after, finish);
    if (vectors == 16) return one_token_tile<T, 16>(rows, tile, after, finish);
    if (vectors == 8) return one_token_tile<T, 8>(rows, tile, after, finish);
    if (vectors == 4) return one_token_tile<T, 4>(rows, tile, after, finish);
    if (vectors == 2) return one_token_tile<T, 2>(rows, tile, after, finish);
    return one_token_tile<T, 1>(rows, tile, after, finish);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
