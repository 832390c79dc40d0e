#include "host/measure.hpp"

#include <algorithm>
#include <utility>

namespace linearmem::cuda {
namespace {

constexpr MeasureCase kCases[] = {measure_delta_prefill, measure_delta_chunked, measure_delta_decode, measure_knn};

}  // namespace

// The finalizer of SplitMix64.
float number_at(std::uint64_t place, float low, float high) {
  std::uint64_t x = (place + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return low + (high - low) * static_cast<float>((x ^ x >> 31) >> 40) * 0x1p-24f;
}

Result<double> median_seconds(Device& device, int rounds, const std::function<Status()>& work) {
  std::vector<double> times;
  for (int round = -1; round < rounds; ++round) {
    const auto seconds = device.seconds(work);
    if (!seconds.ok()) return seconds.status();
    if (round >= 0) times.push_back(seconds.value());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Status not_the_definition(const std::string& name, double error) {
  return Status::invalid(name + " on backend cuda: differs from the definition by " + std::to_string(error) + " of the largest value");
}

Result<CudaReport> measure(Device& device, int rounds, const CudaSizes& sizes) {
  const auto limits = measure_limits(device, rounds, sizes);
  if (!limits.ok()) return limits.status();
  const MeasuredLimits& l = limits.value();
  CudaReport report{device.description(), {l.copy, l.scale, l.read, l.multiply_add, l.matrix_float32, l.matrix_bfloat16}, {}};
  for (MeasureCase measured : kCases) {
    auto measurement = measured({device, rounds, sizes, l});
    if (!measurement.ok()) return measurement.status();
    report.measurements.push_back(std::move(measurement).value());
  }
  return report;
}

}  // namespace linearmem::cuda
