// The recurrent form: a window of rows, the W-1 inputs kept and a block of new ones, slides over the sequence, for so few channels
// at a time that it stays in the nearest cache.
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

constexpr std::int64_t kTileBytes = 512;

template <typename T>
Sequence<T> channels_of(const Sequence<T>& all, std::int64_t first, std::int64_t count) {
  Sequence<T> some = all;
  some.x = {all.x.data() + first * all.x.stride(1), {all.tokens(), count}, all.x.strides()};
  some.y = {all.y.data() + first * all.y.stride(1), {all.tokens(), count}, all.y.strides()};
  some.weight = {all.weight.data() + first * all.weight.stride(0), {count, all.width()}, all.weight.strides()};
  some.kept = {all.kept.data() + first * all.kept.stride(0), {count, all.width() - 1}, all.kept.strides()};
  if (all.bias.given()) some.bias = {all.bias.data() + first * all.bias.stride(0), {count}, all.bias.strides()};
  return some;
}

}  // namespace

template <typename T>
void recurrent(const Sequence<T>& sequence) {
  constexpr std::int64_t tile = kTileBytes / static_cast<std::int64_t>(sizeof(T));
  if (sequence.tokens() == 0) return;
  for (std::int64_t first = 0; first < sequence.channels(); first += tile) {
    const Sequence<T> channels = channels_of(sequence, first, std::min(tile, sequence.channels() - first));
    Window<T> window(channels);
    for (std::int64_t begin = 0; begin < channels.tokens(); begin += kBlockTokens)
      window.run(begin, std::min(kBlockTokens, channels.tokens() - begin));
    window.store_kept();
  }
}

template void recurrent(const Sequence<float>&);
template void recurrent(const Sequence<double>&);

}  // namespace linearmem::conv
