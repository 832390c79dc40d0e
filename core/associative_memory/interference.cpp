// R per query, and what may be said of many R at once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "associative_memory/checks.hpp"
#include "foundation/precision.hpp"

namespace linearmem {
namespace {

Status check(const InterferenceArguments& a) {
  ShapeCheck shapes("interference");
  shapes.required("weights", a.weights, "Q M").required("values", a.values, "M V").required("targets", a.targets, "Q");
  shapes.required("ratio", a.ratio, "Q").optional("target_part", a.target_part, "Q V").optional("others", a.others, "Q V");
  if (shapes.status().ok()) check_finite(shapes, "weights", a.weights);
  if (shapes.status().ok()) check_finite(shapes, "values", a.values);
  const std::int64_t M = shapes.size("M");
  for (std::int64_t q = 0; shapes.status().ok() && q < a.targets.extent(0); ++q)
    shapes.require(a.targets(q) >= 0 && a.targets(q) < M, "targets[" + std::to_string(q) + "] is " + std::to_string(a.targets(q)) +
                                                              ", must be one of the items 0 to " + std::to_string(M - 1));
  return shapes.status();
}

}  // namespace

Status interference(const InterferenceArguments& a) {
  if (Status status = check(a); !status.ok()) return status;
  const std::int64_t Q = a.weights.extent(0), M = a.weights.extent(1), V = a.values.extent(1);
  Tensor<double, 2> parts({Q, V}), rests({Q, V});
  Tensor<double, 1> ratios({Q});
  for (std::int64_t q = 0; q < Q; ++q) {
    const std::int64_t target = a.targets(q);
    for (std::int64_t i = 0; i < M; ++i)
      for (std::int64_t j = 0; j < V; ++j) (i == target ? parts : rests)(q, j) += a.weights(q, i) * a.values(i, j);
    double own = 0, others = 0;
    for (std::int64_t j = 0; j < V; ++j) {
      own += parts(q, j) * parts(q, j);
      others += rests(q, j) * rests(q, j);
    }
    if (own == 0 && others == 0)
      return Status::invalid("interference: query " + std::to_string(q) + " is answered by nothing, neither its item " +
                             std::to_string(target) + " nor any other, so R is 0 / 0");
    ratios(q) = std::sqrt(others) / std::sqrt(own);
  }
  if (a.target_part.given()) convert(parts.view(), a.target_part);
  if (a.others.given()) convert(rests.view(), a.others);
  convert(ratios.view(), a.ratio);
  return {};
}

RatioStatistics ratio_statistics(std::span<const double> ratios) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (ratios.empty()) return {nan, nan, nan};
  std::vector<double> sorted(ratios.begin(), ratios.end());
  std::sort(sorted.begin(), sorted.end());
  double sum = 0, squares = 0;
  for (double ratio : sorted) {
    sum += ratio;
    squares += ratio * ratio;
  }
  const std::size_t half = sorted.size() / 2;
  const auto count = static_cast<double>(sorted.size());
  return {.rms = std::sqrt(squares / count),
          .median = sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2,
          .mean = sum / count};
}

}  // namespace linearmem
