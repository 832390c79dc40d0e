// The recurrent form: heads take turns at blocks of tokens, and the SIMD kernel carries their states.
#include <algorithm>

#include "delta_rule/head.hpp"
#include "delta_rule/kernel.hpp"
#include "foundation/head_turns.hpp"
#include "foundation/scratch.hpp"

namespace linearmem::delta {
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
      : K_(head.key_width()), V_(head.value_width()), by_key_(head.rounding || (head.gates.given() && head.gates.extent(1) > 1)),
        copy_q_(head.l2norm || gaps(head.q)), copy_k_(head.l2norm || gaps(head.k)), row_(padded_columns<T>(V_)),
        copy_v_(gaps(head.v) || row_ != V_), copy_o_(gaps(head.o) || row_ != V_),
        copy_reads_(head.reads.given() && (gaps(head.reads) || row_ != V_)), scratch_(bytes(tokens)) {
    const std::int64_t keys = tokens * K_, values = tokens * row_;
    q_ = scratch_.take<T>(copy_q_ ? keys : 0);
    k_ = scratch_.take<T>(copy_k_ ? keys : 0);
    carried_ = scratch_.take<CarriedDecay<T>>(tokens);
    decay_ = scratch_.take<T>(by_key_ ? keys : 0);
    k_decayed_ = scratch_.take<T>(by_key_ ? keys : 0);
    beta_ = scratch_.take<T>(tokens);
    v_ = scratch_.take<T>(copy_v_ ? values : 0);
    o_ = scratch_.take<T>(copy_o_ ? values : 0);
    reads_ = scratch_.take<T>(copy_reads_ ? values : 0);
  }

  KernelBlock<T> pack(const Head<T>& head, std::int64_t begin, std::int64_t tokens, T* state, std::int64_t state_stride, const View<T, 2>& next) {
    KernelBlock<T> block{.q = head.q.data() + begin * head.q.stride(0),
                         .q_stride = head.q.stride(0),
                         .k = head.k.data() + begin * head.k.stride(0),
                         .k_stride = head.k.stride(0),
                         .scale = static_cast<T>(head.scale),
                         .carried = carried_,
                         .decay = decay_,
                         .k_decayed = by_key_ ? k_decayed_ : nullptr,
                         .rounding = head.rounding ? &*head.rounding : nullptr,
                         .pairs = head.gates.given() && !by_key_ && tokens > kFewTokens,
                         .beta = beta_,
                         .v = head.v.data() + begin * head.v.stride(0),
                         .v_stride = head.v.stride(0),
                         .o = head.o.data() + begin * head.o.stride(0),
                         .o_stride = head.o.stride(0),
                         .reads = head.reads.given() ? head.reads.data() + begin * head.reads.stride(0) : nullptr,
                         .reads_stride = head.reads.stride(0),
                         .state = state,
                         .state_stride = state_stride,
                         .tokens = tokens,
                         .K = K_,
                         .V = V_,
                         .ahead = rows_ahead<T>(begin, tokens, head.q, head.k, head.v, head.o, next)};
    copy(head, begin, tokens, block);
    pack_scalars(head, begin, tokens, block);
    return block;
  }

  // Values that the kernel wrote to copies go to their views.
  void unpack(const Head<T>& head, std::int64_t begin, std::int64_t tokens) const {
    if (copy_o_) scatter(o_, head.o, begin, tokens);
    if (copy_reads_) scatter(reads_, head.reads, begin, tokens);
  }

 private:
  std::int64_t bytes(std::int64_t tokens) const {
    const std::int64_t keys = Scratch::bytes<T>(tokens * K_), values = Scratch::bytes<T>(tokens * row_), scalars = Scratch::bytes<T>(tokens);
    return (copy_q_ + copy_k_ + 2 * by_key_) * keys + (copy_v_ + copy_o_ + copy_reads_) * values + scalars +
           Scratch::bytes<CarriedDecay<T>>(tokens);
  }

  void copy(const Head<T>& head, std::int64_t begin, std::int64_t tokens, KernelBlock<T>& block) {
    if (copy_q_) copy_keys(head.q, head.l2norm, begin, tokens, q_, block.q, block.q_stride);
    if (copy_k_) copy_keys(head.k, head.l2norm, begin, tokens, k_, block.k, block.k_stride);
    if (copy_v_) {
      for (std::int64_t t = 0; t < tokens; ++t) {
        copy_row(head.v, begin + t, v_ + t * row_);
        std::fill_n(v_ + t * row_ + V_, row_ - V_, T{0});
      }
      block.v = v_;
      block.v_stride = row_;
    }
    if (copy_o_) {
      block.o = o_;
      block.o_stride = row_;
    }
    if (copy_reads_) {
      block.reads = reads_;
      block.reads_stride = row_;
    }
  }

  void copy_keys(const View<const T, 2>& rows, bool l2norm, std::int64_t begin, std::int64_t tokens, T* to, const T*& data,
                 std::int64_t& stride) const {
    for (std::int64_t t = 0; t < tokens; ++t) prepare_row(rows, begin + t, l2norm, 1.0, to + t * K_);
    data = to;
    stride = K_;
  }

  void pack_scalars(const Head<T>& head, std::int64_t begin, std::int64_t tokens, const KernelBlock<T>& block) {
    const bool by_token = head.gates.given() && !by_key_;
    carry_decays(tokens, [&](std::int64_t t) { return by_token ? head.decay(begin + t, 0) : T{1}; }, carried_);
    for (std::int64_t t = 0; t < tokens; ++t) {
      beta_[t] = head.beta(begin + t);
      for (std::int64_t i = 0; by_key_ && i < K_; ++i) {
        decay_[t * K_ + i] = head.decay(begin + t, i);
        k_decayed_[t * K_ + i] = block.k[t * block.k_stride + i] * decay_[t * K_ + i];
      }
    }
  }

  void scatter(const T* packed, const View<T, 2>& to, std::int64_t begin, std::int64_t tokens) const {
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t j = 0; j < V_; ++j) to(begin + t, j) = packed[t * row_ + j];
  }

  std::int64_t K_, V_;
  bool by_key_;  // the kernel takes a decay for each key component
  bool copy_q_, copy_k_;
  std::int64_t row_;  // between copied rows of V values: whole vectors
  bool copy_v_, copy_o_, copy_reads_;
  Scratch scratch_;
  CarriedDecay<T>* carried_;
  T *q_, *k_, *decay_, *k_decayed_, *beta_, *v_, *o_, *reads_;
};

}  // namespace

template <typename T>
void recurrent(std::span<const Head<T>> heads) {
  if (heads.empty() || heads[0].tokens() == 0 || heads[0].value_width() == 0) return;
  const std::int64_t K = heads[0].key_width(), V = heads[0].value_width(), tokens = heads[0].tokens();
  PackedBlock<T> packed(heads[0], std::min(kBlockTokens, tokens));
  take_turns<T>(heads, K, V, tokens, kBlockTokens,
                [&](const Head<T>& head, std::int64_t begin, std::int64_t count, T* state, std::int64_t state_stride, const View<T, 2>& next) {
                  kernel_block(packed.pack(head, begin, count, state, state_stride, next));
                  packed.unpack(head, begin, count);
                });
}

template void recurrent(std::span<const Head<float>>);
template void recurrent(std::span<const Head<double>>);

}  // namespace linearmem::delta
