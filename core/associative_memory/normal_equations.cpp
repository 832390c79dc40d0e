// X holds the others' keys, k and v the query's own item, q the query.
//
//   M - 1 < K   w = q [X; k]' ([X; k] [X; k]')^-1. With G = X X', c = X k', p = X q', d = k k' - c' G^-1 c:
//               own weight y = (q k' - c' G^-1 p) / d, others' x = G^-1 (p - c y)
//   M - 1 >= K  w = q (A + k'k)^-1 [X; k]' with A = X'X. With a = A^-1 k', b = A^-1 q', t = k a, u = k b:
//               own weight u / (1 + t), others' sum (b - a u / (1 + t)) X' values
#include "associative_memory/normal_equations.hpp"

#include <cmath>
#include <utility>

namespace linearmem::associative {
namespace {

double dot(const double* a, const double* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// |weights rows|, rows [count,width]
double length_of_sum(const std::vector<double>& weights, const double* rows, std::int64_t width) {
  std::vector<double> sum(static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (std::int64_t j = 0; j < width; ++j)
      sum[static_cast<std::size_t>(j)] += weights[i] * rows[static_cast<std::int64_t>(i) * width + j];
  return std::sqrt(dot(sum.data(), sum.data(), width));
}

}  // namespace

Cholesky::Cholesky(std::vector<double> matrix, std::int64_t n) : n_(n), factor_(std::move(matrix)) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      double* row = factor_.data() + i * n;
      const double rest = row[j] - dot(row, factor_.data() + j * n, j);
      row[j] = i == j ? std::sqrt(rest) : rest / factor_[static_cast<std::size_t>(j * n + j)];
    }
}

std::vector<double> Cholesky::solve(std::vector<double> x) const {
  for (std::int64_t i = 0; i < n_; ++i) {
    const double* row = factor_.data() + i * n_;
    x[static_cast<std::size_t>(i)] = (x[static_cast<std::size_t>(i)] - dot(row, x.data(), i)) / row[i];
  }
  for (std::int64_t i = n_ - 1; i >= 0; --i) {
    const double* row = factor_.data() + i * n_;
    const double value = x[static_cast<std::size_t>(i)] /= row[i];
    for (std::int64_t j = 0; j < i; ++j) x[static_cast<std::size_t>(j)] -= row[j] * value;
  }
  return x;
}

LeastSquaresMemory::LeastSquaresMemory(const SamplingSettings& settings, std::uint64_t seed)
    : K_(settings.K),
      V_(settings.V),
      Q_(settings.queries),
      stream_(settings, seed),
      gram_(static_cast<std::size_t>(K_ * K_)),
      products_(static_cast<std::size_t>(K_ * V_)) {}

void LeastSquaresMemory::take_item() {
  const std::int64_t s = count_ % kTileItems;
  if (s == 0) stream_.draw_tile();
  std::vector<double> key(static_cast<std::size_t>(K_));
  for (std::int64_t c = 0; c < K_; ++c) key[static_cast<std::size_t>(c)] = stream_.keys()[static_cast<std::size_t>(c * kTileItems + s)];
  const double* value = stream_.values().data() + s * padded_row(V_);
  for (std::int64_t i = 0; i < K_; ++i) {
    const double k_i = key[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < K_; ++j) gram_[static_cast<std::size_t>(i * K_ + j)] += k_i * key[static_cast<std::size_t>(j)];
    for (std::int64_t j = 0; j < V_; ++j) products_[static_cast<std::size_t>(i * V_ + j)] += k_i * value[j];
  }
  if (count_++ >= K_) return;
  keys_.insert(keys_.end(), key.begin(), key.end());
  values_.insert(values_.end(), value, value + V_);
}

std::vector<double> LeastSquaresMemory::row_gram() const {
  std::vector<double> gram(static_cast<std::size_t>(count_ * count_));
  for (std::int64_t i = 0; i < count_; ++i)
    for (std::int64_t j = 0; j < count_; ++j)
      gram[static_cast<std::size_t>(i * count_ + j)] = dot(keys_.data() + i * K_, keys_.data() + j * K_, K_);
  return gram;
}

double LeastSquaresMemory::few(std::int64_t q, const Cholesky& factor) const {
  const double *own = stream_.target_keys().data() + q * K_, *query = stream_.queries().data() + q * K_;
  std::vector<double> c, p;
  for (std::int64_t i = 0; i < count_; ++i) {
    c.push_back(dot(keys_.data() + i * K_, own, K_));
    p.push_back(dot(keys_.data() + i * K_, query, K_));
  }
  const std::vector<double> solved = factor.solve(c);
  const double y =
      (dot(query, own, K_) - dot(solved.data(), p.data(), count_)) / (dot(own, own, K_) - dot(solved.data(), c.data(), count_));
  for (std::size_t i = 0; i < p.size(); ++i) p[i] -= c[i] * y;
  return length_of_sum(factor.solve(p), values_.data(), V_) / std::abs(y);
}

double LeastSquaresMemory::many(std::int64_t q, const Cholesky& factor) const {
  const double *own = stream_.target_keys().data() + q * K_, *query = stream_.queries().data() + q * K_;
  const std::vector<double> a = factor.solve(std::vector<double>(own, own + K_));
  std::vector<double> b = factor.solve(std::vector<double>(query, query + K_));
  const double t = dot(own, a.data(), K_), u = dot(own, b.data(), K_);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] -= a[i] * (u / (1 + t));
  return length_of_sum(b, products_.data(), V_) / std::abs(u / (1 + t));
}

std::vector<double> LeastSquaresMemory::ratios(std::int64_t M) {
  while (count_ < M - 1) take_item();
  const bool fewer = count_ < K_;
  const Cholesky factor(fewer ? row_gram() : gram_, fewer ? count_ : K_);
  std::vector<double> ratios;
  for (std::int64_t q = 0; q < Q_; ++q) ratios.push_back(fewer ? few(q, factor) : many(q, factor));
  return ratios;
}

}  // namespace linearmem::associative
