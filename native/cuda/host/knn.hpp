// The exact search on a device: rounds of distances and of sorted segments, until each query has one.
#pragma once

#include <vector>

#include "host/transfer.hpp"
#include "kernels/knn.hpp"
#include "linearmem/knn_memory.hpp"

namespace linearmem::cuda {

struct Nearest {
  double* distances = nullptr;  // [Q,k], on the device
  std::int64_t* ids = nullptr;
};

// Candidates of one query after a round that keeps k of each segment; one segment is left when they are at most kSegment.
constexpr std::int64_t segments_of(std::int64_t candidates) { return (candidates + kSegment - 1) / kSegment; }

// Queries that are answered at once: their distances to all M keys take at most `bytes`, but one query always goes.
std::int64_t queries_at_once(std::int64_t Q, std::int64_t M, std::int64_t bytes);

// keys, queries on the device; k from 1 to kMostNeighbours, at most M. `failed` becomes 1 where a key or a distance is not finite.
// All scratch comes from `transfer` at once, whose status tells what failed; then it may be launched any number of times.
class Search {
 public:
  Search(Transfer& transfer, const View<const float, 2>& keys, const View<const float, 2>& queries, std::int64_t k, Metric metric, int* failed);

  Status launch(Device& device) const;
  Nearest nearest() const { return {rounds_.back().nearest, rounds_.back().nearest_ids}; }

 private:
  KnnDistanceArguments distances_{};
  std::vector<KnnSelectArguments> rounds_;  // until each query has one segment
};

}  // namespace linearmem::cuda
