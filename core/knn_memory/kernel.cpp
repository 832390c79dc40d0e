// Every score is a sum in an order of its own target's; only a filter hangs on it, whose bounds leave room for any order of sums.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn_memory/kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/simd-inl.hpp"
#include "foundation/tail-inl.hpp"
#include "knn_memory/kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using knn::kBlockKeys;
using knn::KeyBlock;
using knn::kQueryGroup;
using knn::QueryBlock;

constexpr int kSums = 4;          // of one key under way at once, so that none waits for the one before
constexpr int kPanelVectors = 2;  // of keys, side by side

template <typename T>
constexpr T infinity() {
  return static_cast<T>(__builtin_inf());
}

// A NaN, an infinite score and one at its bound all matter.
template <typename T>
HWY_INLINE bool matters(T score, T bound) {
  return !(bound < score && score < infinity<T>());
}

template <typename T, bool kInner>
HWY_INLINE typename Simd<T>::V add_term(typename Simd<T>::V key, typename Simd<T>::V query, typename Simd<T>::V sum) {
  using S = Simd<T>;
  if constexpr (kInner) return S::subtract_product(sum, key, query);
  const typename S::V difference = S::subtract(key, query);
  return S::multiply_add(difference, difference, sum);
}

template <typename T, bool kInner>
HWY_INLINE T score_of(const T* key, const T* query, std::int64_t D) {
  using S = Simd<T>;
  const std::int64_t lanes = S::lanes();
  typename S::V sum[kSums];
  for (int i = 0; i < kSums; ++i) sum[i] = S::zero();
  std::int64_t d = 0;
  for (; d + kSums * lanes <= D; d += kSums * lanes)
    for (int i = 0; i < kSums; ++i) sum[i] = add_term<T, kInner>(S::load(key + d + i * lanes), S::load(query + d + i * lanes), sum[i]);
  for (; d + lanes <= D; d += lanes) sum[0] = add_term<T, kInner>(S::load(key + d), S::load(query + d), sum[0]);
  if (d < D) sum[0] = add_term<T, kInner>(load_some<T>(key + d, D - d), load_some<T>(query + d, D - d), sum[0]);
  return S::sum(S::add(S::add(sum[0], sum[1]), S::add(sum[2], sum[3])));
}

template <typename T, bool kInner>
HWY_INLINE void score_key(const KeyBlock<T>& block, const QueryBlock<T>& to, const T* key, std::int64_t place) {
  for (std::int64_t q = 0; q < to.Q; ++q) {
    const T score = score_of<T, kInner>(key, to.queries + q * block.D, block.D);
    to.scores[q * 2 * kBlockKeys + place] = score;
    to.passed[q] |= matters(score, to.bounds[q]);
  }
}

template <typename T, bool kInner>
HWY_NOINLINE void by_key(const KeyBlock<T>& block, const QueryBlock<T>& to) {
  for (std::int64_t q = 0; q < to.Q; ++q) to.passed[q] = false;
  for (std::int64_t r = 0; r < block.count; ++r) {
    score_key<T, kInner>(block, to, block.keys + r * block.stride, r);
    if (r < block.count_elsewhere) score_key<T, kInner>(block, to, block.elsewhere + r * block.stride, kBlockKeys + r);
  }
}

