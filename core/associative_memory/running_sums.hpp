// What the queries of a read carry from tile to tile, for one response: sums of weighted values and of weights.
#pragma once

#include <cmath>
#include <vector>

#include "associative_memory/kernel.hpp"

namespace linearmem::associative {

class RunningSums {
 public:
  RunningSums(std::int64_t Q, std::int64_t V)
      : Q_(padded_queries(Q)),
        row_(padded_row(V)),
        sums_(static_cast<std::size_t>(Q_ * row_)),
        totals_(static_cast<std::size_t>(Q_)),
        largest_(static_cast<std::size_t>(Q_), -HUGE_VAL) {}

  // Items [begin, end) of a tile; values [kTileItems, padded_row(V)].
  void add(const KernelRule& rule, const double* scores, const double* values, std::int64_t begin, std::int64_t end) {
    if (begin >= end || Q_ == 0) return;
    tile_response(rule, {scores, values, sums_.data(), totals_.data(), largest_.data(), Q_, row_, begin, end});
    exponential_ = rule.exponential;
  }

  const double* sum(std::int64_t q) const { return sums_.data() + q * row_; }
  double total(std::int64_t q) const { return totals_[static_cast<std::size_t>(q)]; }
  // ln of the factor that sum and total are still to be multiplied by.
  double log_scale(std::int64_t q) const { return exponential_ ? largest_[static_cast<std::size_t>(q)] : 0; }

 private:
  std::int64_t Q_, row_;
  std::vector<double> sums_, totals_, largest_;
  bool exponential_ = false;
};

}  // namespace linearmem::associative
