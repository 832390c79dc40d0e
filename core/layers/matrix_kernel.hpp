// Rows of x times one panel of a matrix: a panel is one cache line of its columns, [depth][64 / sizeof(T)].
#pragma once

#include <cstdint>

namespace linearmem::layers {

template <typename T>
constexpr std::int64_t kPanelColumns = 64 / static_cast<std::int64_t>(sizeof(T));

template <typename T>
struct PanelProduct {
  const T* x;
  std::int64_t x_stride, rows, depth;
  const T* panel;
  const T* start;  // what the sums begin from: a bias (stride 0), or the sums over earlier columns of x
  std::int64_t start_stride;
  T* out;  // may be start
  std::int64_t out_stride;
};

// out[r, j] = start[r, j] + sum_i x[r, i] panel[i, j], i rising: a row gives the same bits whatever rows stand beside it, and however the
// columns of x are cut into calls.
void panel_product(const PanelProduct<float>& product);
void panel_product(const PanelProduct<double>& product);

}  // namespace linearmem::layers
