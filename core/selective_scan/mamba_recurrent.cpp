// The recurrent form: packs a block of tokens at a time and hands it to the SIMD kernel, which carries the state.
#include <algorithm>
#include <vector>

#include "foundation/aligned_buffer.hpp"
#include "foundation/column_tiles.hpp"
#include "foundation/packed_rows.hpp"
#include "foundation/sequences.hpp"
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
        u_(kMambaBlockTokens * row_), delta_(kMambaBlockTokens * row_), z_(sequence.z.given() ? kMambaBlockTokens * row_ : 0), B_(kMambaBlockTokens * N_),
        C_(kMambaBlockTokens * N_), D_(row_), bias_(row_), A_(N_ * row_), h_(N_ * row_), y_(kMambaBlockTokens * row_),
        decaying_(sequence.with_softplus) {  // a softplus is never below 0
    for (std::int64_t i = 0; i < channels_ * N_; ++i) decaying_ = decaying_ && !(sequence.A(i / N_, i % N_) > T{0});
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
                  .with_softplus = sequence_.with_softplus,
                  .decaying = decaying_});
    unpack_rows(y_.data(), row_, sequence_.y, begin, tokens);
  }

  void store_state() const {
    std::vector<T> turned(static_cast<std::size_t>(N_ * channels_));
    store_tiles(h_.data(), turned.data(), channels_, N_, channels_);
    turn(turned.data(), 1, channels_, sequence_.h.data(), 1, sequence_.h.stride(0));
  }

 private:
  void copy_vector(const View<const T, 1>& from, T* to) const {
    for (std::int64_t d = 0; from.given() && d < channels_; ++d) to[d] = from(d);
  }

  // [D,N] becomes N rows of channels.
  void load_turned(const View<const T, 2>& from, T* tiles) const {
    std::vector<T> turned(static_cast<std::size_t>(N_ * channels_));
    turn(from.data(), from.stride(0), from.stride(1), turned.data(), channels_, 1);
    load_tiles(turned.data(), channels_, tiles, N_, channels_);
  }

  // to[n, d] = from[d, n], whichever of the two is seen as turned.
  void turn(const T* from, std::int64_t from_d, std::int64_t from_n, T* to, std::int64_t to_n, std::int64_t to_d) const {
    for (std::int64_t d = 0; d < channels_; ++d)
      for (std::int64_t n = 0; n < N_; ++n) to[n * to_n + d * to_d] = from[n * from_n + d * from_d];
  }

  const MambaSequence<T>& sequence_;
  std::int64_t N_, channels_, row_;
  AlignedBuffer<T> u_, delta_, z_, B_, C_, D_, bias_, A_, h_, y_;
  bool decaying_;
};

// Whose A and state stay in the nearest cache from the first token to the last.
template <typename T>
std::int64_t channels_near(std::int64_t N) {
  constexpr std::int64_t kNear = (16 << 10) / sizeof(T), kLeast = padded_columns<T>(1) * 4;
  return std::max(kNear / std::max<std::int64_t>(N, 1) / kLeast, std::int64_t{1}) * kLeast;
}

template <typename T>
MambaSequence<T> channels_of(const MambaSequence<T>& all, const Range& channels) {
  MambaSequence<T> some = all;
  some.u = columns_of(all.u, channels);
  some.delta = columns_of(all.delta, channels);
  some.A = rows_of(all.A, channels);
  some.D = entries_of(all.D, channels);
  some.z = columns_of(all.z, channels);
  some.delta_bias = entries_of(all.delta_bias, channels);
  some.h = rows_of(all.h, channels);
  some.y = columns_of(all.y, channels);
  return some;
}

template <typename T>
bool whole_rows(const MambaSequence<T>& s) {
  return s.u.stride(1) == 1 && s.delta.stride(1) == 1 && s.A.stride(1) == 1 && s.B.stride(1) == 1 && s.C.stride(1) == 1 && s.y.stride(1) == 1 &&
         (!s.z.given() || s.z.stride(1) == 1) && (!s.D.given() || s.D.stride(0) == 1) && (!s.delta_bias.given() || s.delta_bias.stride(0) == 1);
}

template <typename T>
void run_few(const MambaSequence<T>& s) {
  const auto rows = [](const auto& view) { return typename MambaFew<T>::Rows{view.data(), view.stride(0)}; };
  kernel_few({.u = rows(s.u),
              .delta = rows(s.delta),
              .z = rows(s.z),
              .B = rows(s.B),
              .C = rows(s.C),
              .D = s.D.data(),
              .bias = s.delta_bias.data(),
              .A = rows(s.A),
              .h = s.h.data(),
              .h_stride = s.h.stride(0),
              .y = s.y.data(),
              .y_stride = s.y.stride(0),
              .tokens = s.tokens(),
              .N = s.state_size(),
              .channels = s.channels(),
              .with_softplus = s.with_softplus});
}

}  // namespace

template <typename T>
void recurrent(const MambaSequence<T>& sequence) {
  if (sequence.tokens() == 0) return;
  if (sequence.tokens() <= kMambaFewTokens && whole_rows(sequence)) return run_few(sequence);
  const std::int64_t channels = channels_near<T>(sequence.state_size());
  for (std::int64_t first = 0; first < sequence.channels(); first += channels) {
    const MambaSequence<T> some = channels_of(sequence, {first, std::min(channels, sequence.channels() - first)});
    PackedSequence<T> packed(some);
    for (std::int64_t begin = 0; begin < some.tokens(); begin += kMambaBlockTokens)
      packed.run(begin, std::min(kMambaBlockTokens, some.tokens() - begin));
    packed.store_state();
  }
}

template void recurrent(const MambaSequence<float>&);
template void recurrent(const MambaSequence<double>&);

}  // namespace linearmem::scan
