// The definition, as written in depth_recurrence.hpp: one token at a time, every sum from its start.
#include "depth_recurrence/halting.hpp"

namespace linearmem::depth {
namespace {

using Arguments = AdaptiveComputationTimeArguments<double>;

// Rounds are counted from 1 here, as in the equations.
struct Token {
  const Arguments& a;
  std::int64_t b, t;

  std::int64_t cap() const { return a.p.extent(2); }
  double p(std::int64_t round) const { return a.p(b, t, round - 1); }
  double sum_to(std::int64_t round) const {
    double sum = 0;
    for (std::int64_t s = 1; s <= round; ++s) sum += p(s);
    return sum;
  }
  bool halts_at(std::int64_t round) const { return sum_to(round) >= 1 - a.eps; }
  std::int64_t rounds_used() const {
    for (std::int64_t round = 1; round < cap(); ++round)
      if (halts_at(round)) return round;
    return cap();
  }
  bool has_remainder(std::int64_t n) const { return a.halting == Halting::graves || halts_at(n); }
  double weight(std::int64_t round, std::int64_t n) const {
    if (round > n) return 0;
    return round == n && has_remainder(n) ? 1 - sum_to(n - 1) : p(round);
  }
};

}  // namespace

void halting_reference(const Arguments& a) {
  for (std::int64_t b = 0; b < a.p.extent(0); ++b)
    for (std::int64_t t = 0; t < a.p.extent(1); ++t) {
      const Token token{a, b, t};
      const bool part = takes_part(a, b, t);
      const std::int64_t n = part ? token.rounds_used() : 0;
      if (a.n.given()) a.n(b, t) = n;
      if (a.remainder.given()) a.remainder(b, t) = part && token.has_remainder(n) ? token.weight(n, n) : 0;
      for (std::int64_t round = 1; a.weights.given() && round <= token.cap(); ++round) a.weights(b, t, round - 1) = token.weight(round, n);
      for (std::int64_t d = 0; d < a.x.extent(3); ++d) {
        double mixed = 0;
        for (std::int64_t round = 1; round <= n; ++round) mixed += token.weight(round, n) * a.x(round - 1, b, t, d);
        a.o(b, t, d) = mixed;
      }
    }
}

}  // namespace linearmem::depth
