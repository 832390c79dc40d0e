// exp of any argument, softplus and silu over Simd<T>, within a few units in the last place. NaN stays NaN. Included once per
// target, like simd-inl.hpp.
//
// log(1 + e) for e in [0, 1], precise relative to e however small it is. float64: 2 artanh(w), w = e / (2 + e) <= 1/3, by its series. float32:
// e times the polynomial of degree 9 with the least largest relative error (5e-9 before rounding) among those that are 1 at 0; no division.

#if defined(LINEARMEM_FOUNDATION_ACTIVATION_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_FOUNDATION_ACTIVATION_INL_HPP
#undef LINEARMEM_FOUNDATION_ACTIVATION_INL_HPP
#else
#define LINEARMEM_FOUNDATION_ACTIVATION_INL_HPP
#endif

#include "foundation/exp-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

template <typename T>
HWY_INLINE typename Simd<T>::V log_one_plus_unit(typename Simd<T>::V e) {
  using S = Simd<T>;
  if constexpr (sizeof(T) == 4) {
    constexpr T c[] = {1,           -0x1.ffffd2p-2f, 0x1.554dfp-2f,  -0x1.ff26ep-3f,  0x1.935c9ep-3f,
                       -0x1.3a7a7ep-3f, 0x1.b579bap-4f,  -0x1.d86312p-5f, 0x1.4b0822p-6f, -0x1.b2f566p-9f};
    return S::multiply(e, polynomial<T, 10>(e, c));
  } else {
    constexpr int terms = 16;  // (1/9)^terms is below the last bit
    const auto w = S::divide(e, S::add(e, S::all(T{2})));
    const auto square = S::multiply(w, w);
    auto sum = S::all(static_cast<T>(2.0 / (2 * terms + 1)));
    for (int term = terms - 1; term >= 0; --term) sum = S::multiply_add(sum, square, S::all(static_cast<T>(2.0 / (2 * term + 1))));
    return S::multiply(w, sum);
  }
}

template <typename T>
HWY_INLINE typename Simd<T>::V softplus(typename Simd<T>::V x) {
  using S = Simd<T>;
  return S::add(S::at_least(x, S::zero()), log_one_plus_unit<T>(exp_up_to_zero<T>(S::minus_size(x))));
}

template <typename T>
HWY_INLINE typename Simd<T>::V silu(typename Simd<T>::V x) {
  using S = Simd<T>;
  const auto e = exp_up_to_zero<T>(S::minus_size(x));
  return S::divide(S::multiply(x, S::select_less(x, S::zero(), e, S::all(T{1}))), S::add(S::all(T{1}), e));
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
