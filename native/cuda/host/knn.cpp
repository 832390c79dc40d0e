#include "host/knn.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace linearmem::cuda {

std::int64_t queries_at_once(std::int64_t Q, std::int64_t M, std::int64_t bytes) {
  const std::int64_t fit = bytes / std::max<std::int64_t>(M * static_cast<std::int64_t>(sizeof(double)), 1);
  return std::clamp<std::int64_t>(fit / kKnnQueries * kKnnQueries, std::min<std::int64_t>(Q, kKnnQueries), Q);
}

Nearest search(Device& device, Transfer& transfer, const View<const float, 2>& keys, const View<const float, 2>& queries, std::int64_t k,
               Metric metric, int* failed) {
  const std::int64_t M = keys.extent(0), Q = queries.extent(0), D = keys.extent(1);
  KnnDistanceArguments measure{};
  measure.keys = array_of(keys), measure.queries = array_of(queries);
  measure.distances = transfer.room<double>(Q * M);
  measure.failed = failed;
  measure.M = M, measure.Q = Q, measure.D = D;
  measure.tiles = (M + kKnnThreads - 1) / kKnnThreads;
  measure.inner_product = metric == Metric::inner_product;
  if (transfer.status().ok())
    transfer.keep(device.launch({.kernel = kernel_number<KnnDistance>(), .blocks = measure.tiles * ((Q + kKnnQueries - 1) / kKnnQueries),
                                 .threads = kKnnThreads, .shared_bytes = 4 * knn_distance_shared_floats(), .arguments = &measure}));
  KnnSelectArguments select{};
  select.distances = measure.distances, select.L = M, select.k = k;
  while (transfer.status().ok()) {
    select.segments = segments_of(select.L);
    select.nearest = transfer.room<double>(Q * select.segments * k);
    select.nearest_ids = transfer.room<std::int64_t>(Q * select.segments * k);
    if (!transfer.status().ok()) break;
    transfer.keep(device.launch({.kernel = kernel_number<KnnSelect>(), .blocks = Q * select.segments, .threads = kSortThreads,
                                 .shared_bytes = KnnSelect::shared_bytes(), .arguments = &select}));
    if (select.segments == 1) return {select.nearest, select.nearest_ids};
    select.distances = select.nearest, select.ids = select.nearest_ids, select.L = select.segments * k;
  }
  return {};
}

}  // namespace linearmem::cuda
