// The exact search: one query against all keys.
#include <algorithm>
#include <string>
#include <utility>

#include "host/knn.hpp"
#include "host/measure.hpp"

namespace linearmem::cuda {
namespace {

constexpr std::int64_t kKeyBlock = 65536;  // keys that are drawn and sent at once
constexpr std::uint64_t kKeyStream = std::uint64_t{7} << 40;

// Keys [first, first + count), drawn.
Tensor<float, 2> key_block(std::int64_t first, std::int64_t count, std::int64_t width) {
  Tensor<float, 2> block({count, width});
  const auto begin = static_cast<std::uint64_t>(first * width);
  for (std::int64_t i = 0; i < block.size(); ++i) block.data()[i] = number_at(kKeyStream + begin + static_cast<std::uint64_t>(i), -1, 1);
  return block;
}

// The k nearest so far, out of one block more.
Status add_expected(const Tensor<float, 2>& block, const Tensor<float, 2>& query, std::int64_t first, std::int64_t k,
                    std::vector<std::pair<double, std::int64_t>>& nearest) {
  const std::int64_t found = knn_columns(block.extents()[0], k, true);
  Tensor<std::int64_t, 2> ids({1, found});
  Tensor<double, 2> distances({1, found});
  const Status status = knn_search(KnnSearchArguments<float>{.keys = block.view(), .queries = query.view(), .k = k, .at_most_k = true,
                                                             .ids = ids.view(), .distances = distances.view()});
  for (std::int64_t r = 0; status.ok() && r < found; ++r) nearest.emplace_back(distances(0, r), first + ids(0, r));
  std::sort(nearest.begin(), nearest.end());
  nearest.resize(std::min(nearest.size(), static_cast<std::size_t>(k)));
  return status;
}

// The ids that were found must be those of the definition.
Status check_ids(const std::vector<std::int64_t>& ids, const std::vector<std::pair<double, std::int64_t>>& expected) {
  for (std::size_t r = 0; r < ids.size(); ++r)
    if (ids[r] != expected[r].second)
      return Status::invalid("knn on backend cuda: neighbour " + std::to_string(r) + " is " + std::to_string(ids[r]) + ", must be " +
                             std::to_string(expected[r].second));
  return {};
}

}  // namespace

// Keys go up block by block; the definition meets each block on its way.
Result<CudaMeasurement> measure_knn(const MeasureRun& run) {
  const std::int64_t M = run.sizes.keys, D = run.sizes.key_width, k = run.sizes.k;
  Transfer there(run.device);
  auto* keys = there.room<float>(M * D);
  int* failed = there.room<int>(1);
  const auto query = drawn<2>({1, D}, 8, -1, 1);
  const View<const float, 2> query_there = there.up(query.view());
  const Search search(there, {keys, {M, D}}, query_there, k, Metric::squared_l2, failed);
  if (there.status().ok()) there.keep(run.device.clear(failed, sizeof(int)));
  std::vector<std::pair<double, std::int64_t>> expected;
  for (std::int64_t first = 0; first < M && there.status().ok(); first += kKeyBlock) {
    const Tensor<float, 2> block = key_block(first, std::min(kKeyBlock, M - first), D);
    there.keep(run.device.upload(block.data(), keys + first * D, 4 * block.size()));
    there.keep(add_expected(block, query, first, k, expected));
  }
  std::vector<std::int64_t> ids(static_cast<std::size_t>(k));
  if (there.status().ok()) there.keep(search.launch(run.device));
  if (there.status().ok()) there.keep(run.device.finish());
  if (there.status().ok()) there.keep(run.device.download(search.nearest().ids, ids.data(), 8 * k));
  if (there.status().ok()) there.keep(check_ids(ids, expected));
  if (!there.status().ok()) return there.status();
  const auto seconds = median_seconds(run.device, run.rounds, [&] { return search.launch(run.device); });
  if (!seconds.ok()) return seconds.status();
  const auto numbers = static_cast<double>(M * D);
  return CudaMeasurement{"knn", std::to_string(M) + " keys of " + std::to_string(D) + ", one query, k " + std::to_string(k), 0, seconds.value(),
                         3 * numbers, 4 * numbers, run.limits.read};
}

}  // namespace linearmem::cuda
