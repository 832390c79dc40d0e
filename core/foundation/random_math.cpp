#include "foundation/random_math.hpp"

#include <bit>
#include <cstdint>

namespace linearmem {
namespace {

// ln 2 in two parts; the first has trailing zeros, so its product with a small integer is exact.
constexpr double ln2_high = 0x1.62e42feep-1;
constexpr double ln2_low = 0x1.a39ef35793c76p-33;

// fdlibm (Sun Microsystems 1993): R(z) = c[0] z + c[1] z^2 + ... in log(1+f) = f - f^2/2 + s (f^2/2 + R(s^2)), s = f/(2+f).
constexpr double log_coefficients[] = {
    0x1.5555555555593p-1, 0x1.999999997fa04p-2, 0x1.2492494229359p-2, 0x1.c71c51d8e78afp-3,
    0x1.7466496cb03dep-3, 0x1.39a09d078c69fp-3, 0x1.2f112df3e5244p-3};

double log_remainder(double z) {
  const double* c = log_coefficients;
  const double z2 = z * z;
  const double z4 = z2 * z2;
  const double z6 = z4 * z2;
  return c[0] * z + z2 * (c[1] + z * c[2]) + z4 * (c[3] + z * c[4]) + z6 * (c[5] + z * c[6]);
}

// k ln 2 + log(1 + f). `near_one`: f is so small that two terms do.
double log_of_scaled(int k, double f, bool near_one) {
  const double half_square = 0.5 * f * f;
  if (near_one) {
    if (f == 0) return k * ln2_high + k * ln2_low;
    const double r = half_square * (1.0 - 0x1.5555555555555p-1 * f);
    return k * ln2_high - ((r - k * ln2_low) - f);
  }
  const double s = f / (2.0 + f);
  const double correction = s * (half_square + log_remainder(s * s));
  if (k == 0) return f - (half_square - correction);
  return k * ln2_high - ((half_square - (correction + k * ln2_low)) - f);
}

std::uint32_t high_word(double x) { return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(x) >> 32); }

}  // namespace

double log_one_minus(double u) {
  if (u < 0x1p-29) return -u - u * u * 0.5;
  constexpr std::uint32_t unscaled_limit = 0x3fd2bec3;  // u just below 1 - sqrt(1/2)
  if (high_word(u) <= unscaled_limit) return log_of_scaled(0, -u, false);

  const double w = 1.0 - u;  // exact, for u has 53 fraction bits
  const std::uint32_t mantissa = high_word(w) & 0xfffff;
  const bool below_sqrt2 = mantissa < 0x6a09e;
  const int exponent = static_cast<int>(high_word(w) >> 20) - 1023;
  const int k = below_sqrt2 ? exponent : exponent + 1;
  const double scaled = w * std::bit_cast<double>(static_cast<std::uint64_t>(1023 - k) << 52);  // in [sqrt(1/2), sqrt(2))
  const bool near_one = below_sqrt2 ? mantissa == 0 : 0x100000 - mantissa < 4;
  return log_of_scaled(k, scaled - 1.0, near_one);
}

double exp_nonpositive(double t) {
  constexpr double inverse_ln2 = 0x1.71547652b82fep+0;
  constexpr int terms = 14;  // the next is below 2^-60 for |r| <= ln2 / 2
  const int k = static_cast<int>(t * inverse_ln2 - 0.5);
  const double r = (t - k * ln2_high) - k * ln2_low;
  double tail = 1.0;  // Horner: exp(r) = 1 + r (1 + r/2 (1 + r/3 (...)))
  for (int n = terms; n > 1; --n) tail = 1.0 + r * tail / n;
  return (1.0 + r * tail) * std::bit_cast<double>(static_cast<std::uint64_t>(1023 + k) << 52);
}

}  // namespace linearmem
