// The explicit form: a network of two layers with one hidden unit per item. The first layer's weights are the keys, the second's the
// values; the hidden activations of a query all stand at once.
#include <algorithm>
#include <cmath>

#include "associative_memory/forms.hpp"

namespace linearmem::associative {

void weights_of(const View<const double, 2>& keys, const View<const double, 2>& queries, const ResponseRule& rule,
                const View<double, 2>& weights) {
  if (rule.response == Response::least_squares) return least_squares_weights(keys, queries, weights);
  const std::int64_t M = keys.extent(0);
  const bool softmax = rule.response == Response::softmax;
  const double beta = beta_for(rule, M);
  for (std::int64_t q = 0; q < queries.extent(0); ++q) {
    double largest = -HUGE_VAL, total = 0;
    for (std::int64_t i = 0; i < M; ++i) {
      double s = 0;
      for (std::int64_t c = 0; c < keys.extent(1); ++c) s += queries(q, c) * keys(i, c);
      weights(q, i) = softmax ? beta * s : respond(rule, s, M);
      largest = std::max(largest, weights(q, i));
    }
    if (!softmax) continue;
    for (std::int64_t i = 0; i < M; ++i) total += weights(q, i) = std::exp(weights(q, i) - largest);
    for (std::int64_t i = 0; i < M; ++i) weights(q, i) /= total;
  }
}

void two_layers(const Read& read) {
  const std::int64_t M = read.keys.extent(0), K = read.keys.extent(1);
  Tensor<double, 2> hidden({1, M});
  for (std::int64_t q = 0; q < read.queries.extent(0); ++q) {
    const View<const double, 2> query(&read.queries(q, 0), {1, K}, read.queries.strides());
    weights_of(read.keys, query, read.rule, hidden.view());
    for (std::int64_t j = 0; j < read.values.extent(1); ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < M; ++i) sum += hidden(0, i) * read.values(i, j);
      read.o(q, j) = sum;
    }
  }
}

void read_state(const View<const double, 2>& queries, const View<const double, 2>& S, const View<double, 2>& o) {
  for (std::int64_t q = 0; q < queries.extent(0); ++q)
    for (std::int64_t j = 0; j < S.extent(1); ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < S.extent(0); ++i) sum += queries(q, i) * S(i, j);
      o(q, j) = sum;
    }
}

}  // namespace linearmem::associative
