// The recurrent form: packs a block of tokens at a time and hands it to the SIMD kernel, which carries the state.
#include <algorithm>

#include "foundation/aligned_buffer.hpp"
#include "foundation/column_tiles.hpp"
#include "foundation/packed_rows.hpp"
#include "linearmem/tensor.hpp"
#include "selective_scan/kernel.hpp"
#include "selective_scan/mamba_kernel.hpp"
#include "selective_scan/mamba_sequence.hpp"

namespace linearmem::scan {
namespace {

template <typename T>
class PackedSequence {
 public:
  explicit PackedSequence(const MambaSequence<T>& sequence)
      : sequence_(sequence), N_(sequence.state_size()), channels_(sequence.channels()), row_(padded_columns<T>(channels_)),
        u_(kBlockTokens * row_), delta_(kBlockTokens * row_), z_(sequence.z.given() ? kBlockTokens * row_ : 0), B_(kBlockTokens * N_),
        C_(kBlockTokens * N_), D_(row_), bias_(row_), A_(N_ * row_), h_(N_ * row_), y_(kBlockTokens * row_) {
    copy_vector(sequence.D, D_.data());
    copy_vector(sequence.delta_bias, bias_.data());
    load_turned(sequence.A, A_.data());
    load_turned(View<const T, 2>(sequence.h), h_.data());
  }

  void run(std::int64_t begin, std::int64_t tokens) {
    pack_rows(sequence_.u, begin, tokens, u_.data(), row_);
    pack_rows(sequence_.delta, begin, tokens, delta_.data(), row_);
    pack_rows(sequence_.B, begin, tokens, B_.data(), N_);
    pack_rows(sequence_.C, begin, tokens, C_.data(), N_);
    if (sequence_.z.given()) pack_rows(sequence_.z, begin, tokens, z_.data(), row_);
    kernel_block({.u = u_.data(),
                  .delta = delta_.data(),
                  .z = sequence_.z.given() ? z_.data() : nullptr,
                  .B = B_.data(),
                  .C = C_.data(),
                  .D = D_.data(),
                  .bias = bias_.data(),
                  .A = A_.data(),
                  .h = h_.data(),
                  .y = y_.data(),
                  .tokens = tokens,
                  .N = N_,
                  .channels = channels_,
                  .row = row_,
                  .with_softplus = sequence_.with_softplus});
    unpack_rows(y_.data(), row_, sequence_.y, begin, tokens);
  }

  void store_state() const {
    Tensor<T, 2> turned({N_, channels_});
    store_tiles(h_.data(), turned.data(), channels_, N_, channels_);
    for (std::int64_t d = 0; d < channels_; ++d)
      for (std::int64_t n = 0; n < N_; ++n) sequence_.h(d, n) = turned(n, d);
  }

 private:
  void copy_vector(const View<const T, 1>& from, T* to) const {
    for (std::int64_t d = 0; from.given() && d < channels_; ++d) to[d] = from(d);
  }

  // [D,N] becomes N rows of channels.
  void load_turned(const View<const T, 2>& from, T* tiles) const {
    Tensor<T, 2> turned({N_, channels_});
    for (std::int64_t d = 0; d < channels_; ++d)
      for (std::int64_t n = 0; n < N_; ++n) turned(n, d) = from(d, n);
    load_tiles(turned.data(), channels_, tiles, N_, channels_);
  }

  const MambaSequence<T>& sequence_;
  std::int64_t N_, channels_, row_;
  AlignedBuffer<T> u_, delta_, z_, B_, C_, D_, bias_, A_, h_, y_;
};

}  // namespace

template <typename T>
void recurrent(const MambaSequence<T>& sequence) {
  if (sequence.tokens() == 0) return;
  PackedSequence<T> packed(sequence);
  for (std::int64_t begin = 0; begin < sequence.tokens(); begin += kBlockTokens)
    packed.run(begin, std::min(kBlockTokens, sequence.tokens() - begin));
  packed.store_state();
}

template void recurrent(const MambaSequence<float>&);
template void recurrent(const MambaSequence<double>&);

}  // namespace linearmem::scan
