// The definition: item by item, float64. softmax subtracts its largest score first, which changes no weight.
#include <algorithm>
#include <cmath>

#include "associative_memory/forms.hpp"

namespace linearmem::associative {

void reference(const Read& read) {
  const std::int64_t M = read.keys.extent(0), K = read.keys.extent(1), V = read.values.extent(1);
  const bool softmax = read.rule.response == Response::softmax;
  const auto score = [&](std::int64_t q, std::int64_t i) {
    double sum = 0;
    for (std::int64_t c = 0; c < K; ++c) sum += read.queries(q, c) * read.keys(i, c);
    return sum;
  };
  const double beta = beta_for(read.rule, M);
  for (std::int64_t q = 0; q < read.queries.extent(0); ++q) {
    double largest = -HUGE_VAL, total = 0;
    for (std::int64_t i = 0; softmax && i < M; ++i) largest = std::max(largest, beta * score(q, i));
    for (std::int64_t j = 0; j < V; ++j) read.o(q, j) = 0;
    for (std::int64_t i = 0; i < M; ++i) {
      const double s = score(q, i), weight = softmax ? std::exp(beta * s - largest) : respond(read.rule, s, M);
      total += weight;
      for (std::int64_t j = 0; j < V; ++j) read.o(q, j) += weight * read.values(i, j);
    }
    for (std::int64_t j = 0; softmax && M > 0 && j < V; ++j) read.o(q, j) /= total;
  }
}

}  // namespace linearmem::associative
