// The recurrent form: packs a block of tokens at a time and hands it to the SIMD kernel, which carries the state.
#include <algorithm>
#include <cmath>

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
      : head_(head), K_(head.key_width()), V_(head.value_width()), q_(kBlockTokens * K_), k_(kBlockTokens * K_), decay_(kBlockTokens),
        beta_(kBlockTokens), v_(gaps(head.v) ? kBlockTokens * V_ : 0), o_(gaps(head.o) ? kBlockTokens * V_ : 0),
        reads_(gaps(head.reads) ? kBlockTokens * V_ : 0) {}

  KernelBlock<T> pack(std::int64_t begin, std::int64_t tokens, T* state) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      prepare_row(head_.q, begin + t, head_.l2norm, head_.scale, q_.data() + t * K_);
      prepare_row(head_.k, begin + t, head_.l2norm, 1.0, k_.data() + t * K_);
      decay_.data()[t] = std::exp(head_.log_decay(begin + t));
      beta_.data()[t] = head_.beta(begin + t);
      if (gaps(head_.v))
        for (std::int64_t j = 0; j < V_; ++j) v_.data()[t * V_ + j] = head_.v(begin + t, j);
    }
    KernelBlock<T> block{q_.data(), k_.data(), decay_.data(), beta_.data(), v_.data(), V_, o_.data(), V_, nullptr, V_, state, tokens, K_, V_};
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
  AlignedBuffer<T> q_, k_, decay_, beta_, v_, o_, reads_;
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
