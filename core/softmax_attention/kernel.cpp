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

using softmax::kBlockQueries;
using softmax::kTileKeys;
using softmax::KernelBlock;

// Queries that share the loads of a tile: twelve sums in sixteen registers. V8's allocator wants fewer.
#if HWY_TARGET == HWY_WASM
constexpr int kRows = 4;
#else
constexpr int kRows = 6;
#endif

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

// Scores of kCount queries against the first `keys_seen` keys of a tile, or a few more.
template <typename T, int kCount>
HWY_NOINLINE void tile_scores(const T* q, const T* keys, std::int64_t K, std::int64_t keys_seen, T* scores) {
  using S = Simd<T>;
  for (std::int64_t s = 0; s < keys_seen; s += 2 * S::lanes()) {
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
  T largest;                  // m
  T total[HWY_MAX_BYTES / sizeof(T)];  // l, lane by lane
};

// What one query sees of a tile: keys [from, to); its sums so far shrink.
template <typename T>
struct Seen {
  std::int64_t from, to;
  T shrink;
  bool any() const { return from < to; }
};

constexpr int kWeightVectors = 4;  // exponentials that hide each other's latency

// Scores become weights; returns exp(m - m'), by which the earlier sums shrink. Scores outside [begin, end) are not seen.
template <typename T>
HWY_NOINLINE T tile_weights(T* scores, std::int64_t begin, std::int64_t end, Running<T>& running) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), step = kWeightVectors * lanes, whole = (end + step - 1) / step * step;
  for (std::int64_t s = 0; s < begin; ++s) scores[s] = kNothing<T>;
  for (std::int64_t s = end; s < whole; ++s) scores[s] = kNothing<T>;
  V most = S::all(running.largest);
  for (std::int64_t s = 0; s < whole; s += lanes) most = S::maximum(most, S::load(scores + s));
  const T largest = S::largest(most);
  const V shift = S::all(largest == kNothing<T> ? T{0} : largest);  // minus infinity less itself is no number
  T shrink = 1;
  V total = S::load(running.total);
  if (!(largest == running.largest)) {
    V by[1] = {S::subtract(S::all(running.largest), shift)};
    exp2_each<T, 1, true>(by);
    total = S::multiply(total, by[0]);
    shrink = S::first(by[0]);
  }
  for (std::int64_t s = 0; s < whole; s += step) {
    V weight[kWeightVectors];
    for (int c = 0; c < kWeightVectors; ++c) weight[c] = S::subtract(S::load(scores + s + c * lanes), shift);
    exp2_each<T, kWeightVectors, true>(weight);
    for (int c = 0; c < kWeightVectors; ++c) {
      total = S::add(total, weight[c]);
      S::store(weight[c], scores + s + c * lanes);
    }
  }
  S::store(total, running.total);
  running.largest = largest;
  return shrink;
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

// shrink: of each query; 1 afterwards.
template <typename T, int kCount>
HWY_NOINLINE void add_tile_values(const KernelBlock<T>& block, const T* weights, const T* values, std::int64_t begin, std::int64_t end, T* shrink,
                                  T* o) {
  if (begin >= end) return;
  const std::int64_t column = add_values<T, kCount, 2>(block, weights, values, begin, end, shrink, o, 0);
  add_values<T, kCount, 1>(block, weights, values, begin, end, shrink, o, column);
  for (int r = 0; r < kCount; ++r) shrink[r] = 1;
}

// The keys that all queries see go together, those before and behind them query by query: a value that a query does not see is not
// multiplied by its weight 0, since it may not be a number.
template <typename T, int kCount>
HWY_INLINE void add_seen_values(const KernelBlock<T>& block, const T* weights, const T* values, const Seen<T>* seen, T* o) {
  std::int64_t from = 0, to = kTileKeys;
  T shrink[kCount];
  for (int r = 0; r < kCount; ++r) {
    shrink[r] = seen[r].shrink;
    if (seen[r].from > from) from = seen[r].from;
    if (seen[r].to < to) to = seen[r].to;
  }
  if (from > to) from = to = kTileKeys;  // no key that all see
  const auto alone = [&](int r, std::int64_t begin, std::int64_t end) HWY_ATTR {
    add_tile_values<T, 1>(block, weights + r * kTileKeys, values, begin, end, shrink + r, o + r * block.row);
  };
  for (int r = 0; r < kCount; ++r) alone(r, seen[r].from, seen[r].to < from ? seen[r].to : from);
  add_tile_values<T, kCount>(block, weights, values, from, to, shrink, o);
  for (int r = 0; r < kCount; ++r) alone(r, seen[r].from > to ? seen[r].from : to, seen[r].to);
}

