#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "foundation/column_tiles.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/column_tiles-inl.hpp"
#include "foundation/column_tiles.hpp"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

template <typename T, bool kToTiles>
HWY_INLINE void move_state(std::conditional_t<kToTiles, const T*, T*> matrix, std::int64_t row, std::conditional_t<kToTiles, T*, const T*> tiles,
                           std::int64_t K, std::int64_t V) {
  const std::int64_t lanes = Simd<T>::lanes();
  each_tile<T>(K, V, [&](int vectors, std::int64_t offset, std::int64_t first, std::int64_t columns) HWY_ATTR {
    for (std::int64_t i = 0; i < K; ++i) {
      const auto in_matrix = matrix + i * row + first;
      const auto in_tile = tiles + offset + i * vectors * lanes;
      std::int64_t j = 0;
      for (; j + lanes <= columns; j += lanes) {
        if constexpr (kToTiles) Simd<T>::store(Simd<T>::load(in_matrix + j), in_tile + j);
        if constexpr (!kToTiles) Simd<T>::store(Simd<T>::load(in_tile + j), in_matrix + j);
      }
      for (; j < columns; ++j) {
        if constexpr (kToTiles) in_tile[j] = in_matrix[j];
        if constexpr (!kToTiles) in_matrix[j] = in_tile[j];
      }
    }
  });
}

void LoadTilesF32(const float* matrix, std::int64_t row, float* tiles, std::int64_t K, std::int64_t V) {
  move_state<float, true>(matrix, row, tiles, K, V);
}
void LoadTilesF64(const double* matrix, std::int64_t row, double* tiles, std::int64_t K, std::int64_t V) {
  move_state<double, true>(matrix, row, tiles, K, V);
}
void StoreTilesF32(const float* tiles, float* matrix, std::int64_t row, std::int64_t K, std::int64_t V) {
  move_state<float, false>(matrix, row, tiles, K, V);
}
void StoreTilesF64(const double* tiles, double* matrix, std::int64_t row, std::int64_t K, std::int64_t V) {
  move_state<double, false>(matrix, row, tiles, K, V);
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(LoadTilesF32);
HWY_EXPORT(LoadTilesF64);
HWY_EXPORT(StoreTilesF32);
HWY_EXPORT(StoreTilesF64);

void load_tiles(const float* matrix, std::int64_t row, float* tiles, std::int64_t K, std::int64_t V) {
  HWY_DYNAMIC_DISPATCH(LoadTilesF32)(matrix, row, tiles, K, V);
}
void load_tiles(const double* matrix, std::int64_t row, double* tiles, std::int64_t K, std::int64_t V) {
  HWY_DYNAMIC_DISPATCH(LoadTilesF64)(matrix, row, tiles, K, V);
}
void store_tiles(const float* tiles, float* matrix, std::int64_t row, std::int64_t K, std::int64_t V) {
  HWY_DYNAMIC_DISPATCH(StoreTilesF32)(tiles, matrix, row, K, V);
}
void store_tiles(const double* tiles, double* matrix, std::int64_t row, std::int64_t K, std::int64_t V) {
  HWY_DYNAMIC_DISPATCH(StoreTilesF64)(tiles, matrix, row, K, V);
}
}  // namespace linearmem
#endif
