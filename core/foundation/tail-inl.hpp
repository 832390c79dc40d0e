// Vectors of fewer values than lanes, for the last columns of a row that has no room behind it: the same formula on zero-filled
// lanes. Included once per target, like simd-inl.hpp.

#if defined(LINEARMEM_FOUNDATION_TAIL_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_FOUNDATION_TAIL_INL_HPP
#undef LINEARMEM_FOUNDATION_TAIL_INL_HPP
#else
#define LINEARMEM_FOUNDATION_TAIL_INL_HPP
#endif

#include <cstdint>

#include "foundation/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

template <typename T>
HWY_INLINE typename Simd<T>::V load_some(const T* from, std::int64_t count) {
  T lanes[HWY_MAX_BYTES / sizeof(T)] = {};
  for (std::int64_t j = 0; j < count; ++j) lanes[j] = from[j];
  return Simd<T>::load(lanes);
}

template <typename T>
HWY_INLINE void store_some(typename Simd<T>::V value, T* to, std::int64_t count) {
  T lanes[HWY_MAX_BYTES / sizeof(T)];
  Simd<T>::store(value, lanes);
  for (std::int64_t j = 0; j < count; ++j) to[j] = lanes[j];
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
