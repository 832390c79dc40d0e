// The recurrent form: heads take turns at blocks of tokens, and the SIMD kernel carries their states.
#include <algorithm>

#include "foundation/head_turns.hpp"
#include "foundation/scratch.hpp"
#include "linear_attention/head.hpp"
#include "linear_attention/kernel.hpp"

namespace linearmem::linear {
namespace {

template <typename U>
bool gaps(const View<U, 2>& rows) {
  return rows.given() && rows.stride(1) != 1;
}

// What the kernel cannot read or write where it lies, for one block of tokens. Heads of one call differ in their numbers only.
template <typename T>
class PackedBlock {
 public:
  PackedBlock(const Head<T>& head, std::int64_t tokens)
      : K_(head.key_width()), V_(head.value_width()), row_(padded_columns<T>(V_)), decayed_(head.gates.given() || head.rounding),
        by_key_(head.rounding || head.gate_width() > 1), copy_q_(head.feature != Feature::identity || gaps(head.q)),
        copy_k_(head.feature != Feature::identity || head.mask.given() || gaps(head.k)),
        copy_v_(gaps(head.v) || head.mask.given() || row_ != V_), copy_o_(gaps(head.o) || row_ != V_), scratch_(bytes(tokens)) {
    const std::int64_t keys = whole(tokens * K_);
    q_ = scratch_.take<T>(copy_q_ ? keys : 0);
    k_ = scratch_.take<T>(copy_k_ ? keys : 0);
    decay_ = scratch_.take<T>(decayed_ ? by_key_ ? keys : tokens : 0);
    v_ = scratch_.take<T>(copy_v_ ? tokens * row_ : 0);
    o_ = scratch_.take<T>(copy_o_ ? tokens * row_ : 0);
    carried_ = scratch_.take<CarriedDecay<T>>(by_token() ? tokens : 0);
    denominators_ = scratch_.take<T>(tokens);
  }

  void run(const Head<T>& head, std::int64_t begin, std::int64_t tokens, T* state, std::int64_t state_stride, const View<T, 2>& next,
           bool write, bool read) {
    KernelBlock<T> block{.q = read ? head.q.data() + begin * head.q.stride(0) : nullptr,
                         .q_stride = head.q.stride(0),
                         .k = write ? head.k.data() + begin * head.k.stride(0) : nullptr,
                         .k_stride = head.k.stride(0),
                         .decay = decayed_ ? decay_ : nullptr,
                         .by_key = by_key_,
                         .carried = by_token() ? carried_ : nullptr,
                         .rounding = head.rounding ? &*head.rounding : nullptr,
                         .v = head.v.data() + begin * head.v.stride(0),
                         .v_stride = head.v.stride(0),
                         .o = head.o.data() + begin * head.o.stride(0),
                         .o_stride = head.o.stride(0),
                         .z = head.counted ? head.z.data() : nullptr,
                         .denominators = denominators_,
                         .eps = static_cast<T>(head.eps),
                         .normalize = head.normalize,
                         .state = state,
                         .state_stride = state_stride,
                         .tokens = tokens,
                         .K = K_,
                         .V = V_,
                         .ahead = {}};
    if (write && read) block.ahead = rows_ahead<T>(begin, tokens, head.q, head.k, head.v, head.o, next);
    copy(head, begin, tokens, block);
    kernel_block(block);
    for (std::int64_t t = 0; read && copy_o_ && t < tokens; ++t)
      for (std::int64_t j = 0; j < V_; ++j) head.o(begin + t, j) = o_[t * row_ + j];
  }

 private:
  bool by_token() const { return decayed_ && !by_key_; }

  // Features are made whole vectors at a time.
  static std::int64_t whole(std::int64_t count) { return padded_columns<T>(count); }

