// The definition, as written in linear_attention.hpp: one token at a time, float64, nothing reused.
#include "linear_attention/head.hpp"

namespace linearmem::linear {
namespace {

// Decay and write.
void write(const Head<double>& head, const View<double, 2>& S, const View<double, 1>& z, std::int64_t t) {
  if (head.masked(t)) return;
  const auto keep = [&](double s) { return head.rounding ? rounded(*head.rounding, s) : s; };
  for (std::int64_t i = 0; i < head.key_width(); ++i) {
    const double phi = feature_of(head.feature, head.k(t, i)), decay = std::exp(log_decay(head.gates, t, i));
    for (std::int64_t j = 0; j < head.value_width(); ++j) S(i, j) = keep(decay * S(i, j) + phi * head.v(t, j));
    z(i) = keep(decay * z(i) + phi);
  }
}

void read(const Head<double>& head, const View<double, 2>& S, const View<double, 1>& z, std::int64_t t) {
  double denominator = head.eps;
  for (std::int64_t i = 0; i < head.key_width(); ++i) denominator += feature_of(head.feature, head.q(t, i)) * z(i);
  for (std::int64_t j = 0; j < head.value_width(); ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < head.key_width(); ++i) sum += feature_of(head.feature, head.q(t, i)) * S(i, j);
    if (head.normalize) sum = denominator == 0 ? 0 : sum / denominator;
    head.o(t, j) = sum;
  }
}

}  // namespace

void reference(const Head<double>& head) {
  const View<double, 2>& S = head.S;
  const View<double, 1>& z = head.z;
  if (!head.causal)
    for (std::int64_t t = 0; t < head.tokens(); ++t) write(head, S, z, t);
  for (std::int64_t t = 0; t < head.tokens(); ++t) {
    if (head.causal) write(head, S, z, t);
    read(head, S, z, t);
  }
}

}  // namespace linearmem::linear
