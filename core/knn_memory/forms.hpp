// The forms of a search, on checked arguments, and the one way a distance is measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "linearmem/knn_memory.hpp"

namespace linearmem::knn {

// The definition of d: float64, column after column.
template <typename T>
double exact_distance(const View<const T, 2>& keys, std::int64_t i, const View<const T, 2>& queries, std::int64_t q, Metric metric) {
  double sum = 0;
  const std::int64_t D = keys.extent(1);
  for (std::int64_t d = 0; d < D; ++d) {
    const double key = static_cast<double>(keys(i, d)), query = static_cast<double>(queries(q, d));
    sum += metric == Metric::squared_l2 ? (query - key) * (query - key) : -(query * key);
  }
  return sum;
}

struct Neighbour {
  double distance;
  std::int64_t id;
  friend bool operator<(const Neighbour& a, const Neighbour& b) { return a.distance != b.distance ? a.distance < b.distance : a.id < b.id; }
};

// The k smallest of what was offered, in any order of offers the same.
class Nearest {
 public:
  explicit Nearest(std::int64_t k) : k_(static_cast<std::size_t>(k)) {}

  double worst() const { return heap_.size() < k_ ? std::numeric_limits<double>::infinity() : heap_.front().distance; }
  void offer(const Neighbour& candidate) {
    if (heap_.size() == k_) {
      if (!(candidate < heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = candidate;
    } else {
      heap_.push_back(candidate);
    }
    std::push_heap(heap_.begin(), heap_.end());
  }
  const std::vector<Neighbour>& all() const { return heap_; }
  std::vector<Neighbour> sorted() && {
    std::sort_heap(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  std::size_t k_;
  std::vector<Neighbour> heap_;  // the farthest in front
};

template <typename T>
struct Search {
  View<const T, 2> keys, queries;
  std::int64_t k;  // of at most M
  Metric metric;
  const Executor* executor;
};

// lists: one per query, empty. False where a key or a distance is not finite.
template <typename T>
bool reference(const Search<T>& search, std::vector<Nearest>& lists);
template <typename T>
bool streaming(const Search<T>& search, std::vector<Nearest>& lists);

}  // namespace linearmem::knn
