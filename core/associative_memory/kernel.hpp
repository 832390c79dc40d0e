// The SIMD part of a read, over one tile of up to kTileItems items: scores of all queries, then one or more responses to them.
// float64 throughout.
#pragma once

#include <cstdint>

#include "linearmem/associative_memory.hpp"

namespace linearmem::associative {

constexpr std::int64_t kTileItems = 64;
constexpr std::int64_t kMostTerms = 17;

// A response as the kernel computes it: exp(beta s), or a polynomial in beta s, negative s cut to 0 first where `cut`.
struct KernelRule {
  bool exponential, cut;
  int degree;
  double beta;
  double coefficients[kMostTerms];
};
KernelRule kernel_rule(const ResponseRule& rule, std::int64_t items);

// Length of a row that kernels may read and write two vectors at a time on every target.
constexpr std::int64_t padded_row(std::int64_t V) { return (V + 15) / 16 * 16; }

// Kernels take queries four at a time: Q is a multiple of that, rows past the last query may hold any finite numbers.
constexpr std::int64_t kQueryGroup = 4;
constexpr std::int64_t padded_queries(std::int64_t Q) { return (Q + kQueryGroup - 1) / kQueryGroup * kQueryGroup; }

// scores[q, s] = queries[q, :] . keys[:, s]; queries [Q,K] packed, keys [K,kTileItems] with zeros where there is no item,
// scores [Q,kTileItems].
struct ScoreTile {
  const double* queries;
  const double* keys;
  double* scores;
  std::int64_t Q, K;
};
void tile_scores(const ScoreTile& tile);

// Adds w v of items [begin, end) of a tile to each query's sum [row] and w to its total. Exponential sums are kept relative to
// exp(largest): sum and total have to be multiplied by it; largest starts as minus infinity, all else as 0.
struct ResponseTile {
  const double* scores;             // [Q,kTileItems]
  const double* values;             // [kTileItems,row], zeros past V
  double *sums, *totals, *largest;  // [Q,row], [Q], [Q]
  std::int64_t Q, row, begin, end;
};
void tile_response(const KernelRule& rule, const ResponseTile& tile);

}  // namespace linearmem::associative
