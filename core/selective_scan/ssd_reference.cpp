// The definition, as written in selective_scan.hpp: one token at a time, float64, nothing reused.
#include <cmath>

#include "selective_scan/ssd_head.hpp"

namespace linearmem::scan {

void reference(const SsdHead<double>& head) {
  for (std::int64_t t = 0; t < head.tokens(); ++t)
    for (std::int64_t p = 0; p < head.width(); ++p) {
      double y = 0;
      for (std::int64_t n = 0; n < head.state_size(); ++n) {
        head.S(n, p) = std::exp(head.dt(t) * head.A) * head.S(n, p) + head.dt(t) * head.B(t, n) * head.x(t, p);
        y += head.C(t, n) * head.S(n, p);
      }
      head.y(t, p) = head.skip ? y + head.D * head.x(t, p) : y;
    }
}

}  // namespace linearmem::scan
