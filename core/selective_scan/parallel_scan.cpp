// The parallel scan: pairs (a_t, b_t x_t) of all tokens, composed along a tree; the first state stands in the first pair.
#include <vector>

#include "selective_scan/pair_scan.hpp"
#include "selective_scan/sequence.hpp"

namespace linearmem::scan {

template <typename T>
void parallel_scan(const Sequence<T>& sequence) {
  const std::int64_t D = sequence.channels(), tokens = sequence.tokens();
  if (tokens == 0) return;
  std::vector<T> a(static_cast<std::size_t>(tokens * D)), u(a.size());
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t d = 0; d < D; ++d) {
      a[t * D + d] = sequence.a(t, d);
      u[t * D + d] = sequence.b(t, d) * sequence.x(t, d);
    }
  for (std::int64_t d = 0; d < D; ++d) u[d] += a[d] * sequence.h(d);
  scan_pairs(a.data(), u.data(), tokens, D);
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t d = 0; d < D; ++d) sequence.y(t, d) = sequence.c(t, d) * u[t * D + d];
  for (std::int64_t d = 0; d < D; ++d) sequence.h(d) = u[(tokens - 1) * D + d];
}

template void parallel_scan(const Sequence<float>&);
template void parallel_scan(const Sequence<double>&);

}  // namespace linearmem::scan