// Four keys by four columns, turned. The scalar target and float64 go number by number.
HWY_INLINE void turn_square(const float* keys, std::int64_t stride, float* to, std::int64_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  for (int r = 0; r < 4; ++r)
    for (int d = 0; d < 4; ++d) to[d * to_stride + r] = keys[r * stride + d];
#else
  const hn::FixedTag<float, 4> tag;
  const auto a = hn::LoadU(tag, keys), b = hn::LoadU(tag, keys + stride), c = hn::LoadU(tag, keys + 2 * stride),
             e = hn::LoadU(tag, keys + 3 * stride);
  const auto ab = hn::InterleaveLower(tag, a, b), ce = hn::InterleaveLower(tag, c, e), ab2 = hn::InterleaveUpper(tag, a, b),
             ce2 = hn::InterleaveUpper(tag, c, e);
  hn::StoreU(hn::ConcatLowerLower(tag, ce, ab), tag, to);
  hn::StoreU(hn::ConcatUpperUpper(tag, ce, ab), tag, to + to_stride);
  hn::StoreU(hn::ConcatLowerLower(tag, ce2, ab2), tag, to + 2 * to_stride);
  hn::StoreU(hn::ConcatUpperUpper(tag, ce2, ab2), tag, to + 3 * to_stride);
#endif
}
HWY_INLINE void turn_square(const double* keys, std::int64_t stride, double* to, std::int64_t to_stride) {
  for (int r = 0; r < 4; ++r)
    for (int d = 0; d < 4; ++d) to[d * to_stride + r] = keys[r * stride + d];
}

// Keys [count,D] as [D,width], zeros where there is no key.
template <typename T>
HWY_NOINLINE void turn_panel(const T* keys, std::int64_t stride, std::int64_t count, std::int64_t D, std::int64_t width, T* panel) {
  const std::int64_t rows = count / 4 * 4, columns = D / 4 * 4;
  for (std::int64_t r = 0; r < rows; r += 4)
    for (std::int64_t d = 0; d < columns; d += 4) turn_square(keys + r * stride + d, stride, panel + d * width + r, width);
  for (std::int64_t r = 0; r < width; ++r)
    for (std::int64_t d = r < rows ? columns : 0; d < D; ++d) panel[d * width + r] = r < count ? keys[r * stride + d] : T{0};
}

template <typename T, bool kInner>
HWY_NOINLINE void panel_scores(const T* panel, const QueryBlock<T>& to, std::int64_t q, std::int64_t first, std::int64_t D) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), width = kPanelVectors * lanes;
  const T* queries = to.queries + q * D;
  V sum[kQueryGroup][kPanelVectors];
  for (int g = 0; g < kQueryGroup; ++g)
    for (int v = 0; v < kPanelVectors; ++v) sum[g][v] = S::zero();
  for (std::int64_t d = 0; d < D; ++d) {
    V keys[kPanelVectors];
    for (int v = 0; v < kPanelVectors; ++v) keys[v] = S::load(panel + d * width + v * lanes);
    for (int g = 0; g < kQueryGroup; ++g) {
      const V query = S::all(queries[d * kQueryGroup + g]);
      for (int v = 0; v < kPanelVectors; ++v) sum[g][v] = add_term<T, kInner>(keys[v], query, sum[g][v]);
    }
  }
  const V none = S::zero(), one = S::all(T{1}), most = S::all(infinity<T>());
  for (int g = 0; g < kQueryGroup; ++g) {
    const V bound = S::all(to.bounds[q + g]);
    V found = none;
    for (int v = 0; v < kPanelVectors; ++v) {
      S::store(sum[g][v], to.scores + (q + g) * 2 * kBlockKeys + first + v * lanes);
      found = S::add(found, S::select_less(bound, sum[g][v], S::select_less(sum[g][v], most, none, one), one));
    }
    to.passed[q + g] |= S::sum(found) > 0;
  }
}

// Of the keys of the next panel those in [from, to): each group of queries asks for its share.
template <typename T>
HWY_INLINE void ask_for_share(const T* keys, const KeyBlock<T>& block, std::int64_t from, std::int64_t to) {
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t r = from; r < to; ++r)
    for (std::int64_t d = 0; d < block.D; d += kLine) __builtin_prefetch(keys + r * block.stride + d, 0, 3);
}

