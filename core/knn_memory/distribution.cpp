// From neighbours to probabilities. Everything in float64, column after column.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "foundation/number_text.hpp"
#include "foundation/shape_check.hpp"
#include "linearmem/knn_memory.hpp"

namespace linearmem {
namespace {

std::string at(const char* argument, std::int64_t q, std::int64_t column) {
  return std::string(argument) + "[" + std::to_string(q) + "," + std::to_string(column) + "]";
}

Status check(const KnnDistributionArguments& a) {
  ShapeCheck shapes("knn_distribution");
  shapes.required("distances", a.distances, "Q R")
      .required("tokens", a.tokens, "Q R")
      .optional("weights", a.weights, "Q R")
      .required("prob", a.prob, "Q V");
  const std::int64_t Q = a.distances.extent(0), R = a.distances.extent(1), V = a.prob.extent(1);
  shapes.require(R >= 1, [] { return std::string("R is 0: without a neighbour there is no distribution; the memory is empty"); });
  shapes.require(a.temperature > 0 && std::isfinite(a.temperature),
                 [&] { return "temperature is " + number_text(a.temperature) + ", must be above 0 and finite"; });
  for (std::int64_t q = 0; q < Q && shapes.status().ok(); ++q)
    for (std::int64_t r = 0; r < R; ++r) {
      shapes.require(std::isfinite(a.distances(q, r)),
                     [&] { return at("distances", q, r) + " is " + number_text(a.distances(q, r)) + "; every distance must be finite"; });
      shapes.require(a.tokens(q, r) >= 0 && a.tokens(q, r) < V, [&] {
        return at("tokens", q, r) + " is " + std::to_string(a.tokens(q, r)) + ", but V is " + std::to_string(V) +
               ": tokens run from 0 to V-1";
      });
    }
  return shapes.status();
}

bool is_probability(double value) { return value >= 0 && value <= 1 + 1e-5; }
bool is_log_probability(double value) { return value <= 1e-5; }  // minus infinity is the log of 0

// log(e^a + e^b) for a, b of which one or both may be minus infinity.
double log_sum(double a, double b) {
  const double most = std::max(a, b), least = std::min(a, b);
  return std::isinf(most) ? most : most + std::log1p(std::exp(least - most));
}

}  // namespace

Status knn_distribution(const KnnDistributionArguments& a) {
  if (Status status = check(a); !status.ok()) return status;
  const std::int64_t R = a.distances.extent(1), V = a.prob.extent(1);
  std::vector<double> weight(static_cast<std::size_t>(R));
  for (std::int64_t q = 0; q < a.distances.extent(0); ++q) {
    double nearest = a.distances(q, 0), total = 0;
    for (std::int64_t r = 1; r < R; ++r) nearest = std::min(nearest, a.distances(q, r));
    for (std::int64_t r = 0; r < R; ++r)
      total += weight[static_cast<std::size_t>(r)] = std::exp((nearest - a.distances(q, r)) / a.temperature);
    for (std::int64_t y = 0; y < V; ++y) a.prob(q, y) = 0;
    for (std::int64_t r = 0; r < R; ++r) {
      const double share = weight[static_cast<std::size_t>(r)] / total;
      a.prob(q, a.tokens(q, r)) += share;
      if (a.weights.given()) a.weights(q, r) = share;
    }
  }
  return {};
}

Status knn_interpolate(const KnnInterpolationArguments& a) {
  ShapeCheck shapes("knn_interpolate");
  shapes.required("memory", a.memory, "Q V").required("model", a.model, "Q V").required("mixed", a.mixed, "Q V");
  shapes.require(a.weight >= 0 && a.weight <= 1, [&] { return "weight is " + number_text(a.weight) + ", must be from 0 to 1"; });
  const bool logs = a.space == ProbabilitySpace::log;
  const auto check_side = [&](const char* argument, const View<const double, 2>& side) {
    for (std::int64_t q = 0; q < side.extent(0) && shapes.status().ok(); ++q)
      for (std::int64_t y = 0; y < side.extent(1); ++y)
        shapes.require(logs ? is_log_probability(side(q, y)) : is_probability(side(q, y)), [&] {
          return at(argument, q, y) + " is " + number_text(side(q, y)) + (logs ? ", no log of a probability" : ", no probability");
        });
  };
  if (a.weight > 0) check_side("memory", a.memory);
  if (a.weight < 1) check_side("model", a.model);
  if (!shapes.status().ok()) return shapes.status();
  const double of_memory = std::log(a.weight), of_model = std::log1p(-a.weight);
  for (std::int64_t q = 0; q < a.mixed.extent(0); ++q)
    for (std::int64_t y = 0; y < a.mixed.extent(1); ++y) {
      if (a.weight == 0 || a.weight == 1) a.mixed(q, y) = a.weight == 0 ? a.model(q, y) : a.memory(q, y);
      else if (logs) a.mixed(q, y) = log_sum(of_memory + a.memory(q, y), of_model + a.model(q, y));
      else a.mixed(q, y) = a.weight * a.memory(q, y) + (1 - a.weight) * a.model(q, y);
    }
  return {};
}

Result<double> perplexity(const View<const double, 1>& log_probabilities) {
  ShapeCheck shapes("perplexity");
  shapes.required("log_probabilities", log_probabilities, "T");
  const std::int64_t T = log_probabilities.extent(0);
  shapes.require(T >= 1, [] { return std::string("T is 0: no token came, and there is no mean of none"); });
  double sum = 0;
  for (std::int64_t t = 0; t < T && shapes.status().ok(); ++t) {
    shapes.require(is_log_probability(log_probabilities(t)), [&] {
      return "log_probabilities[" + std::to_string(t) + "] is " + number_text(log_probabilities(t)) + ", no log of a probability";
    });
    sum -= log_probabilities(t);
  }
  if (!shapes.status().ok()) return shapes.status();
  return std::exp(sum / static_cast<double>(T));
}

}  // namespace linearmem