template <typename T>
HWY_INLINE void finish(const Running<T>& running, bool any, T* o, std::int64_t row) {
  T total = running.total[0];
  for (std::int64_t lane = 1; lane < Simd<T>::lanes(); ++lane) total += running.total[lane];
  for (std::int64_t j = 0; j < row; ++j) o[j] = any ? o[j] / total : T{0};
}

HWY_INLINE std::int64_t clamp_to_tile(std::int64_t key, std::int64_t tile) {
  return key < tile ? 0 : key > tile + kTileKeys ? kTileKeys : key - tile;
}

// What the queries of a block carry, and their scores of one tile.
template <typename T>
struct Work {
  HWY_ALIGN T scores[kBlockQueries * kTileKeys];
  Running<T> running[kBlockQueries];
  Seen<T> seen[kBlockQueries];
};

// Scores and weights of queries [t, t + kCount) for a tile of keys.
template <typename T, int kCount>
HWY_INLINE void weigh(const KernelBlock<T>& block, std::int64_t tile, std::int64_t t, Work<T>& work) {
  std::int64_t keys_seen = 0;
  for (std::int64_t r = t; r < t + kCount; ++r) {
    work.seen[r] = {clamp_to_tile(block.first[r], tile), clamp_to_tile(block.end[r], tile), T{1}};
    if (work.seen[r].any() && work.seen[r].to > keys_seen) keys_seen = work.seen[r].to;
  }
  if (keys_seen == 0) return;
  T* scores = work.scores + t * kTileKeys;
  tile_scores<T, kCount>(block.q + t * block.K, block.keys + tile * block.K, block.K, keys_seen, scores);
  for (int r = 0; r < kCount; ++r) {
    Seen<T>& seen = work.seen[t + r];
    if (seen.any()) seen.shrink = tile_weights(scores + r * kTileKeys, seen.from, seen.to, work.running[t + r]);
  }
}

template <typename T, int kCount>
HWY_INLINE void gather(const KernelBlock<T>& block, std::int64_t tile, std::int64_t t, const Work<T>& work) {
  add_seen_values<T, kCount>(block, work.scores + t * kTileKeys, block.values + tile * block.row, work.seen + t, block.o + t * block.row);
}

// Tile by tile, so that one stays near while all queries of the block use it: first its keys, then its values.
template <typename T>
HWY_INLINE void attend_all(const KernelBlock<T>& block) {
  Work<T> work;
  const std::int64_t queries = block.queries, together = queries / kRows * kRows;
  std::int64_t first = block.first[0], end = block.end[0];
  for (std::int64_t t = 0; t < queries; ++t) {
    work.running[t] = {kNothing<T>, {}};
    if (block.first[t] < first) first = block.first[t];
    if (block.end[t] > end) end = block.end[t];
  }
  for (std::int64_t j = 0; j < queries * block.row; ++j) block.o[j] = 0;
  for (std::int64_t tile = first / kTileKeys * kTileKeys; tile < end; tile += kTileKeys) {
    for (std::int64_t t = 0; t < together; t += kRows) weigh<T, kRows>(block, tile, t, work);
    for (std::int64_t t = together; t < queries; ++t) weigh<T, 1>(block, tile, t, work);
    for (std::int64_t t = 0; t < together; t += kRows) gather<T, kRows>(block, tile, t, work);
    for (std::int64_t t = together; t < queries; ++t) gather<T, 1>(block, tile, t, work);
  }
  for (std::int64_t t = 0; t < queries; ++t) finish(work.running[t], block.first[t] < block.end[t], block.o + t * block.row, block.row);
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
