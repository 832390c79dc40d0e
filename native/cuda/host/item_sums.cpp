#include "host/item_sums.hpp"

#include <algorithm>
#include <string>

#include "associative_memory/item_sums.hpp"
#include "host/device_backend.hpp"
#include "kernels/kernels.hpp"

namespace linearmem::cuda {
namespace {

static_assert(kTileItems == associative::kTileItems && kMostTerms == associative::kMostTerms);

constexpr std::int64_t kWaveBytes = std::int64_t{1} << 30;

std::vector<WeightLine> weight_lines(std::span<const associative::SampledLine> lines) {
  std::vector<WeightLine> weights;
  std::int64_t row = 0;
  for (const associative::SampledLine& line : lines) {
    WeightLine weight{static_cast<std::int64_t>(line.begin), static_cast<std::int64_t>(line.end), row, line.kernel.beta, {}, line.kernel.degree,
                      line.kernel.exponential, line.kernel.cut};
    std::copy(std::begin(line.kernel.coefficients), std::end(line.kernel.coefficients), weight.coefficients);
    weights.push_back(weight);
    row += weight.end - weight.begin;
  }
  return weights;
}

// Half of what is free, so that a second call beside this one finds room; where nobody can say, the most.
std::int64_t wave_limit(Device& device) {
  const auto memory = device.memory();
  return memory.ok() ? std::min(kWaveBytes, memory.value().free_bytes / 2) : kWaveBytes;
}

// The waves of one seed, one after the other.
class Waves {
 public:
  Waves(Device& device, Transfer& transfer, const associative::ItemSumsArguments& a)
      : device_(device), a_(a), sizes_{a.queries.extent(1), a.V, a.queries.extent(0), static_cast<std::int64_t>(a.lines.size()),
                                       static_cast<std::int64_t>(a.items.size()), a.items.back()},
        source_(device, transfer, a.stream), plan_(plan_item_sums(sizes_, wave_limit(device))) {
    const std::int64_t sums = sizes_.lines * sizes_.Q * sizes_.V;
    queries_ = transfer.up(a.queries).data();
    const std::vector<WeightLine> lines = weight_lines(a.lines);
    auto* lines_there = transfer.room<WeightLine>(sizes_.lines);
    if (transfer.status().ok()) transfer.keep(device.upload(lines.data(), lines_there, static_cast<std::int64_t>(lines.size() * sizeof(WeightLine))));
    lines_ = lines_there;
    slices_ = transfer.room<Slice>(plan_.slices);
    numbers_ = transfer.room<double>(plan_.tiles * kTileItems * (sizes_.K + sizes_.V));
    sums_ = transfer.room<double>(plan_.slices * sums);
    largest_ = transfer.room<double>(plan_.slices * sizes_.lines * sizes_.Q);
    running_ = transfer.room<double>(sums), running_largest_ = transfer.room<double>(sums);
    row_sums_ = transfer.out(a.sums), row_largest_ = transfer.out(a.largest);
  }

  Status run() {
    Status status = device_.clear(row_sums_.data(), 8 * row_sums_.size());  // a place without items has no slice
    if (status.ok()) status = device_.clear(row_largest_.data(), 8 * row_largest_.size());
    const std::int64_t items = plan_.tiles * kTileItems;
    for (std::int64_t first = 0; status.ok() && first < sizes_.items; first += items)
      status = wave(first, std::min(items, sizes_.items - first));
    return status;
  }

 private:
  Status wave(std::int64_t first, std::int64_t count) {
    const std::int64_t width = sizes_.K + sizes_.V, tiles = (count + kTileItems - 1) / kTileItems;
    const std::vector<Slice> slices = slices_of(a_.items, first, count);
    Status status = source_.draw(first * width, tiles * kTileItems * width, numbers_);
    if (status.ok()) status = device_.finish();  // the slices before are in use until then
    if (status.ok()) status = device_.upload(slices.data(), slices_, static_cast<std::int64_t>(slices.size() * sizeof(Slice)));
    if (status.ok()) status = normalize(2 * kTileItems * tiles);
    if (status.ok()) status = sum(static_cast<std::int64_t>(slices.size()));
    if (status.ok()) status = join(static_cast<std::int64_t>(slices.size()), first == 0);
    return status;
  }

