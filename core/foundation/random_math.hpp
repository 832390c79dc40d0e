// The exponential and the logarithm of the ziggurat's rare paths, in plain IEEE operations: the C libraries of the targets
// (glibc, musl) and a GPU's differ in last bits, and the stream must not. Plain C++ that nvcc compiles for a device too.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#define LINEARMEM_ANYWHERE __host__ __device__ inline
#else
#define LINEARMEM_ANYWHERE inline
#endif

namespace linearmem {
namespace random_math {

// ln 2 in two parts; the first has trailing zeros, so its product with a small integer is exact.
inline constexpr double ln2_high = 0x1.62e42feep-1;
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;

// fdlibm (Sun Microsystems 1993): R(z) = c[0] z + c[1] z^2 + ... in log(1+f) = f - f^2/2 + s (f^2/2 + R(s^2)), s = f/(2+f).
LINEARMEM_ANYWHERE double log_remainder(double z) {
  constexpr double c[] = {0x1.5555555555593p-1, 0x1.999999997fa04p-2, 0x1.2492494229359p-2, 0x1.c71c51d8e78afp-3,
                          0x1.7466496cb03dep-3, 0x1.39a09d078c69fp-3, 0x1.2f112df3e5244p-3};
  const double z2 = z * z;
  const double z4 = z2 * z2;
  const double z6 = z4 * z2;
  const double low = std::fma(z, c[0], z2 * std::fma(z, c[2], c[1]));
  return std::fma(z6, std::fma(z, c[6], c[5]), std::fma(z4, std::fma(z, c[4], c[3]), low));
}

// k ln 2 + log(1 + f). `near_one`: f is so small that two terms do.
LINEARMEM_ANYWHERE double log_of_scaled(int k, double f, bool near_one) {
  const double half_square = 0.5 * f * f;
  if (near_one) {
    if (f == 0) return k * ln2_high + k * ln2_low;
    const double r = half_square * std::fma(-0x1.5555555555555p-1, f, 1.0);
    return k * ln2_high - ((r - k * ln2_low) - f);
  }
  const double s = f / (2.0 + f);
  const double correction = s * (half_square + log_remainder(s * s));
  if (k == 0) return f - (half_square - correction);
  return k * ln2_high - ((half_square - (correction + k * ln2_low)) - f);
}

}  // namespace random_math

// log(1 - u) for u a multiple of 2^-53 in [0, 1). The ziggurat's tail returns it, so every bit counts: polynomial, order
// and fused multiply-adds are those of fdlibm's log1p as glibc runs it on processors with FMA, which is what NumPy calls.
LINEARMEM_ANYWHERE double log_one_minus(double u) {
  using random_math::log_of_scaled;
  if (u < 0x1p-29) return -u - u * u * 0.5;
  int exponent = 0;
  const double mantissa = std::frexp(1.0 - u, &exponent);  // of an exact difference, in [1/2, 1)
  if (mantissa < 0x1.6a09ep-1) {                           // sqrt(1/2), to fdlibm's digits
    const double f = 2 * mantissa - 1.0;
    return log_of_scaled(exponent - 1, f, f < 0x1p-20);
  }
  const double f = mantissa - 1.0;
  return log_of_scaled(exponent, f, exponent != 0 && f >= -0x3p-21);
}

// exp(t) for t in [-8, 0], error below 1 ulp. Only compared with: see core/foundation/README.md on the odds of an ulp.
LINEARMEM_ANYWHERE double exp_nonpositive(double t) {
  using random_math::ln2_high, random_math::ln2_low;
  constexpr double inverse_ln2 = 0x1.71547652b82fep+0;
  constexpr int terms = 14;  // the next is below 2^-60 for |r| <= ln2 / 2
  const int k = static_cast<int>(t * inverse_ln2 - 0.5);
  const double r = (t - k * ln2_high) - k * ln2_low;
  double tail = 1.0;  // Horner: exp(r) = 1 + r (1 + r/2 (1 + r/3 (...)))
  for (int n = terms; n > 1; --n) tail = 1.0 + r * tail / n;
  return std::ldexp(1.0 + r * tail, k);
}

}  // namespace linearmem
