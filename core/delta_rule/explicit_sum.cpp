// Every output as a weighted sum of the values written so far and of the first state:
//   o_t = sum_{s <= t} M_ts v_s + w_t0 S_0,   M_ts = beta_s (w_ts k_s^T),
//   w_tt = scale q_t,   w_t,s-1 = exp(g_s) (w_ts - beta_s (w_ts k_s^T) k_s), exp(g_s) for each key component where g_s is.
// A read is the same sum with w = exp(g_t) k_t, from token t-1 on. Quadratic in T; it never forms an intermediate state.
#include <algorithm>
#include <cmath>
#include <vector>

#include "delta_rule/head.hpp"

namespace linearmem::delta {
namespace {

template <typename T>
class Weights {
 public:
  Weights(const Head<T>& head)
      : head_(head), K_(head.key_width()), keys_(prepare_rows(head.k, 0, head.tokens(), head.l2norm, 1.0)),
        w_(static_cast<std::size_t>(K_)), G_(head.gates.given() ? head.gates.extent(1) : 0) {
    for (std::int64_t t = 0; t < head.tokens(); ++t)
      for (std::int64_t i = 0; i < G_; ++i) decay_.push_back(head.decay(t, i));
  }

  const T* key(std::int64_t t) const { return keys_.data() + t * K_; }
  T decay(std::int64_t t, std::int64_t i) const { return G_ == 0 ? T{1} : decay_[static_cast<std::size_t>(t * G_ + (G_ == 1 ? 0 : i))]; }

  // out = what the row `start` reads from the state after token `last`; -1 is the first state.
  void read(const std::vector<T>& start, std::int64_t last, const View<const T, 2>& first_state, std::vector<T>& out) {
    w_ = start;
    out.assign(out.size(), T{0});
    for (std::int64_t s = last; s >= 0; --s) {
      const T* k = key(s);
      T match = 0;
      for (std::int64_t i = 0; i < K_; ++i) match += w_[i] * k[i];
      const T weight = head_.beta(s) * match;
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += weight * head_.v(s, j);
      for (std::int64_t i = 0; i < K_; ++i) w_[i] = decay(s, i) * (w_[i] - weight * k[i]);
    }
    for (std::int64_t i = 0; i < K_; ++i)
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += w_[i] * first_state(i, j);
  }

 private:
  const Head<T>& head_;
  std::int64_t K_;
  std::vector<T> keys_, w_;
  std::int64_t G_;
  std::vector<T> decay_;  // [T,G]
};

template <typename T>
void write_row(const std::vector<T>& row, const View<T, 2>& to, std::int64_t t) {
  for (std::size_t j = 0; j < row.size(); ++j) to(t, j) = row[j];
}

}  // namespace

template <typename T>
void explicit_sum(const Head<T>& head) {
  const std::int64_t K = head.key_width(), tokens = head.tokens();
  if (tokens == 0) return;
  Weights<T> weights(head);
  std::vector<T> start(static_cast<std::size_t>(K)), row(static_cast<std::size_t>(head.value_width()));
  for (std::int64_t t = 0; t < tokens; ++t) {
    prepare_row(head.q, t, head.l2norm, head.scale, start.data());
    weights.read(start, t, head.S, row);
    write_row(row, head.o, t);
    if (!head.reads.given()) continue;
    for (std::int64_t i = 0; i < K; ++i) start[i] = weights.decay(t, i) * weights.key(t)[i];
    weights.read(start, t - 1, head.S, row);
    write_row(row, head.reads, t);
  }
  std::vector<T> last(static_cast<std::size_t>(K * head.value_width()));
  for (std::int64_t i = 0; i < K; ++i) {  // row i of the last state is what the i-th unit vector reads
    start.assign(start.size(), T{0});
    start[i] = 1;
    weights.read(start, tokens - 1, head.S, row);
    std::copy(row.begin(), row.end(), last.begin() + i * head.value_width());
  }
  std::copy(last.begin(), last.end(), head.S.data());
}

template void explicit_sum(const Head<float>&);
template void explicit_sum(const Head<double>&);

}  // namespace linearmem::delta
