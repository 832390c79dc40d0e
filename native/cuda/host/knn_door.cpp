// The search's door: queries in groups whose distances fit the scratch, answers down group by group into one place first.
#include <algorithm>
#include <string>

#include "host/device_backend.hpp"
#include "host/knn.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem::cuda {
namespace {

constexpr std::int64_t kScratchBytes = std::int64_t{1} << 30;  // of distances at a time

Status check(const KnnSearchArguments<float>& a, std::int64_t R) {
  if (a.form != Form::automatic && a.form != Form::streaming)
    return Status::unavailable("knn_search: backend cuda has no form " + std::string(form_name(a.form)) + "; it has automatic, streaming");
  if (R > kMostNeighbours)
    return Status::unavailable("knn_search: k is " + std::to_string(R) + ", backend cuda finds at most " + std::to_string(kMostNeighbours));
  return {};
}

}  // namespace

Status DeviceBackend::run(const KnnSearchArguments<float>& a) const {
  const std::int64_t M = a.keys.extent(0), Q = a.queries.extent(0), R = a.ids.extent(1), D = a.keys.extent(1);
  if (Status status = check(a, R); !status.ok()) return status;
  if (R == 0 || Q == 0) return {};
  Tensor<double, 2> distances({Q, R});
  Tensor<std::int64_t, 2> ids({Q, R});
  Transfer lasting(*device_);
  const View<const float, 2> keys = lasting.up(a.keys), queries = lasting.up(a.queries);
  int* failed = lasting.room<int>(1);
  if (!lasting.status().ok()) return lasting.status();
  lasting.keep(device_->clear(failed, sizeof(int)));
  const std::int64_t group = queries_at_once(Q, M, kScratchBytes);
  for (std::int64_t first = 0; first < Q && lasting.status().ok(); first += group) {
    const std::int64_t count = std::min(group, Q - first);
    Transfer scratch(*device_);
    const Search search(scratch, keys, {queries.data() + first * D, {count, D}}, R, a.metric, failed);
    const Nearest found = search.nearest();
    if (scratch.status().ok()) scratch.keep(search.launch(*device_));
    if (scratch.status().ok()) scratch.keep(device_->finish());
    const auto bytes = static_cast<std::int64_t>(sizeof(double)) * count * R;
    if (scratch.status().ok()) scratch.keep(device_->download(found.distances, distances.data() + first * R, bytes));
    if (scratch.status().ok()) scratch.keep(device_->download(found.ids, ids.data() + first * R, bytes));
    lasting.keep(scratch.status());
  }
  int any = 0;
  if (lasting.status().ok()) lasting.keep(device_->download(failed, &any, sizeof any));
  if (!lasting.status().ok()) return lasting.status();
  if (any != 0) return Status::invalid("knn_search: a key or a distance is not finite");
  convert(View<const double, 2>(distances.view()), a.distances);
  convert(View<const std::int64_t, 2>(ids.view()), a.ids);
  return {};
}

}  // namespace linearmem::cuda
