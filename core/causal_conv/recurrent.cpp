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
  // For at most `channels` channels and `tokens` tokens at a time.
  Window(std::int64_t W, std::int64_t channels, std::int64_t tokens)
      : W_(W),
        row_(padded_columns<T>(channels)),
        rows_((W_ - 1 + tokens) * row_),
        weight_(W_ * row_),
        bias_(row_),
        y_(tokens * row_) {}

  // The window of a sequence before its first token.
  void start(const Sequence<T>& sequence) {
    turn(sequence.weight, weight_.data());
    turn(View<const T, 2>(sequence.kept), rows_.data());
    for (std::int64_t d = 0; sequence.bias.given() && d < sequence.channels(); ++d) bias_.data()[d] = sequence.bias(d);
  }

  void run(const Sequence<T>& sequence, std::int64_t begin, std::int64_t tokens) {
    pack_rows(sequence.x, begin, tokens, rows_.data() + (W_ - 1) * row_, row_);
    kernel_block({.x = rows_.data(),
                  .weight = weight_.data(),
                  .bias = bias_.data(),
                  .y = y_.data(),
                  .tokens = tokens,
                  .W = W_,
                  .row = row_,
                  .with_silu = sequence.activation == Activation::silu});
    unpack_rows(y_.data(), row_, sequence.y, begin, tokens);
    std::copy_n(rows_.data() + tokens * row_, (W_ - 1) * row_, rows_.data());  // the newest W-1 rows, moved towards the front
  }

  void store_kept(const Sequence<T>& sequence) const {
    for (std::int64_t d = 0; d < sequence.channels(); ++d)
      for (std::int64_t j = 0; j + 1 < W_; ++j) sequence.kept(d, j) = rows_.data()[j * row_ + d];
  }

 private:
  // [D,W] becomes W rows of channels.
  void turn(const View<const T, 2>& from, T* to) const {
    for (std::int64_t d = 0; d < from.extent(0); ++d)
      for (std::int64_t j = 0; j < from.extent(1); ++j) to[j * row_ + d] = from(d, j);
  }

  std::int64_t W_, row_;
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
  Window<T> window(sequence.width(), std::min(tile, sequence.channels()), std::min(kBlockTokens, sequence.tokens()));
  for (std::int64_t first = 0; first < sequence.channels(); first += tile) {
    const Sequence<T> channels = channels_of(sequence, first, std::min(tile, sequence.channels() - first));
    window.start(channels);
    for (std::int64_t begin = 0; begin < channels.tokens(); begin += kBlockTokens)
      window.run(channels, begin, std::min(kBlockTokens, channels.tokens() - begin));
    window.store_kept(channels);
  }
}

template void recurrent(const Sequence<float>&);
template void recurrent(const Sequence<double>&);

}  // namespace linearmem::conv
