// exp for arguments up to 0, over Simd<T>: within 2 units in the last place on every target, exactly 1 at 0, 0 below the
// smallest normal number (minus infinity too), NaN for NaN. Included once per target, like simd-inl.hpp.
//
// x = n ln 2 + r with n whole and |r| <= ln 2 / 2; exp(x) = 2^n exp(r), exp(r) by its Taylor series.

#if defined(LINEARMEM_FOUNDATION_EXP_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_FOUNDATION_EXP_INL_HPP
#undef LINEARMEM_FOUNDATION_EXP_INL_HPP
#else
#define LINEARMEM_FOUNDATION_EXP_INL_HPP
#endif

#include "foundation/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

// c[0] + c[1] x + ... of kTerms terms, as a tree of pairs: a few more products, and a chain of log2(kTerms) sums instead of kTerms.
template <typename T, int kTerms>
HWY_INLINE typename Simd<T>::V polynomial(typename Simd<T>::V x, const T* c) {
  using S = Simd<T>;
  typename S::V sums[kTerms];
  for (int i = 0; i < kTerms; ++i) sums[i] = S::all(c[i]);
  for (int count = kTerms; count > 1; count = (count + 1) / 2, x = S::multiply(x, x)) {
    for (int i = 0; i < count / 2; ++i) sums[i] = S::multiply_add(sums[2 * i + 1], x, sums[2 * i]);
    if (count % 2) sums[count / 2] = sums[count - 1];
  }
  return sums[0];
}

template <typename T>
struct ExpConstants;

template <>
struct ExpConstants<double> {
  static constexpr double round = 0x1.8p52;          // adding it leaves the nearest whole number in the low bits
  static constexpr double ln2_high = 0x1.62e42feep-1;  // few enough bits that n times it is exact
  static constexpr double ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double lowest = -708;
  static constexpr int terms = 13;
};

template <>
struct ExpConstants<float> {
  static constexpr float round = 0x1.8p23f;
  static constexpr float ln2_high = 0x1.63p-1f;
  static constexpr float ln2_low = -0x1.bd0106p-13f;
  static constexpr float lowest = -87;
  static constexpr int terms = 7;
};

// exp(r), |r| <= ln 2 / 2, by its Taylor series: float32 as a tree, float64 term by term.
template <typename T>
HWY_INLINE typename Simd<T>::V exp_series(typename Simd<T>::V r) {
  using S = Simd<T>;
  constexpr T c[] = {1, 1, static_cast<T>(1.0 / 2), static_cast<T>(1.0 / 6), static_cast<T>(1.0 / 24), static_cast<T>(1.0 / 120),
                     static_cast<T>(1.0 / 720), static_cast<T>(1.0 / 5040), static_cast<T>(1.0 / 40320), static_cast<T>(1.0 / 362880),
                     static_cast<T>(1.0 / 3628800), static_cast<T>(1.0 / 39916800), static_cast<T>(1.0 / 479001600),
                     static_cast<T>(1.0 / 6227020800)};
  constexpr int terms = ExpConstants<T>::terms;
  if constexpr (sizeof(T) == 4) return polynomial<T, terms + 1>(r, c);
  auto sum = S::all(c[terms]);
  for (int term = terms - 1; term >= 0; --term) sum = S::multiply_add(sum, r, S::all(c[term]));
  return sum;
}

template <typename T>
HWY_INLINE typename Simd<T>::V exp_up_to_zero(typename Simd<T>::V x) {
  using S = Simd<T>;
  using V = typename S::V;
  using C = ExpConstants<T>;
  const V shifted = S::multiply_add(x, S::all(static_cast<T>(0x1.71547652b82fep0)), S::all(C::round));  // x / ln 2
  const V n = S::subtract(shifted, S::all(C::round));
  V r = S::subtract_product(x, n, S::all(C::ln2_high));
  r = S::subtract_product(r, n, S::all(C::ln2_low));
  return S::select_less(x, S::all(C::lowest), S::zero(), S::multiply(exp_series<T>(r), S::power_of_two(shifted)));
}

template <typename T>
struct Exp2Constants;

template <>
struct Exp2Constants<double> {
  static constexpr double round = ExpConstants<double>::round, lowest = -1023, highest = 1024;
  static constexpr double coefficients[] = {  // (ln 2)^k / k!
      1.0,
      0x1.62e42fefa39efp-1,
      0x1.ebfbdff82c58fp-3,
      0x1.c6b08d704a0cp-5,
      0x1.3b2ab6fba4e77p-7,
      0x1.5d87fe78a6731p-10,
      0x1.430912f86c787p-13,
      0x1.ffcbfc588b0c7p-17,
      0x1.62c0223a5c824p-20,
      0x1.b5253d395e7c4p-24,
      0x1.e4cf5158b8ecap-28,
      0x1.e8cac7351bb25p-32,
      0x1.c3bd650fc2986p-36,
      0x1.816193166d0f9p-40};
};

template <>
struct Exp2Constants<float> {
  static constexpr float round = ExpConstants<float>::round, lowest = -127, highest = 128;
  // The least largest relative error (2e-9 before rounding) on [-1/2, 1/2] among polynomials of degree 6 that are 1 at 0.
  static constexpr float coefficients[] = {1.0f,
                                           0x1.62e43p-1f,
                                           0x1.ebfbdcp-3f,
                                           0x1.c6aee8p-5f,
                                           0x1.3b2d4cp-7f,
                                           0x1.5f3e54p-10f,
                                           0x1.41fbbcp-13f};
};

// 2^x for any x: within 2 units in the last place, exactly 1 at 0, 0 below the smallest normal number (minus infinity too), infinite
// from less than a factor of 1.5 before the format ends, NaN for NaN. x = n + r, n whole and |r| <= 1/2; unlike exp it needs no split constant.
// Several vectors step by step together, so that their chains of sums hide each other's latency. kUpToZero: no x is above 0.
template <typename T, int kCount, bool kUpToZero>
HWY_INLINE void exp2_each(typename Simd<T>::V (&x)[kCount]) {
  using S = Simd<T>;
  using V = typename S::V;
  using C = Exp2Constants<T>;
  constexpr int terms = static_cast<int>(sizeof(C::coefficients) / sizeof(T));
  V shifted[kCount], sum[kCount];
  for (V& value : x) value = S::at_least(value, S::all(C::lowest));
  if constexpr (!kUpToZero)
    for (V& value : x) value = S::select_less(S::all(C::highest), value, S::all(C::highest), value);
  for (int c = 0; c < kCount; ++c) shifted[c] = S::add(x[c], S::all(C::round));
  for (int c = 0; c < kCount; ++c) x[c] = S::subtract(x[c], S::subtract(shifted[c], S::all(C::round)));
  for (int c = 0; c < kCount; ++c) sum[c] = S::all(C::coefficients[terms - 1]);
  for (int term = terms - 2; term >= 0; --term)
    for (int c = 0; c < kCount; ++c) sum[c] = S::multiply_add(sum[c], x[c], S::all(C::coefficients[term]));
  for (int c = 0; c < kCount; ++c) x[c] = S::multiply(sum[c], S::power_of_two(shifted[c]));
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
