// The recurrent form: hands a block of tokens at a time to the SIMD kernel. Rows with gaps are copied, others used in place.
#include <algorithm>

#include "foundation/aligned_buffer.hpp"
#include "foundation/packed_rows.hpp"
#include "selective_scan/kernel.hpp"
#include "selective_scan/sequence.hpp"

namespace linearmem::scan {
namespace {

template <typename T, typename U>
class BlockRows {
 public:
  explicit BlockRows(const View<U, 2>& rows) : rows_(rows), packed_(gaps() ? kBlockTokens * rows.extent(1) : 0) {}

  Rows<const T> read(std::int64_t begin, std::int64_t tokens) {
    if (gaps()) pack_rows<T>(rows_, begin, tokens, packed_.data(), rows_.extent(1));
    return {gaps() ? packed_.data() : rows_.data() + begin * rows_.stride(0), stride()};
  }
  Rows<T> to_write(std::int64_t begin) { return {gaps() ? packed_.data() : rows_.data() + begin * rows_.stride(0), stride()}; }
  void written(std::int64_t begin, std::int64_t tokens) const {
    if (gaps()) unpack_rows(packed_.data(), rows_.extent(1), rows_, begin, tokens);
  }

 private:
  bool gaps() const { return rows_.stride(1) != 1; }
  std::int64_t stride() const { return gaps() ? rows_.extent(1) : rows_.stride(0); }

  View<U, 2> rows_;
  AlignedBuffer<T> packed_;
};

}  // namespace

template <typename T>
void recurrent(const Sequence<T>& sequence) {
  BlockRows<T, const T> x(sequence.x), a(sequence.a), b(sequence.b), c(sequence.c);
  BlockRows<T, T> y(sequence.y);
  for (std::int64_t begin = 0; begin < sequence.tokens(); begin += kBlockTokens) {
    const std::int64_t tokens = std::min(kBlockTokens, sequence.tokens() - begin);
    kernel_block({.x = x.read(begin, tokens),
                  .a = a.read(begin, tokens),
                  .b = b.read(begin, tokens),
                  .c = c.read(begin, tokens),
                  .y = y.to_write(begin),
                  .h = sequence.h.data(),
                  .tokens = tokens,
                  .D = sequence.channels()});
    y.written(begin, tokens);
  }
}

template void recurrent(const Sequence<float>&);
template void recurrent(const Sequence<double>&);

}  // namespace linearmem::scan
