// Scores: a lane is a stored item. Sums: a lane is a value column. Either is an independent sum in a fixed order, so a query gives the
// same bits whichever queries stand beside it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "associative_memory/kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "associative_memory/kernel.hpp"
#include "foundation/exp-inl.hpp"
#include "foundation/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using associative::KernelRule;
using associative::kTileItems;
using associative::ResponseTile;
using associative::ScoreTile;

using D = Simd<double>;
using Vec = D::V;

constexpr int kCount = associative::kQueryGroup;  // queries that share the loads of a tile
constexpr double kNothing = -__builtin_inf();

// sum[r] += sum over i in [begin, end) of a[r, i] b[i, :], two vectors of columns wide.
HWY_INLINE void add_products(const double* a, std::int64_t a_row, const double* b, std::int64_t b_row, std::int64_t begin, std::int64_t end,
                             Vec (&sum)[kCount][2]) {
  for (std::int64_t i = begin; i < end; ++i) {
    const Vec left = D::load(b + i * b_row), right = D::load(b + i * b_row + D::lanes());
    for (int r = 0; r < kCount; ++r) {
      const Vec factor = D::all(a[r * a_row + i]);
      sum[r][0] = D::multiply_add(factor, left, sum[r][0]);
      sum[r][1] = D::multiply_add(factor, right, sum[r][1]);
    }
  }
}

HWY_NOINLINE void scores_of(const ScoreTile& tile, std::int64_t q) {
  for (std::int64_t s = 0; s < kTileItems; s += 2 * D::lanes()) {
    Vec sum[kCount][2];
    for (int r = 0; r < kCount; ++r) sum[r][0] = sum[r][1] = D::zero();
    add_products(tile.queries + q * tile.K, tile.K, tile.keys + s, kTileItems, 0, tile.K, sum);
    for (int r = 0; r < kCount; ++r) {
      D::store(sum[r][0], tile.scores + (q + r) * kTileItems + s);
      D::store(sum[r][1], tile.scores + (q + r) * kTileItems + s + D::lanes());
    }
  }
}

HWY_INLINE void polynomial_weights(const KernelRule& rule, const double* scores, double* weights) {
  const Vec beta = D::all(rule.beta);
  for (std::int64_t s = 0; s < kTileItems; s += D::lanes()) {
    Vec x = D::multiply(beta, D::load(scores + s));
    if (rule.cut) x = D::maximum(x, D::zero());
    Vec sum = D::all(rule.coefficients[rule.degree]);
    for (int j = rule.degree - 1; j >= 0; --j) sum = D::multiply_add(sum, x, D::all(rule.coefficients[j]));
    D::store(sum, weights + s);
  }
}

// Weights relative to the largest score so far; the sums before them shrink accordingly.
HWY_INLINE double exponential_weights(const KernelRule& rule, const double* scores, double* weights, std::int64_t begin, std::int64_t end,
                                      double* largest) {
  double most = *largest;
  for (std::int64_t s = 0; s < kTileItems; ++s) {
    weights[s] = s >= begin && s < end ? rule.beta * scores[s] : kNothing;
    if (weights[s] > most) most = weights[s];
  }
  const Vec shift = D::all(most);
  double shrink[HWY_MAX_BYTES / sizeof(double)];
  D::store(exp_up_to_zero<double>(D::subtract(D::all(*largest), shift)), shrink);
  for (std::int64_t s = 0; s < kTileItems; s += D::lanes())
    D::store(exp_up_to_zero<double>(D::subtract(D::load(weights + s), shift)), weights + s);
  *largest = most;
  return shrink[0];
}

HWY_NOINLINE void response_of(const KernelRule& rule, const ResponseTile& tile, std::int64_t q) {
  HWY_ALIGN double weights[kCount * kTileItems];
  double shrink[kCount];
  for (int r = 0; r < kCount; ++r) {
    double* w = weights + r * kTileItems;
    const double* scores = tile.scores + (q + r) * kTileItems;
    shrink[r] = 1;
    if (rule.exponential)
      shrink[r] = exponential_weights(rule, scores, w, tile.begin, tile.end, tile.largest + q + r);
    else
      polynomial_weights(rule, scores, w);
    double total = 0;
    for (std::int64_t s = tile.begin; s < tile.end; ++s) total += w[s];
    tile.totals[q + r] = tile.totals[q + r] * shrink[r] + total;
  }
  for (std::int64_t j = 0; j < tile.row; j += 2 * D::lanes()) {
    Vec sum[kCount][2];
    double* sums = tile.sums + q * tile.row + j;
    for (int r = 0; r < kCount; ++r)
      for (int c = 0; c < 2; ++c) sum[r][c] = D::multiply(D::all(shrink[r]), D::load(sums + r * tile.row + c * D::lanes()));
    add_products(weights, kTileItems, tile.values + j, tile.row, tile.begin, tile.end, sum);
    for (int r = 0; r < kCount; ++r)
      for (int c = 0; c < 2; ++c) D::store(sum[r][c], sums + r * tile.row + c * D::lanes());
  }
}

void AssociativeScores(const ScoreTile& tile) {
  for (std::int64_t q = 0; q < tile.Q; q += kCount) scores_of(tile, q);
}

void AssociativeResponse(const KernelRule& rule, const ResponseTile& tile) {
  for (std::int64_t q = 0; q < tile.Q; q += kCount) response_of(rule, tile, q);
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(AssociativeScores);
HWY_EXPORT(AssociativeResponse);

namespace associative {
void tile_scores(const ScoreTile& tile) { HWY_DYNAMIC_DISPATCH(AssociativeScores)(tile); }
void tile_response(const KernelRule& rule, const ResponseTile& tile) { HWY_DYNAMIC_DISPATCH(AssociativeResponse)(rule, tile); }
}  // namespace associative
}  // namespace linearmem
#endif
