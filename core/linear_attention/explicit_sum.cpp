// Every output as a weighted sum of the values it can see and of the first state; no state in between is formed:
//   o_t = phi(q_t) D_t0 S_0 + sum_s (phi(q_t) D_ts phi(k_s)^T) v_s,   s <= t if causal,   D_ts = diag exp(g_{s+1} + ... + g_t).
#include <algorithm>
#include <vector>

#include "linear_attention/head.hpp"

namespace linearmem::linear {
namespace {

template <typename T>
class Weights {
 public:
  explicit Weights(const Head<T>& head)
      : head_(head), K_(head.key_width()), columns_(head.value_width() + 1), query_(static_cast<std::size_t>(K_)),
        keys_(static_cast<std::size_t>(head.tokens() * K_)), values_(static_cast<std::size_t>(head.tokens() * columns_)),
        row_(static_cast<std::size_t>(columns_)), decays_(head.tokens(), head.gate_width()) {
    for (std::int64_t s = 0; s < head.tokens(); ++s) {
      for (std::int64_t i = 0; i < head.gate_width(); ++i) gates_.push_back(head.masked(s) ? T{0} : head.gates(s, i));
      feature_row(head.k, s, head.feature, keys_.data() + s * K_);
      value_row(head, s, values_.data() + s * columns_);
    }
  }

  void output(std::int64_t t) {
    feature_row(head_.q, t, head_.feature, query_.data());
    std::fill(row_.begin(), row_.end(), T{0});
    decays_.set(gates_.data(), t);
    for (std::int64_t i = 0; i < K_; ++i) add(decays_(0, i) * query_[i], head_.S.data() + i * columns_, row_.data());
    const std::int64_t end = head_.causal ? t + 1 : head_.tokens();
    for (std::int64_t s = 0; s < end; ++s) {
      if (!head_.masked(s))
        add(decays_.product(s + 1, query_.data(), keys_.data() + s * K_, K_), values_.data() + s * columns_, row_.data());
    }
    store_output(head_, t, row_.data());
  }

  void last_state() {
    decays_.set(gates_.data(), head_.tokens() - 1);
    for (std::int64_t i = 0; i < K_; ++i) {
      T* row = head_.S.data() + i * columns_;
      for (std::int64_t j = 0; j < columns_; ++j) row[j] *= decays_(0, i);
      for (std::int64_t s = 0; s < head_.tokens(); ++s)
        if (!head_.masked(s)) add(decays_(s + 1, i) * keys_[s * K_ + i], values_.data() + s * columns_, row);
    }
  }

 private:
  void add(T factor, const T* from, T* to) const {
    for (std::int64_t j = 0; j < columns_; ++j) to[j] += factor * from[j];
  }

  const Head<T>& head_;
  std::int64_t K_, columns_;
  std::vector<T> query_, keys_, values_, row_, gates_;
  Decays<T> decays_;
};

}  // namespace

template <typename T>
void explicit_sum(const Head<T>& head) {
  Weights<T> weights(head);
  for (std::int64_t t = 0; t < head.tokens(); ++t) weights.output(t);
  weights.last_state();
}

template void explicit_sum(const Head<float>&);
template void explicit_sum(const Head<double>&);

}  // namespace linearmem::linear
