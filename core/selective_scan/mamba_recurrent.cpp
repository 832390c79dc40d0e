// The recurrent form: hands a block of tokens at a time to the SIMD kernel, which carries the state. Rows with gaps are copied, others used
// in place.
#include <algorithm>
#include <cmath>

#include "foundation/aligned_buffer.hpp"
#include "foundation/column_tiles.hpp"
#include "foundation/packed_rows.hpp"
#include "foundation/sequences.hpp"
#include "selective_scan/kernel.hpp"
#include "selective_scan/mamba_kernel.hpp"
#include "selective_scan/mamba_sequence.hpp"

namespace linearmem::scan {
namespace {

// The rows of a view for a block of tokens: where they lie, or packed where they have gaps.
template <typename T>
class BlockRows {
 public:
  explicit BlockRows(const View<const T, 2>& rows) : rows_(rows), packed_(gaps() ? kMambaBlockTokens * rows.extent(1) : 0) {}

  MambaRows<T> at(std::int64_t begin, std::int64_t tokens) {
    if (!gaps()) return {rows_.given() ? rows_.data() + begin * rows_.stride(0) : nullptr, rows_.stride(0)};
    pack_rows(rows_, begin, tokens, packed_.data(), rows_.extent(1));
    return {packed_.data(), rows_.extent(1)};
  }

 private:
  bool gaps() const { return rows_.given() && rows_.stride(1) != 1; }
  View<const T, 2> rows_;
  AlignedBuffer<T> packed_;
};

template <typename T>
class PackedSequence {
 public:
  explicit PackedSequence(const MambaSequence<T>& sequence)
      : sequence_(sequence), N_(sequence.state_size()), channels_(sequence.channels()), row_(padded_columns<T>(channels_)),
        tokens_(std::min(sequence.tokens(), kMambaBlockTokens)), u_(sequence.u), delta_(sequence.delta), z_(sequence.z), B_(sequence.B),
        C_(sequence.C), memory_(3 * row_ + 2 * N_ * row_ + N_ * apart() + 3 * tokens_ * row_ + (gaps() ? tokens_ * row_ : 0)) {
    copy_vector(sequence.D, D());
    copy_vector(sequence.delta_bias, bias());
    load_turned(sequence.A, A());
    load_turned(View<const T, 2>(sequence.h), h());
    for (std::int64_t d = 0; d < channels_; ++d) A_size()[d] = largest_size(sequence.A.data() + d * sequence.A.stride(0), sequence.A.stride(1));
  }

  void run(std::int64_t begin, std::int64_t tokens) {
    kernel_block({.u = u_.at(begin, tokens),
                  .delta = delta_.at(begin, tokens),
                  .z = z_.at(begin, tokens),
                  .B = B_.at(begin, tokens),
                  .C = C_.at(begin, tokens),
                  .y = gaps() ? y() : sequence_.y.data() + begin * sequence_.y.stride(0),
                  .y_stride = gaps() ? row_ : sequence_.y.stride(0),
                  .D = D(),
                  .bias = bias(),
                  .A = A(),
                  .A_size = A_size(),
                  .h = h(),
                  .step = step(),
                  .write = step() + tokens_ * row_,
                  .read = step() + 2 * tokens_ * row_,
                  .tokens = tokens,
                  .N = N_,
                  .channels = channels_,
                  .row = row_,
                  .with_softplus = sequence_.with_softplus});
    if (gaps()) unpack_rows(y(), row_, sequence_.y, begin, tokens);
  }

  void store_state() {
    store_tiles(h(), turned(), apart(), N_, channels_);
    turn(turned(), 1, apart(), sequence_.h.data(), 1, sequence_.h.stride(0));
  }

 private:
  T* D() { return memory_.data(); }
  T* bias() { return D() + row_; }
  T* A_size() { return bias() + row_; }
  T* A() { return A_size() + row_; }
  T* h() { return A() + N_ * row_; }
  T* turned() { return h() + N_ * row_; }
  T* step() { return turned() + N_ * apart(); }
  T* y() { return step() + 3 * tokens_ * row_; }  // where y has gaps

  std::int64_t apart() const { return row_ + padded_columns<T>(1); }  // rows of `turned`: a power of two would put them all into one set of the cache
  bool gaps() const { return sequence_.y.stride(1) != 1; }

  void copy_vector(const View<const T, 1>& from, T* to) const {
    for (std::int64_t d = 0; from.given() && d < channels_; ++d) to[d] = from(d);
  }

  // Of a channel's A; NaN where one is.
  T largest_size(const T* A, std::int64_t stride) const {
    T largest = 0;
    for (std::int64_t n = 0; n < N_ && largest == largest; ++n) {
      const T size = std::abs(A[n * stride]);
      if (!(size <= largest)) largest = size;
    }
    return largest;
  }

  // [D,N] becomes N rows of channels.
  void load_turned(const View<const T, 2>& from, T* tiles) {
    turn(from.data(), from.stride(0), from.stride(1), turned(), apart(), 1);
    load_tiles(turned(), apart(), tiles, N_, channels_);
  }

  // to[n, d] = from[d, n], whichever of the two is seen as turned.
  void turn(const T* from, std::int64_t from_d, std::int64_t from_n, T* to, std::int64_t to_n, std::int64_t to_d) const {
    for (std::int64_t d = 0; d < channels_; ++d)
      for (std::int64_t n = 0; n < N_; ++n) to[n * to_n + d * to_d] = from[n * from_n + d * from_d];
  }

  const MambaSequence<T>& sequence_;
  std::int64_t N_, channels_, row_, tokens_;
  BlockRows<T> u_, delta_, z_, B_, C_;
  AlignedBuffer<T> memory_;  // in one piece: allocators keep one large block for the next call sooner than many small ones
};

// Channels taken together from the first token to the last: as many as the second cache holds A and state of, because rows read and written
// whole are what memory streams best. A tile's part stays in the first cache for the tokens of a block.
template <typename T>
std::int64_t channels_near(std::int64_t N) {
  constexpr std::int64_t kNear = (128 << 10) / sizeof(T), kLeast = padded_columns<T>(1) * 4;
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
