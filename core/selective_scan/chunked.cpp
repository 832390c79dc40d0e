// Blocks of C tokens. Inside a block every channel is scanned from zero, beside the product of its decays; the state that
// enters the block is added to each output:
//   l_t = a_t l_{t-1} + b_t x_t,   p_t = a_t p_{t-1}   (l = 0, p = 1 before the block)
//   y_t = c_t (p_t h + l_t)        and after the block   h = p_C h + l_C
#include <algorithm>
#include <vector>

#include "selective_scan/sequence.hpp"

namespace linearmem::scan {

template <typename T>
void chunked(const Sequence<T>& sequence, std::int64_t chunk) {
  const std::int64_t D = sequence.channels(), tokens = sequence.tokens();
  std::vector<T> local(static_cast<std::size_t>(D)), decay(static_cast<std::size_t>(D));
  T* h = sequence.h.data();
  for (std::int64_t begin = 0; begin < tokens; begin += std::min(chunk, tokens - begin)) {
    local.assign(local.size(), T{0});
    decay.assign(decay.size(), T{1});
    const std::int64_t end = begin + std::min(chunk, tokens - begin);
    for (std::int64_t t = begin; t < end; ++t)
      for (std::int64_t d = 0; d < D; ++d) {
        local[d] = sequence.a(t, d) * local[d] + sequence.b(t, d) * sequence.x(t, d);
        decay[d] *= sequence.a(t, d);
        sequence.y(t, d) = sequence.c(t, d) * (decay[d] * h[d] + local[d]);
      }
    for (std::int64_t d = 0; d < D; ++d) h[d] = decay[d] * h[d] + local[d];
  }
}

template void chunked(const Sequence<float>&, std::int64_t);
template void chunked(const Sequence<double>&, std::int64_t);

}  // namespace linearmem::scan
