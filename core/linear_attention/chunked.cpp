// Blocks of C tokens. With S the state before a block (z its last column) and D_ts = diag exp(g_{s+1} + ... + g_t):
//   o_t = phi(q_t) D_t0 S + sum_{s<=t} (phi(q_t) D_ts phi(k_s)^T) v_s      s in the block
//   S   = D_C0 S + sum_s D_Cs phi(k_s)^T v_s
// Not causal: all blocks write first, then every query reads.
// Source: Yang, Wang, Shen, Panda & Kim 2024, "Gated Linear Attention Transformers".
#include <algorithm>
#include <vector>

#include "linear_attention/head.hpp"

namespace linearmem::linear {
namespace {

template <typename T>
class Block {
 public:
  Block(const Head<T>& head, std::int64_t begin, std::int64_t end)
      : head_(head), begin_(begin), K_(head.key_width()), columns_(head.value_width() + 1), query_(static_cast<std::size_t>(K_)),
        row_(static_cast<std::size_t>(columns_)), decays_(end - begin, head.gate_width()), queries_(end - begin) {
    for (std::int64_t t = begin; t < end; ++t) {
      writes_before_.push_back(writes_);
      if (head.masked(t)) continue;
      ++writes_;
      keys_.resize(static_cast<std::size_t>(writes_ * K_));
      values_.resize(static_cast<std::size_t>(writes_ * columns_));
      feature_row(head.k, t, head.feature, keys_.data() + (writes_ - 1) * K_);
      value_row(head, t, values_.data() + (writes_ - 1) * columns_);
      for (std::int64_t i = 0; i < head.gate_width(); ++i) gates_.push_back(head.gates(t, i));
    }
    writes_before_.push_back(writes_);
  }

  // Causal: the state before the block, and the block's own tokens up to each query.
  void read_causal() {
    for (std::int64_t t = 0; t < queries_; ++t) read(t, writes_before_[static_cast<std::size_t>(t + 1)]);
  }
  void read_state() {
    for (std::int64_t t = 0; t < queries_; ++t) read(t, 0);
  }
  void write_state() {
    decays_.set(gates_.data(), writes_ - 1);
    for (std::int64_t i = 0; i < K_; ++i) {
      T* row = head_.S.data() + i * columns_;
      for (std::int64_t j = 0; j < columns_; ++j) row[j] *= decays_(0, i);
      for (std::int64_t s = 0; s < writes_; ++s) add(decays_(s + 1, i) * keys_[s * K_ + i], values_.data() + s * columns_, row);
    }
  }

 private:
  void read(std::int64_t t, std::int64_t writes) {
    feature_row(head_.q, begin_ + t, head_.feature, query_.data());
    std::fill(row_.begin(), row_.end(), T{0});
    decays_.set(gates_.data(), writes - 1);
    for (std::int64_t i = 0; i < K_; ++i) add(decays_(0, i) * query_[i], head_.S.data() + i * columns_, row_.data());
    for (std::int64_t s = 0; s < writes; ++s)
      add(decays_.product(s + 1, query_.data(), keys_.data() + s * K_, K_), values_.data() + s * columns_, row_.data());
    store_output(head_, begin_ + t, row_.data());
  }

  void add(T factor, const T* from, T* to) const {
    for (std::int64_t j = 0; j < columns_; ++j) to[j] += factor * from[j];
  }

  const Head<T>& head_;
  std::int64_t begin_, K_, columns_;
  std::vector<T> query_, row_, keys_, values_, gates_;  // keys_, values_, gates_: of the block's tokens that are not masked
  Decays<T> decays_;
  std::vector<std::int64_t> writes_before_;
  std::int64_t queries_, writes_ = 0;
};

template <typename T, typename Visit>
void each_block(const Head<T>& head, std::int64_t chunk, Visit visit) {
  for (std::int64_t begin = 0; begin < head.tokens(); begin += chunk) {
    Block<T> block(head, begin, std::min(begin + chunk, head.tokens()));
    visit(block);
  }
}

}  // namespace

template <typename T>
void chunked(const Head<T>& head, std::int64_t chunk) {
  if (head.causal)
    return each_block(head, chunk, [](Block<T>& block) {
      block.read_causal();
      block.write_state();
    });
  each_block(head, chunk, [](Block<T>& block) { block.write_state(); });
  each_block(head, chunk, [](Block<T>& block) { block.read_state(); });
}

template void chunked(const Head<float>&, std::int64_t);
template void chunked(const Head<double>&, std::int64_t);

}  // namespace linearmem::linear
