// The recurrent form: packs a block of tokens at a time and hands it to the SIMD kernel, which carries the state.
#include <algorithm>

#include "delta_rule/head.hpp"
#include "delta_rule/kernel.hpp"
#include "foundation/aligned_buffer.hpp"
#include "foundation/column_tiles.hpp"

namespace linearmem::delta {
namespace {

// Packed copies of one block of tokens; values and outputs are copied only when their rows have gaps.
template <typename T>
class PackedBlock {
 public:
  explicit PackedBlock(const Head<T>& head)
      : head_(head), K_(head.key_width()), V_(head.value_width()),
        by_key_(head.rounding || (head.gates.given() && head.gates.extent(1) > 1)), q_(kBlockTokens * K_), k_(kBlockTokens * K_),
        decay_(kBlockTokens * (by_key_ ? K_ : 1)), k_decayed_(by_key_ ? kBlockTokens * K_ : 0), beta_(kBlockTokens),
        v_(gaps(head.v) ? kBlockTokens * V_ : 0), o_(gaps(head.o) ? kBlockTokens * V_ : 0),
        reads_(gaps(head.reads) ? kBlockTokens * V_ : 0) {}

  KernelBlock<T> pack(std::int64_t begin, std::int64_t tokens, T* state) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      prepare_row(head_.q, begin + t, head_.l2norm, head_.scale, q_.data() + t * K_);
      prepare_row(head_.k, begin + t, head_.l2norm, 1.0, k_.data() + t * K_);
      pack_decay(begin + t, t);
      beta_.data()[t] = head_.beta(begin + t);
      if (gaps(head_.v))
        for (std::int64_t j = 0; j < V_; ++j) v_.data()[t * V_ + j] = head_.v(begin + t, j);
    }
    KernelBlock<T> block{.q = q_.data(),
                         .k = k_.data(),
                         .decay = decay_.data(),
                         .k_decayed = by_key_ ? k_decayed_.data() : nullptr,
                         .rounding = head_.rounding ? &*head_.rounding : nullptr,
                         .beta = beta_.data(),
                         .v = v_.data(),
                         .v_stride = V_,
                         .o = o_.data(),
                         .o_stride = V_,
                         .reads = nullptr,
                         .reads_stride = V_,
                         .state = state,
                         .tokens = tokens,
                         .K = K_,
                         .V = V_};
    if (!gaps(head_.v)) block.v = head_.v.data() + begin * (block.v_stride = head_.v.stride(0));
    if (!gaps(head_.o)) block.o = head_.o.data() + begin * (block.o_stride = head_.o.stride(0));
    if (head_.reads.given()) block.reads = reads_.data();
    if (head_.reads.given() && !gaps(head_.reads)) block.reads = head_.reads.data() + begin * (block.reads_stride = head_.reads.stride(0));
    return block;
  }

  // Values that the kernel wrote to packed copies go to their views.
  void unpack(std::int64_t begin, std::int64_t tokens) const {
    scatter(o_, head_.o, begin, tokens);
    scatter(reads_, head_.reads, begin, tokens);
  }

 private:
  void pack_decay(std::int64_t from, std::int64_t t) {
    if (!by_key_) {
      decay_.data()[t] = head_.decay(from, 0);
      return;
    }
    for (std::int64_t at = t * K_; at < (t + 1) * K_; ++at) {
      decay_.data()[at] = head_.decay(from, at - t * K_);
      k_decayed_.data()[at] = k_.data()[at] * decay_.data()[at];
    }
  }

  template <typename U>
  static bool gaps(const View<U, 2>& rows) {
    return rows.given() && rows.stride(1) != 1;
  }

  void scatter(const AlignedBuffer<T>& packed, const View<T, 2>& to, std::int64_t begin, std::int64_t tokens) const {
    if (!gaps(to)) return;
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t j = 0; j < V_; ++j) to(begin + t, j) = packed.data()[t * V_ + j];
  }

  const Head<T>& head_;
  std::int64_t K_, V_;
  bool by_key_;  // the kernel takes a decay for each key component
  AlignedBuffer<T> q_, k_, decay_, k_decayed_, beta_, v_, o_, reads_;
};

}  // namespace

template <typename T>
void recurrent(const Head<T>& head) {
  if (head.tokens() == 0 || head.value_width() == 0) return;
  const std::int64_t K = head.key_width(), V = head.value_width();
  AlignedBuffer<T> state(K * padded_columns<T>(V));
  PackedBlock<T> packed(head);
  load_tiles(head.S.data(), state.data(), K, V);
  for (std::int64_t begin = 0; begin < head.tokens(); begin += kBlockTokens) {
    const std::int64_t tokens = std::min(kBlockTokens, head.tokens() - begin);
    kernel_block(packed.pack(begin, tokens, state.data()));
    packed.unpack(begin, tokens);
  }
  store_tiles(state.data(), head.S.data(), K, V);
}

template void recurrent(const Head<float>&);
template void recurrent(const Head<double>&);

}  // namespace linearmem::delta
