// Modern Hopfield network, query by query, in float64.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "associative_memory/checks.hpp"
#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"

namespace linearmem {
namespace {

constexpr const char* kHopfield = "hopfield";

// Shared by all queries of a call.
struct Network {
  View<const double, 2> patterns;
  double beta, longest = 0;  // longest: max |p_i|^2

  std::int64_t M() const { return patterns.extent(0); }
  std::int64_t K() const { return patterns.extent(1); }

  // p = softmax(beta patterns x^T); returns ln sum_i exp(beta p_i x^T).
  double weigh(const std::vector<double>& x, std::vector<double>& p) const {
    double largest = -HUGE_VAL, total = 0;
    for (std::int64_t i = 0; i < M(); ++i) {
      double s = 0;
      for (std::int64_t c = 0; c < K(); ++c) s += patterns(i, c) * x[static_cast<std::size_t>(c)];
      p[static_cast<std::size_t>(i)] = beta * s;
      largest = std::max(largest, beta * s);
    }
    for (double& value : p) total += value = std::exp(value - largest);
    for (double& value : p) value /= total;
    return largest + std::log(total);
  }

  double energy(const std::vector<double>& x, double log_sum) const {
    double squares = 0;
    for (double value : x) squares += value * value;
    return -log_sum / beta + squares / 2 + std::log(static_cast<double>(M())) / beta + longest / 2;
  }
};

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

template <typename T>
void keep(const HopfieldArguments<T>& a, std::int64_t step, std::int64_t q, const std::vector<double>& x, double energy) {
  if (a.energy.given()) a.energy(step, q) = static_cast<T>(energy);
  for (std::int64_t c = 0; a.path.given() && c < a.patterns.extent(1); ++c)
    a.path(step, q, c) = static_cast<T>(x[static_cast<std::size_t>(c)]);
}

template <typename T>
void settle(const HopfieldArguments<T>& a, const Network& network, std::int64_t q) {
  const auto M = static_cast<std::size_t>(network.M()), K = static_cast<std::size_t>(network.K());
  std::vector<double> x(K), p(M), before(M);
  for (std::size_t c = 0; c < K; ++c) x[c] = static_cast<double>(a.start(q, static_cast<std::int64_t>(c)));
  std::int64_t step = 0;
  HopfieldStop stop = HopfieldStop::step_limit;
  while (step < a.max_steps && stop == HopfieldStop::step_limit) {
    const double log_sum = network.weigh(x, p);
    keep(a, step++, q, x, network.energy(x, log_sum));
    std::fill(x.begin(), x.end(), 0.0);
    for (std::size_t i = 0; i < M; ++i)
      for (std::size_t c = 0; c < K; ++c) x[c] += p[i] * network.patterns(static_cast<std::int64_t>(i), static_cast<std::int64_t>(c));
    if (step > 1 && distance(p, before) <= a.tolerance) stop = HopfieldStop::settled;
    std::swap(p, before);
  }
  if (a.energy.given() || a.path.given()) {
    const double energy = network.energy(x, network.weigh(x, p));
    for (std::int64_t later = step; later <= a.max_steps; ++later) keep(a, later, q, x, energy);
  }
  for (std::size_t c = 0; c < K; ++c) a.states(q, static_cast<std::int64_t>(c)) = static_cast<T>(x[c]);
  for (std::size_t i = 0; a.weights.given() && i < M; ++i) a.weights(q, static_cast<std::int64_t>(i)) = static_cast<T>(before[i]);
  if (a.steps.given()) a.steps(q) = step;
  if (a.stopped.given()) a.stopped(q) = static_cast<std::int64_t>(stop);
}

template <typename T>
Status check(const HopfieldArguments<T>& a) {
  ShapeCheck shapes(kHopfield);
  shapes.required("patterns", a.patterns, "M K").required("start", a.start, "Q K").required("states", a.states, "Q K");
  shapes.optional("weights", a.weights, "Q M").optional("steps", a.steps, "Q").optional("stopped", a.stopped, "Q");
  shapes.require(a.max_steps >= 1, "max_steps is " + std::to_string(a.max_steps) + ", must be at least 1");
  shapes.define("steps+1", "max_steps", a.max_steps + 1);
  shapes.optional("path", a.path, "steps+1 Q K").optional("energy", a.energy, "steps+1 Q");
  shapes.require(shapes.size("M") >= 1, "patterns is empty; M must be at least 1");
  shapes.require(a.beta > 0 && std::isfinite(a.beta), "beta is " + number_text(a.beta) + ", must be above 0 and finite");
  shapes.require(a.tolerance >= 0, "tolerance is " + number_text(a.tolerance) + ", must be at least 0");
  if (shapes.status().ok()) check_finite(shapes, "patterns", a.patterns);
  if (shapes.status().ok()) check_finite(shapes, "start", a.start);
  return shapes.status().ok() ? check_form(kHopfield, a.form, 0, {Form::reference}) : shapes.status();
}

template <typename T>
void run(const HopfieldArguments<T>& a, const View<const double, 2>& patterns) {
  Network network{patterns, a.beta};
  for (std::int64_t i = 0; i < network.M(); ++i) {
    double squares = 0;
    for (std::int64_t c = 0; c < network.K(); ++c) squares += patterns(i, c) * patterns(i, c);
    network.longest = std::max(network.longest, squares);
  }
  for (std::int64_t q = 0; q < a.start.extent(0); ++q) settle(a, network, q);
}

template <typename T>
Status enter(const HopfieldArguments<T>& a) {
  if (Status status = check(a); !status.ok()) return status;
  if constexpr (std::is_same_v<T, double>) {
    run(a, a.patterns);
  } else {
    const Widened<2> patterns(a.patterns);
    run(a, patterns.view());
  }
  return {};
}

}  // namespace

Status hopfield(const HopfieldArguments<float>& arguments) { return enter(arguments); }
Status hopfield(const HopfieldArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
