// The definition, as written in selective_scan.hpp: one token at a time, float64, nothing reused.
#include <cmath>

#include "selective_scan/mamba_sequence.hpp"

namespace linearmem::scan {

void reference(const MambaSequence<double>& sequence) {
  for (std::int64_t t = 0; t < sequence.tokens(); ++t)
    for (std::int64_t d = 0; d < sequence.channels(); ++d) {
      double step = sequence.delta(t, d);
      if (sequence.delta_bias.given()) step += sequence.delta_bias(d);
      if (sequence.with_softplus) step = softplus(step);
      double y = 0;
      for (std::int64_t n = 0; n < sequence.state_size(); ++n) {
        sequence.h(d, n) = std::exp(step * sequence.A(d, n)) * sequence.h(d, n) + step * sequence.B(t, n) * sequence.u(t, d);
        y += sequence.C(t, n) * sequence.h(d, n);
      }
      if (sequence.D.given()) y += sequence.D(d) * sequence.u(t, d);
      if (sequence.z.given()) y *= silu(sequence.z(t, d));
      sequence.y(t, d) = y;
    }
}

}  // namespace linearmem::scan
