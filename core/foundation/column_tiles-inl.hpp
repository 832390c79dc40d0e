// The order in which kernels keep a [K,V] state: tiles of whole vectors of columns, K rows each, one tile after the other, so that
// a tile stays in the nearest cache for a whole block of tokens. Included once per target, like simd-inl.hpp.

#if defined(LINEARMEM_FOUNDATION_COLUMN_TILES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_FOUNDATION_COLUMN_TILES_INL_HPP
#undef LINEARMEM_FOUNDATION_COLUMN_TILES_INL_HPP
#else
#define LINEARMEM_FOUNDATION_COLUMN_TILES_INL_HPP
#endif

#include <cstdint>

#include "foundation/ahead_rows.hpp"
#include "foundation/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

// Calls visit(vectors, offset of the tile's state, first column, columns) for tiles as wide as fit, narrower at the end.
// vectors is kMost or a half, a quarter, ... of it; columns is less than the tile's width only in the last tile.
template <typename T, int kMost = kTileVectors, typename Visit>
HWY_INLINE void each_tile(std::int64_t K, std::int64_t V, Visit visit) {
  const std::int64_t lanes = Simd<T>::lanes();
  std::int64_t offset = 0;
  for (std::int64_t first = 0; first < V;) {
    int vectors = kMost;
    while (vectors > 1 && vectors * lanes > V - first) vectors /= 2;
    const std::int64_t width = vectors * lanes;
    visit(vectors, offset, first, width < V - first ? width : V - first);
    offset += K * width;
    first += width;
  }
}

// How many tiles each_tile visits.
template <typename T, int kMost = kTileVectors>
HWY_INLINE std::int64_t tile_count(std::int64_t V) {
  std::int64_t count = 0;
  each_tile<T, kMost>(0, V, [&](int, std::int64_t, std::int64_t, std::int64_t) HWY_ATTR { ++count; });
  return count;
}

// A tile's part of a state in tile order, or of one that lies as [K,V] with its rows `row` apart.
template <typename T>
struct Tile {
  T* state;
  std::int64_t row;           // between its rows
  std::int64_t first;         // of its columns
  std::int64_t index, count;  // among the state's tiles
};

// Calls visit(vectors, tile). stride: 0 for tile order.
template <typename T, int kMost = kTileVectors, typename Visit>
HWY_INLINE void each_state_tile(T* state, std::int64_t stride, std::int64_t K, std::int64_t V, Visit visit) {
  const std::int64_t count = tile_count<T, kMost>(V);
  std::int64_t index = 0;
  each_tile<T, kMost>(K, V, [&](int vectors, std::int64_t offset, std::int64_t first, std::int64_t) HWY_ATTR {
    const bool tiled = stride == 0;
    visit(vectors, Tile<T>{state + (tiled ? offset : first), tiled ? vectors * Simd<T>::lanes() : stride, first, index++, count});
  });
}

// Asks for the rows ahead as far as the second cache: the first one is full of the state. Passes over a tile share this among them by
// cache lines, so that it goes on evenly: the one of tokens [t, t + count) out of `tokens` asks for its part.
template <typename T>
HWY_INLINE void fetch_ahead(const AheadRows<T>& ahead, const Tile<T>& tile, std::int64_t t, std::int64_t count, std::int64_t tokens) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  std::int64_t lines = 0;  // of a token
  for (const auto& rows : ahead.rows) lines += (rows.width + kLine - 1) / kLine;
  if (ahead.tokens <= 0 || lines == 0) return;
  const std::int64_t all = lines * ahead.tokens, passes = tile.count * tokens, pass = tile.index * tokens + t;
  const std::int64_t first = all * pass / passes, end = all * (pass + count) / passes;
  std::int64_t token = first / lines, skip = first % lines;
  for (std::int64_t left = end - first; left > 0; ++token)
    for (const auto& rows : ahead.rows)
      for (std::int64_t at = 0; at < rows.width && left > 0; at += kLine) {
        if (skip-- > 0) continue;
        __builtin_prefetch(rows.first + token * rows.stride + at, 0, 2);
        --left;
      }
}

// Asks for a row's part of a state, to be written soon, into the first cache.
template <typename T>
HWY_INLINE void fetch_row(const T* part, std::int64_t width) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t at = 0; at < width; at += kLine) __builtin_prefetch(part + at, 1, 3);
}

// Asks for the next head's state evenly, while a kernel goes down the rows of its tiles: in pass `pass` of `kPasses` over a tile, for the
// part that belongs to row i.
template <typename T, int kVectors, int kPasses>
HWY_INLINE void fetch_state(const T* next, const Tile<T>& tile, std::int64_t K, std::int64_t i, std::int64_t pass) {
  const std::int64_t width = kVectors * Simd<T>::lanes() / kPasses;
  fetch_row(next + tile.first * K + (pass * K + i) * width, width);
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
