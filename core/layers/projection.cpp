// Blocks of tokens and of columns of x, so that a panel's part stays in the nearest cache for all tokens of a block.
#include "layers/projection.hpp"

#include <algorithm>

#include "foundation/work_split.hpp"
#include "layers/matrix_kernel.hpp"

namespace linearmem::layers {
namespace {

constexpr std::int64_t kTokens = 96;  // a multiple of every tile's rows
constexpr std::int64_t kDepth = 256;

}  // namespace

template <typename T>
Projection<T>::Projection(std::int64_t from, std::int64_t to)
    : from_(from), to_(to), panels_((to + kPanelColumns<T> - 1) / kPanelColumns<T>),
      weights_(static_cast<std::size_t>(panels_ * from * kPanelColumns<T>)), bias_(static_cast<std::size_t>(panels_ * kPanelColumns<T>)) {}

template <typename T>
void Projection<T>::set_row(std::int64_t j, const T* weights, T bias) {
  T* column = weights_.data() + j / kPanelColumns<T> * from_ * kPanelColumns<T> + j % kPanelColumns<T>;
  for (std::int64_t i = 0; i < from_; ++i) column[i * kPanelColumns<T>] = weights[i];
  bias_[static_cast<std::size_t>(j)] = bias;
}

template <typename T>
void Projection<T>::set_rows(const T* weights, const T* bias) {
  for (std::int64_t j = 0; j < to_; ++j) set_row(j, weights + j * from_, bias ? bias[j] : T{0});
}

template <typename T>
void Projection<T>::some_panels(const Rows<T>& x, std::int64_t first, std::int64_t count, Rows<T>& out) const {
  for (std::int64_t t = 0; t < x.tokens(); t += kTokens)
    for (std::int64_t i = 0; i == 0 || i < from_; i += kDepth)
      for (std::int64_t p = first; p < first + count; ++p) {
        T* sums = out.row(t) + p * kPanelColumns<T>;
        panel_product({.x = x.row(t) + i,
                       .x_stride = x.stride(),
                       .rows = std::min(kTokens, x.tokens() - t),
                       .depth = std::min(kDepth, from_ - i),
                       .panel = weights_.data() + (p * from_ + i) * kPanelColumns<T>,
                       .start = i == 0 ? bias_.data() + p * kPanelColumns<T> : sums,
                       .start_stride = i == 0 ? 0 : out.stride(),
                       .out = sums,
                       .out_stride = out.stride()});
      }
}

template <typename T>
Rows<T> Projection<T>::operator()(const Executor* executor, const Rows<T>& x) const {
  Rows<T> out(x.tokens(), to_);
  const auto cost = [&](std::int64_t) { return static_cast<double>(x.tokens()) * static_cast<double>(from_ * to_); };
  each_piece({executor, 1, 1, std::max<std::int64_t>(panels_, 1)}, cost, [&](const Piece& piece) {
    const Range some = piece.of(panels_, 1);
    some_panels(x, some.first, some.count, out);
  });
  return out;
}

template class Projection<float>;
template class Projection<double>;

}  // namespace linearmem::layers
