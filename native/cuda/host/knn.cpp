#include "host/knn.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace linearmem::cuda {

std::int64_t queries_at_once(std::int64_t Q, std::int64_t M, std::int64_t bytes) {
  const std::int64_t fit = bytes / std::max<std::int64_t>(M * static_cast<std::int64_t>(sizeof(double)), 1);
  return std::clamp<std::int64_t>(fit / kKnnQueries * kKnnQueries, std::min<std::int64_t>(Q, kKnnQueries), Q);
}

Search::Search(Transfer& transfer, const View<const float, 2>& keys, const View<const float, 2>& queries, std::int64_t k, Metric metric,
               int* failed) {
  const std::int64_t M = keys.extent(0), Q = queries.extent(0);
  distances_.keys = array_of(keys), distances_.queries = array_of(queries);
  distances_.distances = transfer.room<double>(Q * M);
  distances_.failed = failed;
  distances_.M = M, distances_.Q = Q, distances_.D = keys.extent(1);
  distances_.tiles = (M + kKnnThreads - 1) / kKnnThreads;
  distances_.inner_product = metric == Metric::inner_product;
  KnnSelectArguments select{};
  select.distances = distances_.distances, select.L = M, select.k = k;
  do {
    select.segments = segments_of(select.L);
    select.nearest = transfer.room<double>(Q * select.segments * k);
    select.nearest_ids = transfer.room<std::int64_t>(Q * select.segments * k);
    rounds_.push_back(select);
    select.distances = select.nearest, select.ids = select.nearest_ids, select.L = select.segments * k;
  } while (rounds_.back().segments > 1);
}

Status Search::launch(Device& device) const {
  const std::int64_t Q = distances_.Q;
  Status status = device.launch({.kernel = kernel_number<KnnDistance>(), .blocks = distances_.tiles * ((Q + kKnnQueries - 1) / kKnnQueries),
                                 .threads = kKnnThreads, .shared_bytes = 4 * knn_distance_shared_floats(), .arguments = &distances_});
  for (const KnnSelectArguments& round : rounds_)
    if (status.ok())
      status = device.launch({.kernel = kernel_number<KnnSelect>(), .blocks = Q * round.segments, .threads = kSortThreads,
                              .shared_bytes = KnnSelect::shared_bytes(), .arguments = &round});
  return status;
}

}  // namespace linearmem::cuda
