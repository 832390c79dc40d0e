// The random items of one seed: the queries once, then tiles of keys and values in the kernel's layout.
#pragma once

#include <vector>

#include "associative_memory/kernel.hpp"
#include "linearmem/associative_memory_sampling.hpp"

namespace linearmem::associative {

class SampleStream {
 public:
  SampleStream(const SamplingSettings& settings, std::uint64_t seed);

  const std::vector<double>& queries() const { return queries_; }      // [padded_queries(Q),K]
  const std::vector<double>& target_keys() const { return targets_; }  // [Q,K]
  const std::vector<double>& keys() const { return keys_; }            // [K,kTileItems], of the last tile drawn
  const std::vector<double>& values() const { return values_; }        // [kTileItems,padded_row(V)]
  void draw_tile();
  Pcg64::Place place() const { return generator_.place(); }

 private:
  Generator generator_;
  std::int64_t K_, V_;
  std::vector<double> queries_, targets_, keys_, values_, row_;
};

}  // namespace linearmem::associative