template <typename T, bool kInner>
void by_panel(const KeyBlock<T>& block, const QueryBlock<T>& to, T* panel) {
  const std::int64_t width = kPanelVectors * Simd<T>::lanes();
  for (std::int64_t q = 0; q < to.Q; ++q) to.passed[q] = false;
  for (std::int64_t first = 0; first < block.count; first += width) {
    const std::int64_t count = block.count - first < width ? block.count - first : width;
    const T* keys = block.keys + first * block.stride;
    turn_panel(keys, block.stride, count, block.D, width, panel);
    const bool more = kFetchStates && first + 2 * width <= block.count + block.ahead;
    for (std::int64_t q = 0; q < to.Q; q += kQueryGroup) {
      if (more) ask_for_share(keys + width * block.stride, block, width * q / to.Q, width * (q + kQueryGroup) / to.Q);
      panel_scores<T, kInner>(panel, to, q, first, block.D);
    }
  }
}

template <typename T>
HWY_NOINLINE T square_of(const KeyBlock<T>& block) {
  using S = Simd<T>;
  T most = 0;
  for (std::int64_t r = 0; r < block.count + block.count_elsewhere; ++r) {
    const T* key = r < block.count ? block.keys + r * block.stride : block.elsewhere + (r - block.count) * block.stride;
    typename S::V sum = S::zero();
    for (std::int64_t d = 0; d < block.D; d += S::lanes()) {
      const typename S::V part = d + S::lanes() <= block.D ? S::load(key + d) : load_some<T>(key + d, block.D - d);
      sum = S::multiply_add(part, part, sum);
    }
    const T square = S::sum(sum);
    if (!(square <= most)) most = square;
  }
  return most;
}

template <typename T>
void choose_by_key(const KeyBlock<T>& block, const QueryBlock<T>& to) {
  if (block.inner_product) by_key<T, true>(block, to);
  else by_key<T, false>(block, to);
}

template <typename T>
void choose_by_panel(const KeyBlock<T>& block, const QueryBlock<T>& to, T* panel) {
  if (block.inner_product) by_panel<T, true>(block, to, panel);
  else by_panel<T, false>(block, to, panel);
}

void KnnByKey32(const KeyBlock<float>& block, const QueryBlock<float>& to) { choose_by_key(block, to); }
void KnnByKey64(const KeyBlock<double>& block, const QueryBlock<double>& to) { choose_by_key(block, to); }
void KnnByPanel32(const KeyBlock<float>& block, const QueryBlock<float>& to, float* panel) { choose_by_panel(block, to, panel); }
void KnnByPanel64(const KeyBlock<double>& block, const QueryBlock<double>& to, double* panel) { choose_by_panel(block, to, panel); }
float KnnSquare32(const KeyBlock<float>& block) { return square_of(block); }
double KnnSquare64(const KeyBlock<double>& block) { return square_of(block); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(KnnByKey32);
HWY_EXPORT(KnnByKey64);
HWY_EXPORT(KnnByPanel32);
HWY_EXPORT(KnnByPanel64);
HWY_EXPORT(KnnSquare32);
HWY_EXPORT(KnnSquare64);

namespace knn {
void scores_by_key(const KeyBlock<float>& block, const QueryBlock<float>& to) { HWY_DYNAMIC_DISPATCH(KnnByKey32)(block, to); }
void scores_by_key(const KeyBlock<double>& block, const QueryBlock<double>& to) { HWY_DYNAMIC_DISPATCH(KnnByKey64)(block, to); }
void scores_by_panel(const KeyBlock<float>& block, const QueryBlock<float>& to, float* panel) {
  HWY_DYNAMIC_DISPATCH(KnnByPanel32)(block, to, panel);
}
void scores_by_panel(const KeyBlock<double>& block, const QueryBlock<double>& to, double* panel) {
  HWY_DYNAMIC_DISPATCH(KnnByPanel64)(block, to, panel);
}
float largest_square(const KeyBlock<float>& block) { return HWY_DYNAMIC_DISPATCH(KnnSquare32)(block); }
double largest_square(const KeyBlock<double>& block) { return HWY_DYNAMIC_DISPATCH(KnnSquare64)(block); }
}  // namespace knn
}  // namespace linearmem
#endif