  std::int64_t bytes(std::int64_t tokens) const {
    const std::int64_t keys = Scratch::bytes<T>(whole(tokens * K_)), values = Scratch::bytes<T>(tokens * row_), scalars = Scratch::bytes<T>(tokens);
    return (copy_q_ + copy_k_) * keys + (by_key_ ? keys : scalars) + (copy_v_ + copy_o_) * values + scalars +
           by_token() * Scratch::bytes<CarriedDecay<T>>(tokens);
  }

  void copy(const Head<T>& head, std::int64_t begin, std::int64_t tokens, KernelBlock<T>& block) {
    if (block.q && copy_q_) {
      copy_features(head.q, head.feature, begin, tokens, q_);
      block.q = q_;
      block.q_stride = K_;
    }
    if (block.k && copy_k_) {
      copy_features(head.k, head.feature, begin, tokens, k_);
      block.k = k_;
      block.k_stride = K_;
    }
    if (block.k) pack_decays(head, begin, tokens);
    if (block.k && copy_v_) {
      copy_values(head, begin, tokens);
      block.v = v_;
      block.v_stride = row_;
    }
    if (copy_o_) {
      block.o = o_;
      block.o_stride = row_;
    }
  }

  void copy_features(const View<const T, 2>& rows, Feature feature, std::int64_t begin, std::int64_t tokens, T* to) const {
    const std::int64_t count = tokens * K_;
    for (std::int64_t t = 0; t < tokens; ++t) copy_row(rows, begin + t, to + t * K_);
    std::fill(to + count, to + whole(count), T{0});
    if (feature == Feature::elu1) kernel_elu1(to, whole(count));
    if (feature == Feature::relu) kernel_relu(to, whole(count));
  }

  // A masked token's key and value are zeros, and nothing of what stands there is read.
  void copy_values(const Head<T>& head, std::int64_t begin, std::int64_t tokens) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      T* row = v_ + t * row_;
      std::fill(row, row + row_, T{0});
      if (head.masked(begin + t)) {
        std::fill_n(k_ + t * K_, K_, T{0});
      } else {
        copy_row(head.v, begin + t, row);
      }
    }
  }

  void pack_decays(const Head<T>& head, std::int64_t begin, std::int64_t tokens) {
    const std::int64_t width = by_key_ ? K_ : 1;
    for (std::int64_t t = 0; decayed_ && t < tokens; ++t)
      for (std::int64_t i = 0; i < width; ++i)
        decay_[t * width + i] = head.masked(begin + t) ? T{1} : std::exp(log_decay(head.gates, begin + t, i));
    if (by_token()) carry_decays(tokens, [&](std::int64_t t) { return decay_[t]; }, carried_);
  }

  std::int64_t K_, V_, row_;  // row_: between copied rows of V values, whole vectors
  bool decayed_, by_key_;     // the kernel takes decays; one for each key component
  bool copy_q_, copy_k_, copy_v_, copy_o_;
  Scratch scratch_;
  CarriedDecay<T>* carried_;
  T *q_, *k_, *decay_, *v_, *o_, *denominators_;
};

}  // namespace

template <typename T>
void recurrent(std::span<const Head<T>> heads) {
  if (heads.empty() || heads[0].tokens() == 0) return;
  const std::int64_t tokens = heads[0].tokens();
  PackedBlock<T> packed(heads[0], std::min(kBlockTokens, tokens));
  const auto pass = [&](bool write, bool read) {
    take_turns<T>(heads, heads[0].key_width(), heads[0].value_width(), tokens, kBlockTokens,
                  [&](const Head<T>& head, std::int64_t begin, std::int64_t count, T* state, std::int64_t state_stride, const View<T, 2>& next) {
                    packed.run(head, begin, count, state, state_stride, next, write, read);
                  });
  };
  if (heads[0].causal) return pass(true, true);
  pass(true, false);
  pass(false, true);
}

template void recurrent(std::span<const Head<float>>);
template void recurrent(std::span<const Head<double>>);

}  // namespace linearmem::linear
