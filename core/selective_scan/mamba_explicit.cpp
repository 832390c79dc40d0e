// The Mamba scan as a matrix, channel by channel; no state in between is formed. With s_t the step of token t:
//   y_t = sum_{s <= t} M_ts s_s u_s + sum_n w_n(t, 0) h_0n,   M_ts = sum_n w_n(t, s) B_sn,
//   w_n(t, s) = C_tn exp(A_n s_t) ... exp(A_n s_{s+1}).
#include <cmath>
#include <vector>

#include "selective_scan/mamba_sequence.hpp"

namespace linearmem::scan {
namespace {

template <typename T>
class Channel {
 public:
  Channel(const MambaSequence<T>& sequence, std::int64_t d)
      : sequence_(sequence), d_(d), N_(sequence.state_size()), weights_(static_cast<std::size_t>(N_)) {
    for (std::int64_t n = 0; n < N_; ++n) first_.push_back(sequence.h(d, n));
    for (std::int64_t t = 0; t < sequence.tokens(); ++t) {
      const T step = sequence.step(t, d);
      writes_.push_back(step * sequence.u(t, d));
      for (std::int64_t n = 0; n < N_; ++n) decays_.push_back(std::exp(step * sequence.A(d, n)));
    }
  }

  void run() {
    for (std::int64_t t = 0; t < sequence_.tokens(); ++t) {
      for (std::int64_t n = 0; n < N_; ++n) weights_[n] = sequence_.C(t, n);
      sequence_.y(t, d_) = sequence_.output(t, d_, read(t));
    }
    for (std::int64_t n = 0; n < N_; ++n) {  // the n-th state value is what the n-th unit vector reads after the last token
      weights_.assign(weights_.size(), T{0});
      weights_[n] = 1;
      sequence_.h(d_, n) = read(sequence_.tokens() - 1);
    }
  }

 private:
  // What the weights read from the state after token `last`; they are used up.
  T read(std::int64_t last) {
    T sum = 0;
    for (std::int64_t s = last; s >= 0; --s) {
      T match = 0;
      for (std::int64_t n = 0; n < N_; ++n) match += weights_[n] * sequence_.B(s, n);
      sum += match * writes_[s];
      for (std::int64_t n = 0; n < N_; ++n) weights_[n] *= decays_[s * N_ + n];
    }
    for (std::int64_t n = 0; n < N_; ++n) sum += weights_[n] * first_[n];
    return sum;
  }

  const MambaSequence<T>& sequence_;
  std::int64_t d_, N_;
  std::vector<T> weights_, first_, writes_, decays_;
};

}  // namespace

template <typename T>
void explicit_sum(const MambaSequence<T>& sequence) {
  for (std::int64_t d = 0; d < sequence.channels(); ++d) Channel<T>(sequence, d).run();
}

template void explicit_sum(const MambaSequence<float>&);
template void explicit_sum(const MambaSequence<double>&);

}  // namespace linearmem::scan
