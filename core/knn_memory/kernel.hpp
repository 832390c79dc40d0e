// The SIMD part of a search: scores of a block of keys against some queries, in the keys' own precision, and which queries have a key in
// it that may be among their nearest. The score is the squared distance or the negative product, rounded; who passes is measured again.
#pragma once

#include <cstdint>

namespace linearmem::knn {

constexpr std::int64_t kBlockKeys = 96;  // a multiple of what every target takes at a time
// Queries that share the loads of keys: with two vectors of keys, ten sums and what they need at once fit sixteen registers; V8's
// allocator wants fewer.
#ifdef __wasm__
constexpr std::int64_t kQueryGroup = 4;
#else
constexpr std::int64_t kQueryGroup = 5;
#endif
constexpr std::int64_t padded_queries(std::int64_t Q) { return (Q + kQueryGroup - 1) / kQueryGroup * kQueryGroup; }

// Keys [count,D], at most kBlockKeys, and as many or fewer from elsewhere: memory is read faster from two places in turn than from one.
template <typename T>
struct KeyBlock {
  const T *keys, *elsewhere;
  std::int64_t count, count_elsewhere;
  std::int64_t ahead;   // keys that follow `keys` past `count`, to be asked for while these are in work
  std::int64_t stride;  // between keys of either
  std::int64_t D;
  bool inner_product;
};

template <typename T>
struct QueryBlock {
  const T* queries;  // by key: [Q,D]; by panel: [Q / kQueryGroup, D, kQueryGroup]
  std::int64_t Q;    // by panel a multiple of kQueryGroup
  const T* bounds;   // [Q], a score above it cannot matter; infinite: every score matters
  T* scores;         // [Q,2,kBlockKeys]: of the keys, and of those elsewhere
  bool* passed;      // [Q], is there a score that is not above its bound, or not finite?
};

// Key by key against query by query: a lane is a column. For few queries, where reading the keys is what takes time.
void scores_by_key(const KeyBlock<float>& block, const QueryBlock<float>& to);
void scores_by_key(const KeyBlock<double>& block, const QueryBlock<double>& to);

// Panels of keys turned so that a lane is a key, against groups of queries. panel: room for kBlockKeys D numbers.
// No keys elsewhere: with many queries the sums take longer than the reading.
void scores_by_panel(const KeyBlock<float>& block, const QueryBlock<float>& to, float* panel);
void scores_by_panel(const KeyBlock<double>& block, const QueryBlock<double>& to, double* panel);

// The largest |key|^2 of a block, with its keys elsewhere.
float largest_square(const KeyBlock<float>& block);
double largest_square(const KeyBlock<double>& block);

}  // namespace linearmem::knn
