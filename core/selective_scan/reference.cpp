// The definition, as written in selective_scan.hpp: one token at a time, float64, nothing reused.
#include "selective_scan/sequence.hpp"

namespace linearmem::scan {

void reference(const Sequence<double>& sequence) {
  for (std::int64_t t = 0; t < sequence.tokens(); ++t)
    for (std::int64_t d = 0; d < sequence.channels(); ++d) {
      sequence.h(d) = sequence.a(t, d) * sequence.h(d) + sequence.b(t, d) * sequence.x(t, d);
      sequence.y(t, d) = sequence.c(t, d) * sequence.h(d);
    }
}

}  // namespace linearmem::scan
