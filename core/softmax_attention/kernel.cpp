// Tile of keys by tile of keys, with a running largest score m, sum of weights l and sum of weighted values per query:
//   m' = max(m, scores),  p = exp(scores - m'),  l' = exp(m - m') l + sum p,  o' = exp(m - m') o + p v
// Both products run on the same register tile of rows and vectors; in either a lane is an independent sum, taken in key order,
// so a query gives the same bits whichever queries stand beside it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "softmax_attention/kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/exp-inl.hpp"
#include "foundation/simd-inl.hpp"
#include "softmax_attention/kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using softmax::kTileKeys;
using softmax::KernelBlock;

constexpr int kRows = 4;  // queries that share the loads of a tile

template <typename T>
constexpr T kNothing = static_cast<T>(-__builtin_inf());  // the largest of no scores

// sum[r] += sum over i in [begin, end) of a[r,i] b[i,:], for kVectors vectors of columns.
template <typename T, int kCount, int kVectors>
HWY_INLINE void add_products(const T* a, std::int64_t a_row, const T* b, std::int64_t b_row, std::int64_t begin, std::int64_t end,
                             typename Simd<T>::V (&sum)[kCount][kVectors]) {
  using S = Simd<T>;
  for (std::int64_t i = begin; i < end; ++i) {
    typename S::V column[kVectors];
    for (int c = 0; c < kVectors; ++c) column[c] = S::load(b + i * b_row + c * S::lanes());
    for (int r = 0; r < kCount; ++r) {
      const auto factor = S::all(a[r * a_row + i]);
      for (int c = 0; c < kVectors; ++c) sum[r][c] = S::multiply_add(factor, column[c], sum[r][c]);
    }
  }
}

// Scores of kCount queries against one tile of keys.
template <typename T, int kCount>
HWY_INLINE void tile_scores(const T* q, const T* keys, std::int64_t K, T* scores) {
  using S = Simd<T>;
  for (std::int64_t s = 0; s < kTileKeys; s += 2 * S::lanes()) {
    typename S::V sum[kCount][2];
    for (int r = 0; r < kCount; ++r) sum[r][0] = sum[r][1] = S::zero();
    add_products<T, kCount, 2>(q, K, keys + s, kTileKeys, 0, K, sum);
    for (int r = 0; r < kCount; ++r) {
      S::store(sum[r][0], scores + r * kTileKeys + s);
      S::store(sum[r][1], scores + r * kTileKeys + s + S::lanes());
    }
  }
}

// What one query carries from tile to tile.
template <typename T>
struct Running {
  T largest;             // m
  typename Simd<T>::V total;  // l, lane by lane
};

// Scores become weights; returns exp(m - m'), by which the earlier sums shrink. Scores outside [begin, end) are not seen.
template <typename T>
HWY_INLINE T tile_weights(T* scores, std::int64_t begin, std::int64_t end, Running<T>& running) {
  using S = Simd<T>;
  for (std::int64_t s = 0; s < begin; ++s) scores[s] = kNothing<T>;
  for (std::int64_t s = end; s < kTileKeys; ++s) scores[s] = kNothing<T>;
  auto most = S::all(running.largest);
  for (std::int64_t s = 0; s < kTileKeys; s += S::lanes()) most = S::maximum(most, S::load(scores + s));
  T lanes[HWY_MAX_BYTES / sizeof(T)];
  S::store(most, lanes);
  T largest = lanes[0];
  for (std::int64_t lane = 1; lane < S::lanes(); ++lane) largest = lanes[lane] > largest ? lanes[lane] : largest;
  const auto shift = S::all(largest == kNothing<T> ? T{0} : largest);  // minus infinity less itself is no number
  const auto shrink = exp_up_to_zero<T>(S::subtract(S::all(running.largest), shift));
  running.total = S::multiply(running.total, shrink);
  for (std::int64_t s = 0; s < kTileKeys; s += S::lanes()) {
    const auto weight = exp_up_to_zero<T>(S::subtract(S::load(scores + s), shift));
    running.total = S::add(running.total, weight);
    S::store(weight, scores + s);
  }
  running.largest = largest;
  S::store(shrink, lanes);
  return lanes[0];
}

