// The parallel scan: channel by channel, the pairs (exp(s_t A), s_t B_t u_t) of all tokens composed along a tree; the first state
// stands in the first pair.
#include <cmath>
#include <vector>

#include "selective_scan/mamba_sequence.hpp"
#include "selective_scan/pair_scan.hpp"

namespace linearmem::scan {
namespace {

template <typename T>
class Channel {
 public:
  explicit Channel(const MambaSequence<T>& sequence)
      : sequence_(sequence),
        tokens_(sequence.tokens()),
        N_(sequence.state_size()),
        a_(static_cast<std::size_t>(tokens_ * N_)),
        u_(a_.size()) {}

  void run(std::int64_t d) {
    for (std::int64_t t = 0; t < tokens_; ++t) {
      const T step = sequence_.step(t, d), write = step * sequence_.u(t, d);
      for (std::int64_t n = 0; n < N_; ++n) {
        a_[t * N_ + n] = std::exp(step * sequence_.A(d, n));
        u_[t * N_ + n] = sequence_.B(t, n) * write;
      }
    }
    for (std::int64_t n = 0; n < N_; ++n) u_[n] += a_[n] * sequence_.h(d, n);
    scan_pairs(a_.data(), u_.data(), tokens_, N_);
    for (std::int64_t t = 0; t < tokens_; ++t) {
      T read = 0;
      for (std::int64_t n = 0; n < N_; ++n) read += sequence_.C(t, n) * u_[t * N_ + n];
      sequence_.y(t, d) = sequence_.output(t, d, read);
    }
    for (std::int64_t n = 0; n < N_; ++n) sequence_.h(d, n) = u_[(tokens_ - 1) * N_ + n];
  }

 private:
  const MambaSequence<T>& sequence_;
  std::int64_t tokens_, N_;
  std::vector<T> a_, u_;
};

}  // namespace

template <typename T>
void parallel_scan(const MambaSequence<T>& sequence) {
  if (sequence.tokens() == 0) return;
  Channel<T> channel(sequence);
  for (std::int64_t d = 0; d < sequence.channels(); ++d) channel.run(d);
}

template void parallel_scan(const MambaSequence<float>&);
template void parallel_scan(const MambaSequence<double>&);

}  // namespace linearmem::scan
