// The streaming form: items are packed tile by tile for the SIMD kernel, each is met once, and no weights are kept.
#include <algorithm>
#include <cmath>

#include "associative_memory/forms.hpp"
#include "associative_memory/running_sums.hpp"

namespace linearmem::associative {
namespace {

// Queries that share one packing of the items; more would spill the scores out of the nearest cache.
constexpr std::int64_t kBlockQueries = 64;

template <typename T>
void pack_tile(const View<const T, 2>& keys, const View<const T, 2>& values, std::int64_t first, std::int64_t items, double* key_tile,
               double* value_tile) {
  const std::int64_t K = keys.extent(1), V = values.extent(1), row = padded_row(V);
  for (std::int64_t s = 0; s < kTileItems; ++s)
    for (std::int64_t c = 0; c < K; ++c) key_tile[c * kTileItems + s] = s < items ? static_cast<double>(keys(first + s, c)) : 0.0;
  for (std::int64_t s = 0; s < items; ++s)
    for (std::int64_t j = 0; j < V; ++j) value_tile[s * row + j] = static_cast<double>(values(first + s, j));
}

void write_out(const RunningSums& sums, const ResponseRule& rule, std::int64_t first, std::int64_t queries, const View<double, 2>& o) {
  for (std::int64_t q = 0; q < queries; ++q) {
    const double scale = rule.response == Response::softmax ? 1 / sums.total(q) : std::exp(sums.log_scale(q));
    for (std::int64_t j = 0; j < o.extent(1); ++j) o(first + q, j) = sums.sum(q)[j] * scale;
  }
}

}  // namespace

KernelRule kernel_rule(const ResponseRule& rule, std::int64_t items) {
  KernelRule made{.exponential = rule.response == Response::exp || rule.response == Response::softmax,
                  .cut = rule.response == Response::relu,
                  .degree = rule.response == Response::relu ? rule.power : 1,
                  .beta = 1,
                  .coefficients = {}};
  if (made.exponential || rule.response == Response::truncated_exp) made.beta = beta_for(rule, items);
  if (rule.response == Response::truncated_exp) {
    made.degree = rule.terms - 1;
    made.coefficients[0] = 1;
    for (int j = 1; j <= made.degree; ++j) made.coefficients[j] = made.coefficients[j - 1] / j;
  } else {
    made.coefficients[made.degree] = 1;
  }
  return made;
}

template <typename T>
void streaming(const View<const T, 2>& keys, const View<const T, 2>& values, const View<const T, 2>& queries, const ResponseRule& rule,
               const View<double, 2>& o) {
  const std::int64_t M = keys.extent(0), K = keys.extent(1), V = values.extent(1), Q = queries.extent(0);
  const KernelRule kernel = kernel_rule(rule, M);
  std::vector<double> key_tile(static_cast<std::size_t>(K * kTileItems)), value_tile(static_cast<std::size_t>(kTileItems * padded_row(V))),
      block(static_cast<std::size_t>(kBlockQueries * K)), scores(static_cast<std::size_t>(kBlockQueries * kTileItems));
  for (std::int64_t first = 0; first < Q && M > 0; first += kBlockQueries) {
    const std::int64_t count = std::min(kBlockQueries, Q - first);
    for (std::int64_t q = 0; q < count; ++q)
      for (std::int64_t c = 0; c < K; ++c) block[static_cast<std::size_t>(q * K + c)] = static_cast<double>(queries(first + q, c));
    RunningSums sums(count, V);
    for (std::int64_t item = 0; item < M; item += kTileItems) {
      const std::int64_t items = std::min(kTileItems, M - item);
      pack_tile(keys, values, item, items, key_tile.data(), value_tile.data());
      tile_scores({block.data(), key_tile.data(), scores.data(), padded_queries(count), K});
      sums.add(kernel, scores.data(), value_tile.data(), 0, items);
    }
    write_out(sums, rule, first, count, o);
  }
}

template void streaming(const View<const float, 2>&, const View<const float, 2>&, const View<const float, 2>&, const ResponseRule&,
                        const View<double, 2>&);
template void streaming(const View<const double, 2>&, const View<const double, 2>&, const View<const double, 2>&, const ResponseRule&,
                        const View<double, 2>&);

}  // namespace linearmem::associative
