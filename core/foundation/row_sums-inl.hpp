// Sums over the rows of a state, in vectors side by side as wide as the rows, for one token that passes over a state as it lies: memory is what
// it waits for, and it streams best from one end to the other. Included once per target, like simd-inl.hpp.

#if defined(LINEARMEM_FOUNDATION_ROW_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_FOUNDATION_ROW_SUMS_INL_HPP
#undef LINEARMEM_FOUNDATION_ROW_SUMS_INL_HPP
#else
#define LINEARMEM_FOUNDATION_ROW_SUMS_INL_HPP
#endif

#include <cstdint>

#include "foundation/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

// Halves of halves, so that a compiler keeps each sum in a register while there are any, which it does not do with a long array.
template <typename T, int kVectors>
struct RowSums {
  using V = typename Simd<T>::V;
  RowSums<T, kVectors / 2> low, high;

  static HWY_INLINE std::int64_t half() { return kVectors / 2 * Simd<T>::lanes(); }
  HWY_INLINE void clear() { low.clear(), high.clear(); }
  HWY_INLINE void store(T* to) const { low.store(to), high.store(to + half()); }
  // sum += x row
  HWY_INLINE void read(V x, const T* row) { low.read(x, row), high.read(x, row + half()); }
  // row = decay row + k value, then sum += q row; kDecay: the decay is not 1
  template <bool kDecay>
  HWY_INLINE void write(V decay, V k, V q, const T* value, T* row) {
    low.template write<kDecay>(decay, k, q, value, row);
    high.template write<kDecay>(decay, k, q, value + half(), row + half());
  }
};

template <typename T>
struct RowSums<T, 1> {
  using S = Simd<T>;
  using V = typename S::V;
  V sum;

  HWY_INLINE void clear() { sum = S::zero(); }
  HWY_INLINE void store(T* to) const { S::store(sum, to); }
  HWY_INLINE void read(V x, const T* row) { sum = S::multiply_add(x, S::load(row), sum); }
  template <bool kDecay>
  HWY_INLINE void write(V decay, V k, V q, const T* value, T* row) {
    V s = S::load(row);
    if constexpr (kDecay) s = S::multiply(decay, s);
    s = S::multiply_add(k, S::load(value), s);
    S::store(s, row);
    sum = S::multiply_add(q, s, sum);
  }
};

// Room for a row of sums on any target.
template <typename T, int kVectors>
struct RowBuffer {
  alignas(HWY_MAX_BYTES) T values[kVectors * HWY_MAX_BYTES / sizeof(T)];
};

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