  Status normalize(std::int64_t rows) {
    const UnitRowsArguments a{numbers_, rows, sizes_.K, sizes_.V};
    return device_.launch({kernel_number<UnitRows>(), (rows + UnitRows::kMostThreads - 1) / UnitRows::kMostThreads, UnitRows::kMostThreads, 0, &a});
  }
  Status sum(std::int64_t slices) {
    const SliceSumsArguments a{numbers_, queries_, slices_, lines_, sums_, largest_, sizes_.K, sizes_.V, sizes_.Q, sizes_.lines,
                               (sizes_.Q + kSliceQueries - 1) / kSliceQueries};
    return device_.launch({kernel_number<SliceSums>(), slices * a.groups, plan_.threads, SliceSums::shared_bytes(plan_.threads), &a});
  }
  Status join(std::int64_t slices, bool first) {
    const JoinSlicesArguments a{sums_, largest_, slices_, lines_, running_, running_largest_, row_sums_.data(), row_largest_.data(),
                                slices, sizes_.V, sizes_.Q, sizes_.lines, first};
    const std::int64_t threads = JoinSlices::kMostThreads, all = sizes_.lines * sizes_.Q * sizes_.V;
    return device_.launch({kernel_number<JoinSlices>(), (all + threads - 1) / threads, JoinSlices::kMostThreads, 0, &a});
  }

  Device& device_;
  const associative::ItemSumsArguments& a_;
  ItemSumsSizes sizes_;
  NormalSource source_;
  ItemSumsPlan plan_;  // of what the source leaves
  const double* queries_;
  const WeightLine* lines_;
  Slice* slices_;
  double *numbers_, *sums_, *largest_, *running_, *running_largest_;
  View<double, 3> row_sums_;
  View<double, 2> row_largest_;
};

constexpr std::int64_t kSliceTiles = kSliceItems / kTileItems;

// Slices of a wave, at most: each place may cut one.
std::int64_t most_slices(const ItemSumsSizes& sizes, std::int64_t tiles) { return tiles / kSliceTiles + sizes.places; }

}  // namespace

std::int64_t wave_bytes(const ItemSumsSizes& sizes, std::int64_t tiles) {
  return 8 * (tiles * kTileItems * (sizes.K + sizes.V) + most_slices(sizes, tiles) * sizes.lines * sizes.Q * (sizes.V + 1));
}

ItemSumsPlan plan_item_sums(const ItemSumsSizes& sizes, std::int64_t bytes) {
  std::int64_t slices = std::max<std::int64_t>((sizes.items + kSliceItems - 1) / kSliceItems, 1);
  while (slices > 1 && wave_bytes(sizes, slices * kSliceTiles) > bytes) slices = (slices + 1) / 2;
  const std::int64_t tiles = slices * kSliceTiles;
  return {tiles, most_slices(sizes, tiles), sizes.V > 64 ? 128 : 64};
}

std::vector<Slice> slices_of(std::span<const std::int64_t> items, std::int64_t first, std::int64_t count) {
  std::vector<Slice> slices;
  for (std::size_t place = 0; place < items.size(); ++place) {
    const std::int64_t begin = std::max(place == 0 ? 0 : items[place - 1], first), end = std::min(items[place], first + count);
    for (std::int64_t at = begin, next; at < end; at = next) {
      next = std::min(end, (at / kSliceItems + 1) * kSliceItems);
      slices.push_back({at - first, static_cast<std::int64_t>(place), static_cast<std::int32_t>(next - at), next == items[place]});
    }
  }
  return slices;
}

Status DeviceBackend::run(const associative::ItemSumsArguments& a) const {
  Transfer transfer(*device_);
  Waves waves(*device_, transfer, a);
  if (transfer.status().ok()) transfer.keep(waves.run());
  return transfer.down();
}

}  // namespace linearmem::cuda
