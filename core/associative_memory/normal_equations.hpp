// Least squares for sampling: the same read as pinv(keys) gives, from Cholesky factors that all queries of a seed share.
#pragma once

#include <vector>

#include "associative_memory/sample_stream.hpp"

namespace linearmem::associative {

// A symmetric positive definite matrix [n,n] as L L'.
class Cholesky {
 public:
  Cholesky(std::vector<double> matrix, std::int64_t n);
  std::vector<double> solve(std::vector<double> right) const;

 private:
  std::int64_t n_;
  std::vector<double> factor_;
};

// The items of one seed's stream, and R of each query against its own item and the first M - 1 of them. Its size is K (K + V)
// whatever M is.
class LeastSquaresMemory {
 public:
  LeastSquaresMemory(const SamplingSettings& settings, std::uint64_t seed);
  std::vector<double> ratios(std::int64_t M);  // M must not fall from call to call

 private:
  void take_item();
  double few(std::int64_t q, const Cholesky& factor) const;
  double many(std::int64_t q, const Cholesky& factor) const;
  std::vector<double> row_gram() const;

  std::int64_t K_, V_, Q_, count_ = 0;
  SampleStream stream_;
  std::vector<double> keys_, values_;    // the first K items, row by row
  std::vector<double> gram_, products_;  // X'X [K,K] and X' values [K,V] of all items
};

}  // namespace linearmem::associative
