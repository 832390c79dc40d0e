// Double exponential quadrature (Takahasi & Mori 1974): |s| = 1 / (1 + exp(-2x)), x = pi/2 sinh u, on either side of s = 0 by itself, so
// that a kink there costs nothing. 1 - |s| = 1 / (1 + exp(2x)) keeps its digits where the density has a pole (K = 2).
#include "associative_memory/quadrature.hpp"

#include <cmath>

namespace linearmem::associative {
namespace {

constexpr double kHalfPi = 1.57079632679489661923;
constexpr double kReach = 4;  // of u: the weights beyond are below 1e-17, for K = 2 too
constexpr int kLevels = 11;

struct Sums {
  double weighted = 0, weight = 0, magnitude = 0;
};

// Adds the nodes of one level: all at level 0, the new ones between the old at later levels.
void add_level(const std::function<double(double)>& f, std::int64_t K, int level, Sums& sums) {
  const double step = std::ldexp(0.5, -level), exponent = static_cast<double>(K - 3) / 2;
  const auto nodes = static_cast<int>(kReach / step);
  for (int n = -nodes; n <= nodes; ++n) {
    if (level > 0 && n % 2 == 0) continue;
    const double u = std::exp(step * n), x = kHalfPi * (u - 1 / u) / 2;
    const double s = 1 / (1 + std::exp(-2 * x)), rest = 1 / (1 + std::exp(2 * x));
    const double weight = kHalfPi * (u + 1 / u) * s * rest * std::pow(rest * (1 + s), exponent);
    for (double side : {s, -s}) {
      const double value = weight == 0 ? 0 : weight * f(side);
      sums.weighted += value;
      sums.weight += weight;
      sums.magnitude += std::abs(value);
    }
  }
}

}  // namespace

double sphere_average(const std::function<double(double)>& f, std::int64_t K) {
  Sums sums;
  double before = HUGE_VAL;
  for (int level = 0; level < kLevels; ++level) {
    add_level(f, K, level, sums);
    const double average = sums.weighted / sums.weight;
    if (level >= 3 && std::abs(average - before) <= 1e-12 * (sums.magnitude / sums.weight)) return average;
    before = average;
  }
  return before;
}

}  // namespace linearmem::associative
