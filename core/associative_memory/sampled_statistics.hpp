// Per seed, line and place: the three statistics of R; over the seeds: estimates with intervals.
#pragma once

#include <span>
#include <vector>

#include "linearmem/associative_memory_sampling.hpp"

namespace linearmem::associative {

// The mean of `values` with its interval: Student's t, 95 %, two-sided.
Estimate mean_with_interval(std::span<const double> values);

class SampledStatistics {
 public:
  SampledStatistics(std::size_t lines, std::size_t places) : places_(places), seeds_(lines * places) {}

  void add(std::size_t line, std::size_t place, std::span<const double> ratios) {
    add(line, place, ratio_statistics(ratios));
  }
  void add(std::size_t line, std::size_t place, const RatioStatistics& seed) { seeds_[line * places_ + place].push_back(seed); }
  SampledRatio at(std::size_t line, std::size_t place) const;

 private:
  std::size_t places_;
  std::vector<std::vector<RatioStatistics>> seeds_;
};

}  // namespace linearmem::associative
