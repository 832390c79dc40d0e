// The definition, as written in softmax_attention.hpp: the whole row of scores, float64. The largest score is taken out of every
// exponent; it cancels in the quotient and keeps exp from overflowing.
#include <cmath>
#include <limits>

#include "softmax_attention/head.hpp"

namespace linearmem::softmax {
namespace {

double score(const Head<double>& head, std::int64_t t, std::int64_t s) {
  double match = 0;
  for (std::int64_t i = 0; i < head.key_width(); ++i) match += head.q(t, i) * head.k(s, i);
  return head.scale * match;
}

}  // namespace

void reference(const Head<double>& head) {
  for (std::int64_t t = head.begin; t < head.end; ++t) {
    for (std::int64_t j = 0; j < head.value_width(); ++j) head.o(t, j) = 0;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t s = 0; s < head.tokens(); ++s)
      if (head.visible(t, s)) largest = std::fmax(largest, score(head, t, s));
    double total = 0;
    for (std::int64_t s = 0; s < head.tokens(); ++s)
      if (head.visible(t, s)) total += std::exp(score(head, t, s) - largest);
    for (std::int64_t s = 0; s < head.tokens(); ++s) {
      if (!head.visible(t, s)) continue;
      const double weight = std::exp(score(head, t, s) - largest) / total;
      for (std::int64_t j = 0; j < head.value_width(); ++j) head.o(t, j) += weight * head.v(s, j);
    }
  }
}

}  // namespace linearmem::softmax
