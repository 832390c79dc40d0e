// The order in which kernels keep a [K,V] state: tiles of whole vectors of columns, K rows each, one tile after the other, so that
// a tile stays in the nearest cache for a whole block of tokens. Included once per target, like simd-inl.hpp.

#if defined(LINEARMEM_FOUNDATION_COLUMN_TILES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_FOUNDATION_COLUMN_TILES_INL_HPP
#undef LINEARMEM_FOUNDATION_COLUMN_TILES_INL_HPP
#else
#define LINEARMEM_FOUNDATION_COLUMN_TILES_INL_HPP
#endif

#include <cstdint>

#include "foundation/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

// Calls visit(vectors, offset of the tile's state, first column, columns) for tiles as wide as fit, narrower at the end.
// vectors is 4, 2 or 1; columns is less than the tile's width only in the last tile.
template <typename T, typename Visit>
HWY_INLINE void each_tile(std::int64_t K, std::int64_t V, Visit visit) {
  const std::int64_t lanes = Simd<T>::lanes();
  std::int64_t offset = 0;
  for (std::int64_t first = 0; first < V;) {
    int vectors = kTileVectors;
    while (vectors > 1 && vectors * lanes > V - first) vectors /= 2;
    const std::int64_t width = vectors * lanes;
    visit(vectors, offset, first, width < V - first ? width : V - first);
    offset += K * width;
    first += width;
  }
}

// How many tiles each_tile visits.
template <typename T>
HWY_INLINE std::int64_t tile_count(std::int64_t V) {
  std::int64_t count = 0;
  each_tile<T>(0, V, [&](int, std::int64_t, std::int64_t, std::int64_t) HWY_ATTR { ++count; });
  return count;
}

// Asks for the cache lines of a row that is wanted soon: as far as the second cache, the first one being full of the state.
template <typename T>
HWY_INLINE void fetch_row(const T* row, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t at = 0; at < count; at += kLine) __builtin_prefetch(row + at, 0, 2);
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
