// The recurrent form: a window of rows, the W-1 inputs kept and a block of new ones, slides over the sequence.
#include <algorithm>

#include "causal_conv/kernel.hpp"
#include "causal_conv/sequence.hpp"
#include "foundation/aligned_buffer.hpp"
#include "foundation/packed_rows.hpp"

namespace linearmem::conv {
namespace {

template <typename T>
class Window {
 public:
  explicit Window(const Sequence<T>& sequence)
      : sequence_(sequence),
        W_(sequence.width()),
        D_(sequence.channels()),
        row_(padded_columns<T>(D_)),
        rows_((W_ - 1 + kBlockTokens) * row_),
        weight_(W_ * row_),
        bias_(row_),
        y_(kBlockTokens * row_) {
    pack_rows(turned(sequence.weight), 0, W_, weight_.data(), row_);
    pack_rows(turned(View<const T, 2>(sequence.kept)), 0, W_ - 1, rows_.data(), row_);
    for (std::int64_t d = 0; sequence.bias.given() && d < D_; ++d) bias_.data()[d] = sequence.bias(d);
  }

  void run(std::int64_t begin, std::int64_t tokens) {
    pack_rows(sequence_.x, begin, tokens, rows_.data() + (W_ - 1) * row_, row_);
    kernel_block({.x = rows_.data(),
                  .weight = weight_.data(),
                  .bias = bias_.data(),
                  .y = y_.data(),
                  .tokens = tokens,
                  .W = W_,
                  .row = row_,
                  .with_silu = sequence_.activation == Activation::silu});
    unpack_rows(y_.data(), row_, sequence_.y, begin, tokens);
    std::copy_n(rows_.data() + tokens * row_, (W_ - 1) * row_, rows_.data());  // the newest W-1 rows, moved towards the front
  }

  void store_kept() const { unpack_rows(rows_.data(), row_, turned(sequence_.kept), 0, W_ - 1); }

 private:
  // [D,W] seen as W rows of channels.
  template <typename U>
  static View<U, 2> turned(const View<U, 2>& view) {
    return {view.data(), {view.extent(1), view.extent(0)}, {view.stride(1), view.stride(0)}};
  }

  const Sequence<T>& sequence_;
  std::int64_t W_, D_, row_;
  AlignedBuffer<T> rows_, weight_, bias_, y_;
};

}  // namespace

template <typename T>
void recurrent(const Sequence<T>& sequence) {
  if (sequence.tokens() == 0) return;
  Window<T> window(sequence);
  for (std::int64_t begin = 0; begin < sequence.tokens(); begin += kBlockTokens)
    window.run(begin, std::min(kBlockTokens, sequence.tokens() - begin));
  window.store_kept();
}

template void recurrent(const Sequence<float>&);
template void recurrent(const Sequence<double>&);

}  // namespace linearmem::conv
