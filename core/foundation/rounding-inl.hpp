// The rounding of rounding.hpp over Simd<T>. Included once per target, like simd-inl.hpp.

#if defined(LINEARMEM_FOUNDATION_ROUNDING_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_FOUNDATION_ROUNDING_INL_HPP
#undef LINEARMEM_FOUNDATION_ROUNDING_INL_HPP
#else
#define LINEARMEM_FOUNDATION_ROUNDING_INL_HPP
#endif

#include "foundation/rounding_format.hpp"
#include "foundation/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

template <typename T>
HWY_INLINE typename Simd<T>::V rounded_lanes(const Rounding<T>& format, typename Simd<T>::V x) {
  using S = Simd<T>;
  using V = typename S::V;
  const V infinity = S::all(static_cast<T>(__builtin_huge_valf())), whole = S::all(format.whole);
  const V power = S::maximum(S::bit_and(x, infinity), S::all(format.least_normal));  // the bits of infinity are those of the exponent
  const V unit = S::multiply(power, S::all(format.epsilon));
  const V steps = S::subtract(S::add(S::divide(x, unit), whole), whole);
  const V magnitude = S::maximum(x, S::subtract(S::zero(), x));
  return S::select_less(magnitude, S::all(format.infinite_from), S::multiply(steps, unit), S::multiply(x, infinity));
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
