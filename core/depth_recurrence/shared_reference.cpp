// The definition, as written in depth_recurrence.hpp: one token, one round, one component at a time.
#include <vector>

#include "depth_recurrence/block.hpp"

namespace linearmem::depth {
namespace {

using Arguments = SharedDepthArguments<double>;

double bias(const View<const double, 1>& given, std::int64_t j) { return given.given() ? given(j) : 0; }

std::vector<double> round_of(const Arguments& a, const std::vector<double>& x, DepthWork& work) {
  const std::int64_t D = a.w1.extent(0), F = a.w1.extent(1);
  std::vector<double> inner(static_cast<std::size_t>(F)), next(x);
  for (std::int64_t f = 0; f < F; ++f) {
    double sum = 0;
    for (std::int64_t d = 0; d < D; ++d, ++work.operations) sum += x[d] * a.w1(d, f);
    inner[f] = activate(a.activation, sum + bias(a.b1, f));
  }
  for (std::int64_t d = 0; d < D; ++d) {
    double sum = 0;
    for (std::int64_t f = 0; f < F; ++f, ++work.operations) sum += inner[f] * a.w2(f, d);
    next[d] = x[d] + (sum + bias(a.b2, d));
  }
  return next;
}

}  // namespace

DepthWork shared_reference(const Arguments& a) {
  DepthWork work{a.w1.size() + a.w2.size() + (a.b1.given() ? a.b1.size() : 0) + (a.b2.given() ? a.b2.size() : 0), 0};
  for (std::int64_t b = 0; b < a.x.extent(0); ++b)
    for (std::int64_t t = 0; t < a.x.extent(1); ++t) {
      std::vector<double> x;
      for (std::int64_t d = 0; d < a.x.extent(2); ++d) x.push_back(a.x(b, t, d));
      for (std::int64_t r = 0; r < a.rounds; ++r) {
        x = round_of(a, x, work);
        for (std::int64_t d = 0; a.states.given() && d < a.x.extent(2); ++d) a.states(r, b, t, d) = x[d];
      }
      for (std::int64_t d = 0; d < a.x.extent(2); ++d) a.y(b, t, d) = x[d];
    }
  return work;
}

}  // namespace linearmem::depth
