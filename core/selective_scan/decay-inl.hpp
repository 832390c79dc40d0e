// The decays of the Mamba scan over Simd<T>: 2^(step A), the step already times log2(e). In float32 2^r is a polynomial one degree shorter
// than exp2_each has it: within 1e-7, relative, before rounding. Included once per target, like simd-inl.hpp.
//
// step A = n + r, n whole and |r| <= 1/2; 2^(step A) = 2^n 2^r. Exactly 1 at 0, 0 below the smallest normal number (minus infinity too),
// infinite from less than a factor of 1.5 before the format ends, NaN for NaN.

#if defined(LINEARMEM_SELECTIVE_SCAN_DECAY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_SELECTIVE_SCAN_DECAY_INL_HPP
#undef LINEARMEM_SELECTIVE_SCAN_DECAY_INL_HPP
#else
#define LINEARMEM_SELECTIVE_SCAN_DECAY_INL_HPP
#endif

#include "foundation/exp-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

template <typename T>
struct DecayConstants : Exp2Constants<T> {};

template <>
struct DecayConstants<float> : Exp2Constants<float> {
  static constexpr float coefficients[] = {1.0f, 0x1.62e428p-1f, 0x1.ebf9bcp-3f, 0x1.c6b752p-5f, 0x1.3cea88p-7f, 0x1.5be9a8p-10f};
};

// Of a step times A in float32: 2^n and the decay are normal numbers, so that nothing is to be kept in bounds and 2^n is added to the exponent.
constexpr float kNearest = 125;

// x: steps, which become decays. Several vectors step by step together, so that their chains of sums hide each other's latency.
// kNear: every step times A is a number of size below kNearest; the bits are the same either way.
template <typename T, int kCount, bool kNear>
HWY_INLINE void decay_each(typename Simd<T>::V (&x)[kCount], const typename Simd<T>::V (&A)[kCount]) {
  using S = Simd<T>;
  using V = typename S::V;
  using C = DecayConstants<T>;
  constexpr int terms = static_cast<int>(sizeof(C::coefficients) / sizeof(T));
  V shifted[kCount], sum[kCount];
  for (int c = 0; c < kCount; ++c) x[c] = S::multiply(x[c], A[c]);
  if constexpr (!kNear)
    for (V& value : x) {
      value = S::at_least(value, S::all(C::lowest));
      value = S::select_less(S::all(C::highest), value, S::all(C::highest), value);
    }
  for (int c = 0; c < kCount; ++c) shifted[c] = S::add(x[c], S::all(C::round));
  for (int c = 0; c < kCount; ++c) x[c] = S::subtract(x[c], S::subtract(shifted[c], S::all(C::round)));
  for (int c = 0; c < kCount; ++c) sum[c] = S::all(C::coefficients[terms - 1]);
  for (int term = terms - 2; term >= 0; --term)
    for (int c = 0; c < kCount; ++c) sum[c] = S::multiply_add(sum[c], x[c], S::all(C::coefficients[term]));
  for (int c = 0; c < kCount; ++c)
    x[c] = kNear ? S::times_power_of_two(sum[c], shifted[c]) : S::multiply(sum[c], S::power_of_two(shifted[c]));
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
