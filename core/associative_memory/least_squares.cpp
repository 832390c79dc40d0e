// Least squares by singular values: keys = U diag(sigma) W', pinv(keys) = W diag(1/sigma) U', over the values that count.
// With more items than components the keys are first turned into a triangle, which has the same sigma and W.
#include <algorithm>
#include <utility>

#include "associative_memory/forms.hpp"
#include "associative_memory/singular_values.hpp"

namespace linearmem::associative {
namespace {

// Sets singular values that are rounding noise to 0, and says what is left.
WriteReport judge(std::vector<double>& sigma, double longest_side) {
  WriteReport report;
  const double largest = sigma.empty() ? 0 : *std::max_element(sigma.begin(), sigma.end());
  double smallest = largest;
  for (double& value : sigma) {
    if (!(value > longest_side * 0x1p-52 * largest)) value = 0;
    if (value == 0) continue;
    ++report.rank;
    smallest = std::min(smallest, value);
  }
  report.condition = report.rank > 0 ? largest / smallest : 0;
  return report;
}

// M >= K: S = W diag(1/sigma) U' Q' values, with Q' keys the triangle and Q' values what the same reflections made of the values.
WriteReport tall(const View<const double, 2>& keys, const View<const double, 2>& values, const View<double, 2>& S) {
  const std::int64_t M = keys.extent(0), K = keys.extent(1), V = values.extent(1);
  ColumnMatrix both(M, K + V);
  for (std::int64_t j = 0; j < K + V; ++j)
    for (std::int64_t i = 0; i < M; ++i) both.column(j)[i] = j < K ? keys(i, j) : values(i, j - K);
  triangularize(both, K);
  ColumnMatrix triangle(K, K);
  for (std::int64_t j = 0; j < K; ++j) std::copy(both.column(j), both.column(j) + j + 1, triangle.column(j));
  Decomposition d = decompose(std::move(triangle));
  const WriteReport report = judge(d.sigma, static_cast<double>(M));
  for (std::int64_t c = 0; c < K; ++c) {
    const double sigma = d.sigma[static_cast<std::size_t>(c)];
    if (sigma == 0) continue;
    for (std::int64_t j = 0; j < V; ++j) {
      double along = 0;
      for (std::int64_t i = 0; i < K; ++i) along += d.turned.column(c)[i] * both.column(K + j)[i];
      for (std::int64_t i = 0; i < K; ++i) S(i, j) += d.W.column(c)[i] * (along / sigma / sigma);
    }
  }
  return report;
}

// M < K: the transposed keys = U diag(sigma) W' give S = U diag(1/sigma) W' values.
WriteReport wide(const View<const double, 2>& keys, const View<const double, 2>& values, const View<double, 2>& S) {
  const std::int64_t M = keys.extent(0), K = keys.extent(1), V = values.extent(1);
  ColumnMatrix transposed(K, M);
  for (std::int64_t i = 0; i < M; ++i)
    for (std::int64_t j = 0; j < K; ++j) transposed.column(i)[j] = keys(i, j);
  Decomposition d = decompose(std::move(transposed));
  const WriteReport report = judge(d.sigma, static_cast<double>(K));
  for (std::int64_t c = 0; c < M; ++c) {
    const double sigma = d.sigma[static_cast<std::size_t>(c)];
    if (sigma == 0) continue;
    for (std::int64_t j = 0; j < V; ++j) {
      double along = 0;
      for (std::int64_t i = 0; i < M; ++i) along += d.W.column(c)[i] * values(i, j);
      for (std::int64_t i = 0; i < K; ++i) S(i, j) += d.turned.column(c)[i] * (along / sigma / sigma);
    }
  }
  return report;
}

}  // namespace

WriteReport least_squares(const View<const double, 2>& keys, const View<const double, 2>& values, const View<double, 2>& S) {
  for (std::int64_t i = 0; i < S.extent(0); ++i)
    for (std::int64_t j = 0; j < S.extent(1); ++j) S(i, j) = 0;
  return keys.extent(0) >= keys.extent(1) ? tall(keys, values, S) : wide(keys, values, S);
}

// queries pinv(keys) is what the queries read when the values are the unit matrix.
void least_squares_weights(const View<const double, 2>& keys, const View<const double, 2>& queries, const View<double, 2>& weights) {
  const std::int64_t M = keys.extent(0);
  Tensor<double, 2> unit({M, M}), pinv({keys.extent(1), M});
  for (std::int64_t i = 0; i < M; ++i) unit(i, i) = 1;
  least_squares(keys, std::as_const(unit).view(), pinv.view());
  read_state(queries, std::as_const(pinv).view(), weights);
}

}  // namespace linearmem::associative
