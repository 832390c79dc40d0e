// The recurrent form: packs a block of tokens at a time and hands it to the SIMD kernel, which carries the state.
#include <algorithm>

#include "foundation/aligned_buffer.hpp"
#include "foundation/column_tiles.hpp"
#include "linear_attention/head.hpp"
#include "linear_attention/kernel.hpp"

namespace linearmem::linear {
namespace {

template <typename T>
class PackedHead {
 public:
  explicit PackedHead(const Head<T>& head)
      : head_(head), K_(head.key_width()), V_(head.value_width()), row_(padded_columns<T>(V_ + 1)), state_(K_ * row_),
        decayed_(head.gates.given() || head.rounding), q_(kBlockTokens * K_), k_(kBlockTokens * K_),
        decay_(decayed_ ? kBlockTokens * K_ : 0), values_(kBlockTokens * row_), outputs_(kBlockTokens * row_) {
    load_tiles(head.state.data(), V_ + 1, state_.data(), K_, V_ + 1);
  }

  void run(std::int64_t begin, std::int64_t tokens, bool write, bool read) {
    if (write) pack_writes(begin, tokens);
    if (read) pack_features(head_.q, begin, tokens, q_.data());
    kernel_block({.q = read ? q_.data() : nullptr,
                  .k = write ? k_.data() : nullptr,
                  .decay = decayed_ ? decay_.data() : nullptr,
                  .rounding = head_.rounding ? &*head_.rounding : nullptr,
                  .values = values_.data(),
                  .outputs = outputs_.data(),
                  .state = state_.data(),
                  .tokens = tokens,
                  .K = K_,
                  .columns = V_ + 1,
                  .row = row_});
    if (!read) return;
    for (std::int64_t t = 0; t < tokens; ++t) store_output(head_, begin + t, outputs_.data() + t * row_);
  }

  void store_state() const { store_tiles(state_.data(), head_.state.data(), V_ + 1, K_, V_ + 1); }

 private:
  // The buffers hold whole vectors (kBlockTokens is a multiple of any): the last one may cover stale values, none outside.
  void pack_features(const View<const T, 2>& rows, std::int64_t begin, std::int64_t tokens, T* to) const {
    for (std::int64_t t = 0; t < tokens; ++t) copy_row(rows, begin + t, to + t * K_);
    if (head_.feature == Feature::elu1) kernel_elu1(to, padded_columns<T>(tokens * K_));
    if (head_.feature == Feature::relu) kernel_relu(to, padded_columns<T>(tokens * K_));
  }

  void pack_writes(std::int64_t begin, std::int64_t tokens) {
    pack_features(head_.k, begin, tokens, k_.data());
    if (decayed_) pack_decays(begin, tokens);
    for (std::int64_t t = 0; t < tokens; ++t) {
      if (head_.masked(begin + t)) {
        std::fill_n(k_.data() + t * K_, K_, T{0});
        std::fill_n(values_.data() + t * row_, V_ + 1, T{0});
      } else {
        value_row(head_, begin + t, values_.data() + t * row_);
      }
    }
  }

  void pack_decays(std::int64_t begin, std::int64_t tokens) {
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t i = 0; i < K_; ++i)
        decay_.data()[t * K_ + i] = head_.masked(begin + t) ? T{1} : std::exp(log_decay(head_.gates, begin + t, i));
  }

  const Head<T>& head_;
  std::int64_t K_, V_, row_;
  AlignedBuffer<T> state_;
  bool decayed_;  // the kernel takes decays
  AlignedBuffer<T> q_, k_, decay_, values_, outputs_;
};

}  // namespace

template <typename T>
void recurrent(const Head<T>& head) {
  if (head.tokens() == 0) return;
  PackedHead<T> packed(head);
  const auto run = [&](bool write, bool read) {
    for (std::int64_t begin = 0; begin < head.tokens(); begin += kBlockTokens)
      packed.run(begin, std::min(kBlockTokens, head.tokens() - begin), write, read);
  };
  if (head.causal) {
    run(true, true);
  } else {
    run(true, false);
    run(false, true);
  }
  packed.store_state();
}

template void recurrent(const Head<float>&);
template void recurrent(const Head<double>&);

}  // namespace linearmem::linear
