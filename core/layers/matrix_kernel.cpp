// A tile of rows by one panel stays in registers while i runs over the columns of x; a lane is a column of the panel.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layers/matrix_kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/simd-inl.hpp"
#include "layers/matrix_kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

template <typename T, int kVectors, int kRows>
HWY_INLINE void tile_product(const layers::PanelProduct<T>& product, std::int64_t row, std::int64_t column) {
  using S = Simd<T>;
  const std::int64_t lanes = S::lanes();
  const T* x = product.x + row * product.x_stride;
  const T* panel = product.panel + column;
  typename S::V sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kVectors; ++c) sum[r][c] = S::load(product.start + (row + r) * product.start_stride + column + c * lanes);
  for (std::int64_t i = 0; i < product.depth; ++i, panel += layers::kPanelColumns<T>) {
    typename S::V weights[kVectors];
    for (int c = 0; c < kVectors; ++c) weights[c] = S::load(panel + c * lanes);
    for (int r = 0; r < kRows; ++r) {
      const auto x_i = S::all(x[r * product.x_stride + i]);
      for (int c = 0; c < kVectors; ++c) sum[r][c] = S::multiply_add(x_i, weights[c], sum[r][c]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kVectors; ++c) S::store(sum[r][c], product.out + (row + r) * product.out_stride + column + c * lanes);
}

template <typename T, int kVectors, int kRows>
HWY_INLINE void column_product(const layers::PanelProduct<T>& product, std::int64_t column) {
  std::int64_t row = 0;
  for (; row + kRows <= product.rows; row += kRows) tile_product<T, kVectors, kRows>(product, row, column);
  for (; row + 2 <= product.rows; row += 2) tile_product<T, kVectors, 2>(product, row, column);
  for (; row < product.rows; ++row) tile_product<T, kVectors, 1>(product, row, column);
}

// Sixteen registers: twelve sums where a panel is one or two vectors; eight where vectors are short, which is what V8 keeps in registers.
template <typename T>
HWY_NOINLINE void panel_rows(const layers::PanelProduct<T>& product) {
  constexpr int kWhole = static_cast<int>(64 / sizeof(typename Simd<T>::V));  // vectors of a panel
  constexpr int kVectors = kWhole < 4 ? kWhole : 4;
  constexpr int kRows = kVectors == 1 ? 12 : kVectors == 2 ? 6 : 2;
  for (int first = 0; first < kWhole; first += kVectors) column_product<T, kVectors, kRows>(product, first * Simd<T>::lanes());
}

void PanelProductF32(const layers::PanelProduct<float>& product) { panel_rows(product); }
void PanelProductF64(const layers::PanelProduct<double>& product) { panel_rows(product); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(PanelProductF32);
HWY_EXPORT(PanelProductF64);

namespace layers {
void panel_product(const PanelProduct<float>& product) { HWY_DYNAMIC_DISPATCH(PanelProductF32)(product); }
void panel_product(const PanelProduct<double>& product) { HWY_DYNAMIC_DISPATCH(PanelProductF64)(product); }
}  // namespace layers
}  // namespace linearmem
#endif
