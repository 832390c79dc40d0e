// Blocks of C tokens. Inside a block every channel is scanned from zero, beside the sum of its steps; the state that enters the
// block is added to each output:
//   l_t = exp(s_t A) l_{t-1} + s_t B_t u_t,   r_t = s_1 + ... + s_t      (l = 0 before the block)
//   y_t = C_t (exp(r_t A) h + l_t)            and after the block        h = exp(r_C A) h + l_C
#include <algorithm>
#include <cmath>
#include <vector>

#include "selective_scan/mamba_sequence.hpp"

namespace linearmem::scan {
namespace {

template <typename T>
void run_block(const MambaSequence<T>& sequence, std::int64_t d, std::int64_t begin, std::int64_t end, std::vector<T>& local) {
  local.assign(local.size(), T{0});
  T steps = 0;
  for (std::int64_t t = begin; t < end; ++t) {
    const T step = sequence.step(t, d), write = step * sequence.u(t, d);
    steps += step;
    T read = 0;
    for (std::int64_t n = 0; n < sequence.state_size(); ++n) {
      const T A = sequence.A(d, n);
      local[n] = std::exp(step * A) * local[n] + sequence.B(t, n) * write;
      read += sequence.C(t, n) * (std::exp(steps * A) * sequence.h(d, n) + local[n]);
    }
    sequence.y(t, d) = sequence.output(t, d, read);
  }
  for (std::int64_t n = 0; n < sequence.state_size(); ++n)
    sequence.h(d, n) = std::exp(steps * sequence.A(d, n)) * sequence.h(d, n) + local[n];
}

}  // namespace

template <typename T>
void chunked(const MambaSequence<T>& sequence, std::int64_t chunk) {
  const std::int64_t tokens = sequence.tokens();
  std::vector<T> local(static_cast<std::size_t>(sequence.state_size()));
  for (std::int64_t begin = 0, size = 0; begin < tokens; begin += size) {
    size = std::min(chunk, tokens - begin);
    for (std::int64_t d = 0; d < sequence.channels(); ++d) run_block(sequence, d, begin, begin + size, local);
  }
}

template void chunked(const MambaSequence<float>&, std::int64_t);
template void chunked(const MambaSequence<double>&, std::int64_t);

}  // namespace linearmem::scan
