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
HWY_INLINE void move_state(std::conditional_t<kToTiles, const T*, T*> packed, std::conditional_t<kToTiles, T*, const T*> tiles,
                           std::int64_t K, std::int64_t V) {
  const std::int64_t lanes = Simd<T>::lanes();
  each_tile<T>(K, V, [&](int vectors, std::int64_t offset, std::int64_t first, std::int64_t columns) HWY_ATTR {
    for (std::int64_t i = 0; i < K; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        if constexpr (kToTiles) tiles[offset + i * vectors * lanes + j] = packed[i * V + first + j];
        if constexpr (!kToTiles) packed[i * V + first + j] = tiles[offset + i * vectors * lanes + j];
      }
  });
}

void LoadTilesF32(const float* packed, float* tiles, std::int64_t K, std::int64_t V) { move_state<float, true>(packed, tiles, K, V); }
void LoadTilesF64(const double* packed, double* tiles, std::int64_t K, std::int64_t V) { move_state<double, true>(packed, tiles, K, V); }
void StoreTilesF32(const float* tiles, float* packed, std::int64_t K, std::int64_t V) { move_state<float, false>(packed, tiles, K, V); }
void StoreTilesF64(const double* tiles, double* packed, std::int64_t K, std::int64_t V) { move_state<double, false>(packed, tiles, K, V); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(LoadTilesF32);
HWY_EXPORT(LoadTilesF64);
HWY_EXPORT(StoreTilesF32);
HWY_EXPORT(StoreTilesF64);

void load_tiles(const float* packed, float* tiles, std::int64_t K, std::int64_t V) {
  HWY_DYNAMIC_DISPATCH(LoadTilesF32)(packed, tiles, K, V);
}
void load_tiles(const double* packed, double* tiles, std::int64_t K, std::int64_t V) {
  HWY_DYNAMIC_DISPATCH(LoadTilesF64)(packed, tiles, K, V);
}
void store_tiles(const float* tiles, float* packed, std::int64_t K, std::int64_t V) {
  HWY_DYNAMIC_DISPATCH(StoreTilesF32)(tiles, packed, K, V);
}
void store_tiles(const double* tiles, double* packed, std::int64_t K, std::int64_t V) {
  HWY_DYNAMIC_DISPATCH(StoreTilesF64)(tiles, packed, K, V);
}
}  // namespace linearmem
#endif
