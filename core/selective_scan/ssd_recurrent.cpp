// The recurrent form: packs a block of tokens at a time and hands it to the SIMD kernel, which carries the state.
#include <algorithm>
#include <cmath>

#include "foundation/aligned_buffer.hpp"
#include "foundation/column_tiles.hpp"
#include "foundation/packed_rows.hpp"
#include "selective_scan/kernel.hpp"
#include "selective_scan/ssd_head.hpp"
#include "selective_scan/ssd_kernel.hpp"

namespace linearmem::scan {
namespace {

template <typename T>
class PackedHead {
 public:
  explicit PackedHead(const SsdHead<T>& head)
      : head_(head), N_(head.state_size()), P_(head.width()), row_(padded_columns<T>(P_)), B_(kBlockTokens * N_), C_(kBlockTokens * N_),
        decay_(kBlockTokens), write_(kBlockTokens * row_), y_(kBlockTokens * row_), S_(N_ * row_) {
    load_tiles(head.S.data(), P_, S_.data(), N_, P_);
  }

  void run(std::int64_t begin, std::int64_t tokens) {
    pack_rows(head_.B, begin, tokens, B_.data(), N_);
    pack_rows(head_.C, begin, tokens, C_.data(), N_);
    pack_rows(head_.x, begin, tokens, write_.data(), row_);
    for (std::int64_t t = 0; t < tokens; ++t) {
      const T dt = head_.dt(begin + t);
      decay_.data()[t] = std::exp(dt * head_.A);
      for (std::int64_t p = 0; p < P_; ++p) write_.data()[t * row_ + p] *= dt;
    }
    kernel_block({.B = B_.data(),
                  .C = C_.data(),
                  .decay = decay_.data(),
                  .write = write_.data(),
                  .y = y_.data(),
                  .S = S_.data(),
                  .tokens = tokens,
                  .N = N_,
                  .width = P_,
                  .row = row_});
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t p = 0; p < P_; ++p) head_.y(begin + t, p) = head_.output(begin + t, p, y_.data()[t * row_ + p]);
  }

  void store_state() const { store_tiles(S_.data(), head_.S.data(), P_, N_, P_); }

 private:
  const SsdHead<T>& head_;
  std::int64_t N_, P_, row_;
  AlignedBuffer<T> B_, C_, decay_, write_, y_, S_;
};

}  // namespace

template <typename T>
void recurrent(const SsdHead<T>& head) {
  if (head.tokens() == 0) return;
  PackedHead<T> packed(head);
  for (std::int64_t begin = 0; begin < head.tokens(); begin += kBlockTokens)
    packed.run(begin, std::min(kBlockTokens, head.tokens() - begin));
  packed.store_state();
}

template void recurrent(const SsdHead<float>&);
template void recurrent(const SsdHead<double>&);

}  // namespace linearmem::scan
