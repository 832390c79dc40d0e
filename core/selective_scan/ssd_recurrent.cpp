// The recurrent form: heads take turns at blocks of tokens, and the SIMD kernel carries their states.
#include <algorithm>
#include <cmath>

#include "foundation/head_turns.hpp"
#include "foundation/packed_rows.hpp"
#include "foundation/scratch.hpp"
#include "selective_scan/ssd_head.hpp"
#include "selective_scan/ssd_kernel.hpp"

namespace linearmem::scan {
namespace {

// What the kernel cannot read or write where it lies, for one block of tokens. Heads of one call differ in their numbers only.
template <typename T>
class PackedBlock {
 public:
  PackedBlock(const SsdHead<T>& head, std::int64_t tokens)
      : N_(head.state_size()), P_(head.width()), row_(padded_columns<T>(P_)), copy_B_(head.B.stride(1) != 1), copy_C_(head.C.stride(1) != 1),
        copy_x_(head.x.stride(1) != 1 || row_ != P_), copy_y_(head.y.stride(1) != 1 || row_ != P_),
        scratch_((copy_B_ + copy_C_) * Scratch::bytes<T>(tokens * N_) + (copy_x_ + copy_y_) * Scratch::bytes<T>(tokens * row_) +
                 Scratch::bytes<CarriedDecay<T>>(tokens)),
        B_(scratch_.take<T>(copy_B_ ? tokens * N_ : 0)), C_(scratch_.take<T>(copy_C_ ? tokens * N_ : 0)), 
        carried_(scratch_.take<CarriedDecay<T>>(tokens)), x_(scratch_.take<T>(copy_x_ ? tokens * row_ : 0)),
        y_(scratch_.take<T>(copy_y_ ? tokens * row_ : 0)) {
    if (copy_x_) std::fill_n(x_, tokens * row_, T{0});  // also what stands behind the last column
  }

  void run(const SsdHead<T>& head, std::int64_t begin, std::int64_t tokens, T* state, std::int64_t state_stride, const View<T, 2>& next) {
    carry_decays(tokens, [&](std::int64_t t) { return std::exp(head.dt(begin + t) * head.A); }, carried_);
    for (std::int64_t t = 0; t < tokens; ++t) carried_[t].write *= head.dt(begin + t);
    SsdBlock<T> block{.B = head.B.data() + begin * head.B.stride(0),
                      .B_stride = head.B.stride(0),
                      .C = head.C.data() + begin * head.C.stride(0),
                      .C_stride = head.C.stride(0),
                      .carried = carried_,
                      .x = head.x.data() + begin * head.x.stride(0),
                      .x_stride = head.x.stride(0),
                      .y = head.y.data() + begin * head.y.stride(0),
                      .y_stride = head.y.stride(0),
                      .D = head.D,
                      .skip = head.skip,
                      .S = state,
                      .S_stride = state_stride,
                      .tokens = tokens,
                      .N = N_,
                      .width = P_,
                      .ahead = rows_ahead<T>(begin, tokens, head.B, head.C, head.x, head.y, next)};
    copy(head, begin, tokens, block);
    kernel_block(block);
    if (copy_y_) unpack_rows(y_, row_, head.y, begin, tokens);
  }

 private:
  void copy(const SsdHead<T>& head, std::int64_t begin, std::int64_t tokens, SsdBlock<T>& block) {
    if (copy_B_) copy_rows(head.B, begin, tokens, B_, N_, block.B, block.B_stride);
    if (copy_C_) copy_rows(head.C, begin, tokens, C_, N_, block.C, block.C_stride);
    if (copy_x_) copy_rows(head.x, begin, tokens, x_, row_, block.x, block.x_stride);
    if (copy_y_) {
      block.y = y_;
      block.y_stride = row_;
    }
  }

  static void copy_rows(const View<const T, 2>& rows, std::int64_t begin, std::int64_t tokens, T* to, std::int64_t row, const T*& data,
                        std::int64_t& stride) {
    pack_rows(rows, begin, tokens, to, row);
    data = to;
    stride = row;
  }

  std::int64_t N_, P_, row_;  // row_: between copied rows of P values, whole vectors
  bool copy_B_, copy_C_, copy_x_, copy_y_;
  Scratch scratch_;
  T *B_, *C_;
  CarriedDecay<T>* carried_;
  T *x_, *y_;
};

}  // namespace

template <typename T>
void recurrent(std::span<const SsdHead<T>> heads) {
  if (heads.empty() || heads[0].tokens() == 0) return;
  const std::int64_t tokens = heads[0].tokens();
  PackedBlock<T> packed(heads[0], std::min(kSsdBlockTokens, tokens));
  take_turns<T>(heads, heads[0].state_size(), heads[0].width(), tokens, kSsdBlockTokens,
                [&](const SsdHead<T>& head, std::int64_t begin, std::int64_t count, T* state, std::int64_t state_stride, const View<T, 2>& next) {
                  packed.run(head, begin, count, state, state_stride, next);
                });
}

template void recurrent(std::span<const SsdHead<float>>);
template void recurrent(std::span<const SsdHead<double>>);

}  // namespace linearmem::scan
