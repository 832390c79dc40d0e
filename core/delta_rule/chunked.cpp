// Blocks of C tokens. With D_ts = diag exp(g_{s+1} + ... + g_t) inside a block and S the state before it:
//   u_t = beta_t (v_t - k_t D_t0 S - sum_{s<t} (k_t D_ts k_s^T) u_s)      a triangular solve, row by row
//   o_t = scale (q_t D_t0 S + sum_{s<=t} (q_t D_ts k_s^T) u_s)
//   S   = D_C0 S + sum_s D_Cs k_s^T u_s
// Source: Yang et al. 2024, "Parallelizing Linear Transformers with the Delta Rule over Sequence Length"; the gates as in Gated DeltaNet
// and, for each key component, in Kimi Linear.
#include <algorithm>
#include <vector>

#include "delta_rule/head.hpp"

namespace linearmem::delta {
namespace {

template <typename T>
class Block {
 public:
  Block(const Head<T>& head, std::int64_t begin, std::int64_t end)
      : head_(head), begin_(begin), tokens_(end - begin), K_(head.key_width()), V_(head.value_width()),
        q_(prepare_rows(head.q, begin, end, head.l2norm, head.scale)), k_(prepare_rows(head.k, begin, end, head.l2norm, 1.0)),
        u_(static_cast<std::size_t>(tokens_ * V_)), row_(static_cast<std::size_t>(V_)),
        decays_(tokens_, head.gates.given() ? head.gates.extent(1) : 0) {
    for (std::int64_t t = begin; t < end && head.gates.given(); ++t)
      for (std::int64_t i = 0; i < head.gates.extent(1); ++i) gates_.push_back(head.gates(t, i));
  }

  void run() {
    for (std::int64_t t = 0; t < tokens_; ++t) {
      decays_.set(gates_.data(), t);
      read(k_.data() + t * K_, t);
      for (std::int64_t j = 0; j < V_; ++j) {
        if (head_.reads.given()) head_.reads(begin_ + t, j) = row_[j];
        u_[t * V_ + j] = head_.beta(begin_ + t) * (head_.v(begin_ + t, j) - row_[j]);
      }
      read(q_.data() + t * K_, t + 1);
      for (std::int64_t j = 0; j < V_; ++j) head_.o(begin_ + t, j) = row_[j];
    }
    write_state();
  }

 private:
  // row_ = x D_t0 S + sum over the block's first `writes` tokens of (x D_ts k_s^T) u_s.
  void read(const T* x, std::int64_t writes) {
    std::fill(row_.begin(), row_.end(), T{0});
    for (std::int64_t i = 0; i < K_; ++i) add(decays_(0, i) * x[i], head_.S.data() + i * V_, row_.data());
    for (std::int64_t s = 0; s < writes; ++s) add(decays_.product(s + 1, x, k_.data() + s * K_, K_), u_.data() + s * V_, row_.data());
  }

  void write_state() {
    for (std::int64_t i = 0; i < K_; ++i) {
      T* row = head_.S.data() + i * V_;
      for (std::int64_t j = 0; j < V_; ++j) row[j] *= decays_(0, i);
      for (std::int64_t s = 0; s < tokens_; ++s) add(decays_(s + 1, i) * k_[s * K_ + i], u_.data() + s * V_, row);
    }
  }

  void add(T factor, const T* from, T* to) const {
    for (std::int64_t j = 0; j < V_; ++j) to[j] += factor * from[j];
  }

  const Head<T>& head_;
  std::int64_t begin_, tokens_, K_, V_;
  std::vector<T> q_, k_, u_, row_, gates_;
  Decays<T> decays_;
};

}  // namespace

template <typename T>
void chunked(const Head<T>& head, std::int64_t chunk) {
  for (std::int64_t begin = 0; begin < head.tokens(); begin += chunk)
    Block<T>(head, begin, std::min(begin + chunk, head.tokens())).run();
}

template void chunked(const Head<float>&, std::int64_t);
template void chunked(const Head<double>&, std::int64_t);

}  // namespace linearmem::delta