// o = shrink o + weights values, kVectors vectors of columns at a time.
template <typename T, int kCount, int kVectors>
HWY_INLINE std::int64_t add_values(const KernelBlock<T>& block, const T* weights, const T* values, std::int64_t begin, std::int64_t end,
                                   const T* shrink, T* o, std::int64_t column) {
  using S = Simd<T>;
  const std::int64_t lanes = S::lanes();
  for (; column + kVectors * lanes <= block.row; column += kVectors * lanes) {
    typename S::V sum[kCount][kVectors];
    for (int r = 0; r < kCount; ++r)
      for (int c = 0; c < kVectors; ++c) sum[r][c] = S::multiply(S::all(shrink[r]), S::load(o + r * block.row + column + c * lanes));
    add_products<T, kCount, kVectors>(weights, kTileKeys, values + column, block.row, begin, end, sum);
    for (int r = 0; r < kCount; ++r)
      for (int c = 0; c < kVectors; ++c) S::store(sum[r][c], o + r * block.row + column + c * lanes);
  }
  return column;
}

template <typename T, int kCount>
HWY_INLINE void add_tile_values(const KernelBlock<T>& block, const T* weights, const T* values, std::int64_t begin, std::int64_t end,
                                const T* shrink, T* o) {
  const std::int64_t column = add_values<T, kCount, 2>(block, weights, values, begin, end, shrink, o, 0);
  add_values<T, kCount, 1>(block, weights, values, begin, end, shrink, o, column);
}

template <typename T>
HWY_INLINE void finish(const Running<T>& running, bool any, T* o, std::int64_t row) {
  using S = Simd<T>;
  T lanes[HWY_MAX_BYTES / sizeof(T)];
  S::store(running.total, lanes);
  T total = lanes[0];
  for (std::int64_t lane = 1; lane < S::lanes(); ++lane) total += lanes[lane];
  for (std::int64_t j = 0; j < row; ++j) o[j] = any ? o[j] / total : T{0};
}

HWY_INLINE std::int64_t clamp_to_tile(std::int64_t key, std::int64_t tile) {
  return key < tile ? 0 : key > tile + kTileKeys ? kTileKeys : key - tile;
}

// Queries [t, t + kCount).
template <typename T, int kCount>
HWY_NOINLINE void attend(const KernelBlock<T>& block, std::int64_t t) {
  HWY_ALIGN T scores[kCount * kTileKeys];
  T* o = block.o + t * block.row;
  Running<T> running[kCount];
  std::int64_t first = block.first[t], end = block.end[t];
  for (int r = 0; r < kCount; ++r) {
    running[r] = {kNothing<T>, Simd<T>::zero()};
    if (block.first[t + r] < first) first = block.first[t + r];
    if (block.end[t + r] > end) end = block.end[t + r];
  }
  for (std::int64_t j = 0; j < kCount * block.row; ++j) o[j] = 0;
  for (std::int64_t tile = first / kTileKeys * kTileKeys; tile < end; tile += kTileKeys) {
    tile_scores<T, kCount>(block.q + t * block.K, block.keys + tile * block.K, block.K, scores);
    const T* values = block.values + tile * block.row;
    std::int64_t from[kCount], to[kCount];
    T shrink[kCount];
    bool whole = true;
    for (int r = 0; r < kCount; ++r) {
      from[r] = clamp_to_tile(block.first[t + r], tile);
      to[r] = clamp_to_tile(block.end[t + r], tile);
      whole = whole && from[r] == 0 && to[r] == kTileKeys;
      shrink[r] = from[r] < to[r] ? tile_weights(scores + r * kTileKeys, from[r], to[r], running[r]) : T{1};
    }
    if (whole) {
      add_tile_values<T, kCount>(block, scores, values, 0, kTileKeys, shrink, o);
      continue;
    }
    for (int r = 0; r < kCount; ++r)
      if (from[r] < to[r]) add_tile_values<T, 1>(block, scores + r * kTileKeys, values, from[r], to[r], shrink + r, o + r * block.row);
  }
  for (int r = 0; r < kCount; ++r) finish(running[r], block.first[t + r] < block.end[t + r], o + r * block.row, block.row);
}

template <typename T>
HWY_INLINE void attend_all(const KernelBlock<T>& block) {
  std::int64_t t = 0;
  for (; t + kRows <= block.queries; t += kRows) attend<T, kRows>(block, t);
  for (; t < block.queries; ++t) attend<T, 1>(block, t);
}

void SoftmaxBlockF32(const KernelBlock<float>& block) { attend_all(block); }
void SoftmaxBlockF64(const KernelBlock<double>& block) { attend_all(block); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(SoftmaxBlockF32);
HWY_EXPORT(SoftmaxBlockF64);

namespace softmax {
void kernel_block(const KernelBlock<float>& block) { HWY_DYNAMIC_DISPATCH(SoftmaxBlockF32)(block); }
void kernel_block(const KernelBlock<double>& block) { HWY_DYNAMIC_DISPATCH(SoftmaxBlockF64)(block); }
}  // namespace softmax
}  // namespace linearmem
#endif
