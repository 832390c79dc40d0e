// The definition, as written in causal_conv.hpp: one output at a time, float64.
#include "causal_conv/sequence.hpp"
#include "foundation/activation.hpp"

namespace linearmem::conv {
namespace {

// The input of token t, which for t < 0 is one of those kept.
double input(const Sequence<double>& sequence, std::int64_t t, std::int64_t d) {
  return t < 0 ? sequence.kept(d, t + sequence.width() - 1) : sequence.x(t, d);
}

}  // namespace

void reference(const Sequence<double>& sequence) {
  const std::int64_t W = sequence.width(), tokens = sequence.tokens();
  for (std::int64_t d = 0; d < sequence.channels(); ++d) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      double sum = sequence.bias.given() ? sequence.bias(d) : 0;
      for (std::int64_t j = 0; j < W; ++j) sum += sequence.weight(d, j) * input(sequence, t - W + 1 + j, d);
      sequence.y(t, d) = sequence.activation == Activation::silu ? silu(sum) : sum;
    }
    for (std::int64_t j = 0; j < W - 1; ++j) sequence.kept(d, j) = input(sequence, tokens - W + 1 + j, d);
  }
}

}  // namespace linearmem::conv
