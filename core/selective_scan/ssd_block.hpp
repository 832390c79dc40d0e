// A block of tokens of one head as a matrix: the chunked form joins many of these, the explicit form is one over the whole sequence.
// With r(s,t] = dt_{s+1} + ... + dt_t and S the state before the block:
//   y_t = sum_{s <= t} M_ts x_s + exp(r(0,t] A) C_t S + D x_t,   M_ts = (C_t B_s^T) exp(r(s,t] A) dt_s
//   S   = exp(r(0,C] A) S + sum_s exp(r(s,C] A) dt_s B_s^T x_s
// Only sums between two tokens are exponentiated, so a strong decay gives 0 and never infinity over infinity.
// Source: Dao & Gu 2024, the quadratic form and its block decomposition.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "selective_scan/ssd_head.hpp"

namespace linearmem::scan {

template <typename T>
class SsdMatrix {
 public:
  SsdMatrix(const SsdHead<T>& head, std::int64_t begin, std::int64_t end)
      : head_(head), begin_(begin), tokens_(end - begin), N_(head.state_size()), P_(head.width()), row_(static_cast<std::size_t>(P_)),
        decay_(static_cast<std::size_t>(tokens_ + 1)) {}

  void run() {
    for (std::int64_t t = 0; t < tokens_; ++t) {
      set_decays(t);
      read(t);
      for (std::int64_t p = 0; p < P_; ++p) head_.y(begin_ + t, p) = head_.output(begin_ + t, p, row_[p]);
    }
    if (tokens_ > 0) write_state();
  }

 private:
  // decay_[s + 1] = exp(r(s,t] A) for the block's tokens s <= t; decay_[0] is from the state before the block.
  void set_decays(std::int64_t t) {
    T sum = 0;
    for (std::int64_t s = t; s >= 0; --s) {
      decay_[s + 1] = std::exp(sum * head_.A);
      sum += head_.dt(begin_ + s);
    }
    decay_[0] = std::exp(sum * head_.A);
  }

  void read(std::int64_t t) {
    std::fill(row_.begin(), row_.end(), T{0});
    for (std::int64_t n = 0; n < N_; ++n) {
      const T weight = decay_[0] * head_.C(begin_ + t, n);
      for (std::int64_t p = 0; p < P_; ++p) row_[p] += weight * head_.S(n, p);
    }
    for (std::int64_t s = 0; s <= t; ++s) {
      T match = 0;
      for (std::int64_t n = 0; n < N_; ++n) match += head_.C(begin_ + t, n) * head_.B(begin_ + s, n);
      add_token(s, match, row_.data());
    }
  }

  void write_state() {
    for (std::int64_t n = 0; n < N_; ++n) {
      T* row = head_.S.data() + n * P_;
      for (std::int64_t p = 0; p < P_; ++p) row[p] *= decay_[0];
      for (std::int64_t s = 0; s < tokens_; ++s) add_token(s, head_.B(begin_ + s, n), row);
    }
  }

  void add_token(std::int64_t s, T match, T* to) const {
    const T weight = match * decay_[s + 1] * head_.dt(begin_ + s);
    for (std::int64_t p = 0; p < P_; ++p) to[p] += weight * head_.x(begin_ + s, p);
  }

  const SsdHead<T>& head_;
  std::int64_t begin_, tokens_, N_, P_;
  std::vector<T> row_, decay_;
};

}  // namespace linearmem::scan
