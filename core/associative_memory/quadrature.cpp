// Double exponential quadrature (Takahasi & Mori 1974) in the angle, s = cos t: the weight is sin^(K-2) t, finite at both ends for
// every K >= 2. Either side of s = 0 is integrated by itself, so a kink there costs nothing.
#include "associative_memory/quadrature.hpp"

#include <cmath>

namespace linearmem::associative {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kReach = 3.2;  // of the transformed variable: the weights beyond are below 1e-15
constexpr int kLevels = 11;

struct Sums {
  double weighted = 0, weight = 0, magnitude = 0;
};

// Adds the nodes of one level on (0, pi/2): all at level 0, the new ones between the old at later levels.
void add_level(const std::function<double(double)>& f, std::int64_t K, double sign, int level, Sums& sums) {
  const double step = std::ldexp(0.4, -level);
  const auto nodes = static_cast<int>(kReach / step);
  for (int n = -nodes; n <= nodes; ++n) {
    if (level > 0 && n % 2 == 0) continue;
    const double u = step * n, inner = kPi / 2 * std::sinh(u);
    const double angle = kPi / 4 * (1 + std::tanh(inner));
    const double slope = kPi / 2 * std::cosh(u) / (std::cosh(inner) * std::cosh(inner));
    const double weight = slope * std::pow(std::sin(angle), static_cast<double>(K - 2));
    const double value = weight == 0 ? 0 : weight * f(sign * std::cos(angle));
    sums.weighted += value;
    sums.weight += weight;
    sums.magnitude += std::abs(value);
  }
}

}  // namespace

double sphere_average(const std::function<double(double)>& f, std::int64_t K) {
  Sums sums;
  double before = HUGE_VAL;
  for (int level = 0; level < kLevels; ++level) {
    add_level(f, K, 1, level, sums);
    add_level(f, K, -1, level, sums);
    const double average = sums.weighted / sums.weight;
    if (level >= 3 && std::abs(average - before) <= 1e-12 * (sums.magnitude / sums.weight)) return average;
    before = average;
  }
  return before;
}

}  // namespace linearmem::associative
