// The definition: every distance, sorted, the first k.
#include "knn_memory/forms.hpp"

namespace linearmem::knn {

template <typename T>
bool reference(const Search<T>& search, std::vector<Nearest>& lists) {
  const std::int64_t M = search.keys.extent(0), Q = search.queries.extent(0);
  for (std::int64_t i = 0; i < M; ++i)
    for (std::int64_t d = 0; d < search.keys.extent(1); ++d)
      if (!std::isfinite(search.keys(i, d))) return false;
  for (std::int64_t q = 0; q < Q; ++q) {
    std::vector<Neighbour> all;
    for (std::int64_t i = 0; i < M; ++i) {
      all.push_back({exact_distance(search.keys, i, search.queries, q, search.metric), i});
      if (!std::isfinite(all.back().distance)) return false;
    }
    std::sort(all.begin(), all.end());
    for (std::int64_t r = 0; r < search.k; ++r) lists[static_cast<std::size_t>(q)].offer(all[static_cast<std::size_t>(r)]);
  }
  return true;
}

template bool reference(const Search<float>&, std::vector<Nearest>&);
template bool reference(const Search<double>&, std::vector<Nearest>&);

}  // namespace linearmem::knn
