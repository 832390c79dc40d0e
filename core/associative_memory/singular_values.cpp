#include "associative_memory/singular_values.hpp"

#include <algorithm>
#include <cmath>

namespace linearmem::associative {
namespace {

constexpr double kEpsilon = 0x1p-52;
constexpr int kMostSweeps = 60;  // convergence is quadratic; 6 to 10 are usual

double dot(const double* a, const double* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

void turn(double* a, double* b, std::int64_t count, double cosine, double sine) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double left = a[i], right = b[i];
    a[i] = cosine * left - sine * right;
    b[i] = sine * left + cosine * right;
  }
}

// True when the two columns were orthogonal already, or one of them is rounding noise beside `largest`.
bool settle_pair(Decomposition& d, std::int64_t p, std::int64_t q, double largest) {
  double *a = d.turned.column(p), *b = d.turned.column(q);
  const std::int64_t rows = d.turned.rows;
  const double aa = dot(a, a, rows), bb = dot(b, b, rows), ab = dot(a, b, rows);
  if (std::sqrt(std::min(aa, bb)) <= kEpsilon * largest || std::abs(ab) <= kEpsilon * std::sqrt(aa) * std::sqrt(bb)) return true;
  const double zeta = (bb - aa) / (2 * ab);
  const double tangent = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::hypot(1.0, zeta));
  const double cosine = 1 / std::hypot(1.0, tangent);
  turn(a, b, rows, cosine, cosine * tangent);
  turn(d.W.column(p), d.W.column(q), d.W.rows, cosine, cosine * tangent);
  return false;
}

}  // namespace

Decomposition decompose(ColumnMatrix a) {
  const std::int64_t n = a.count;
  Decomposition d{std::move(a), ColumnMatrix(n, n), std::vector<double>(static_cast<std::size_t>(n))};
  double squares = 0;
  for (double value : d.turned.values) squares += value * value;
  const double largest = std::sqrt(squares);
  for (std::int64_t j = 0; j < n; ++j) d.W.column(j)[j] = 1;
  bool settled = false;
  for (int sweep = 0; sweep < kMostSweeps && !settled; ++sweep) {
    settled = true;
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) settled = settle_pair(d, p, q, largest) && settled;
  }
  for (std::int64_t j = 0; j < n; ++j) {
    const double* column = d.turned.column(j);
    d.sigma[static_cast<std::size_t>(j)] = std::sqrt(dot(column, column, d.turned.rows));
  }
  return d;
}

void triangularize(ColumnMatrix& a, std::int64_t width) {
  std::vector<double> mirror(static_cast<std::size_t>(a.rows));
  for (std::int64_t step = 0; step < width; ++step) {
    const std::int64_t rest = a.rows - step;
    const double* pivot = a.column(step) + step;
    const double length = std::sqrt(dot(pivot, pivot, rest));
    if (length == 0) continue;
    std::copy(pivot, pivot + rest, mirror.begin());
    mirror[0] += pivot[0] >= 0 ? length : -length;
    const double norm = dot(mirror.data(), mirror.data(), rest);
    for (std::int64_t j = step; j < a.count; ++j) {
      double* column = a.column(j) + step;
      const double factor = 2 * dot(mirror.data(), column, rest) / norm;
      for (std::int64_t i = 0; i < rest; ++i) column[i] -= factor * mirror[static_cast<std::size_t>(i)];
    }
  }
}

}  // namespace linearmem::associative
