// The definition, as written in delta_rule.hpp: one token at a time, float64, nothing reused.
#include <cmath>
#include <vector>

#include "delta_rule/head.hpp"

namespace linearmem::delta {
namespace {

double norm(const View<const double, 2>& rows, std::int64_t t) {
  double squares = 0;
  for (std::int64_t i = 0; i < rows.extent(1); ++i) squares += rows(t, i) * rows(t, i);
  return std::sqrt(squares + kNormEpsilon);
}

}  // namespace

void reference(const Head<double>& head) {
  const std::int64_t K = head.key_width(), V = head.value_width();
  const auto& S = head.S;
  for (std::int64_t t = 0; t < head.tokens(); ++t) {
    const double q_norm = head.l2norm ? norm(head.q, t) : 1.0;
    const double k_norm = head.l2norm ? norm(head.k, t) : 1.0;
    for (std::int64_t i = 0; i < K; ++i)
      for (std::int64_t j = 0; j < V; ++j) S(i, j) = head.decay(t, i) * S(i, j);
    for (std::int64_t j = 0; j < V; ++j) {
      double read = 0;
      for (std::int64_t i = 0; i < K; ++i) read += head.k(t, i) / k_norm * S(i, j);
      if (head.reads.given()) head.reads(t, j) = read;
      const double error = head.v(t, j) - read;
      for (std::int64_t i = 0; i < K; ++i) {
        S(i, j) = S(i, j) + head.beta(t) * (head.k(t, i) / k_norm) * error;
        if (head.rounding) S(i, j) = rounded(*head.rounding, S(i, j));
      }
      double output = 0;
      for (std::int64_t i = 0; i < K; ++i) output += head.scale * (head.q(t, i) / q_norm) * S(i, j);
      head.o(t, j) = output;
    }
  }
}

}  // namespace linearmem::delta
