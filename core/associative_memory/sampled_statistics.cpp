#include "associative_memory/sampled_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace linearmem::associative {
namespace {

// The 97.5 % point of Student's t: a table for few degrees of freedom, Fisher's expansion (to 2e-3) for more.
double student_point(std::int64_t freedom) {
  constexpr double kTable[] = {12.7062047, 4.30265273, 3.18244631, 2.77644511, 2.57058184};
  if (freedom <= 5) return kTable[freedom - 1];
  const double z = 1.959963985, z3 = z * z * z, z5 = z3 * z * z, n = static_cast<double>(freedom);
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

Estimate root_of(const Estimate& square) {
  const double root = std::sqrt(square.value);
  if (std::isnan(square.low)) return {root, square.low, square.low, square.low};
  return {root, std::sqrt(std::max(square.low, 0.0)), std::sqrt(square.high), root > 0 ? square.standard_error / (2 * root) : 0};
}

}  // namespace

Estimate mean_with_interval(std::span<const double> values) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {nan, nan, nan, nan};
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double value : values) sum += value;
  const double mean = sum / count;
  for (double value : values) squares += (value - mean) * (value - mean);
  if (values.size() == 1) return {mean, nan, nan, nan};
  const double error = std::sqrt(squares / (count - 1) / count);
  const double reach = student_point(static_cast<std::int64_t>(values.size()) - 1) * error;
  return {mean, mean - reach, mean + reach, error};
}

SampledRatio SampledStatistics::at(std::size_t line, std::size_t place) const {
  const std::vector<RatioStatistics>& seeds = seeds_[line * places_ + place];
  std::vector<double> squares, medians, means;
  for (const RatioStatistics& seed : seeds) {
    squares.push_back(seed.rms * seed.rms);
    medians.push_back(seed.median);
    means.push_back(seed.mean);
  }
  return {root_of(mean_with_interval(squares)), mean_with_interval(medians), mean_with_interval(means),
          static_cast<std::int64_t>(seeds.size())};
}

}  // namespace linearmem::associative

namespace linearmem {

std::optional<double> crossing(const std::vector<double>& x, const std::vector<double>& y, double level) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(y[i] >= level)) continue;
    if (i == 0 || y[i] == level) return x[i];
    const double share = std::log(level / y[i - 1]) / std::log(y[i] / y[i - 1]);
    return x[i - 1] * std::pow(x[i] / x[i - 1], share);
  }
  return std::nullopt;
}

}  // namespace linearmem
