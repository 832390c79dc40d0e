// cuda_measure over any device: the limits, then each case of a list.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "foundation/precision.hpp"
#include "host/device.hpp"
#include "linearmem/cuda_measure.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem::cuda {

Result<CudaReport> measure(Device& device, int rounds, const CudaSizes& sizes);

struct MeasuredLimits {
  CudaLimit copy, scale, read;                   // bytes: of a copy, written where they lie, read only; read and write counted
  CudaLimit multiply_add;                        // float32 in registers
  CudaLimit matrix_float32, matrix_bfloat16;     // cuBLAS; may be missing
};

// What a case has: a device, how often to time, and what to hold the time to.
struct MeasureRun {
  Device& device;
  int rounds;
  const CudaSizes& sizes;
  const MeasuredLimits& limits;
};

// A case proves its result, then times it. The list of them is in measure.cpp.
using MeasureCase = Result<CudaMeasurement> (*)(const MeasureRun& run);

Result<MeasuredLimits> measure_limits(Device& device, int rounds, const CudaSizes& sizes);
Result<CudaMeasurement> measure_delta_prefill(const MeasureRun& run);
Result<CudaMeasurement> measure_delta_chunked(const MeasureRun& run);  // prefill on tensor cores
Result<CudaMeasurement> measure_delta_decode(const MeasureRun& run);
Result<CudaMeasurement> measure_knn(const MeasureRun& run);

// For cases.

constexpr double kMeasureTolerance = 1e-5, kBFloatTolerance = 0x1p-7;

// Numbers in [low, high), the same for the same place: cheap to draw again where a result is proved.
float number_at(std::uint64_t place, float low, float high);

template <int N>
Tensor<float, N> drawn(const Extents<N>& extents, std::uint64_t stream, float low, float high) {
  Tensor<float, N> tensor(extents);
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.data()[i] = number_at(stream << 40 | static_cast<std::uint64_t>(i), low, high);
  return tensor;
}

// Median of `rounds` timed calls, after one that is not counted.
Result<double> median_seconds(Device& device, int rounds, const std::function<Status()>& work);

Status not_the_definition(const std::string& name, double error);

// The largest difference, relative to max(1, the largest that is expected); NaN where one is.
template <int N>
double difference(const View<const float, N>& got, const View<double, N>& expected) {
  double largest = 1, worst = 0;
  each_index<N>(expected.extents(), [&](const Extents<N>& at) {
    largest = std::max(largest, std::abs(expected[at]));
    const double gap = std::abs(static_cast<double>(got[at]) - expected[at]);
    if (!std::isnan(worst) && !(gap <= worst)) worst = gap;  // once NaN, always NaN
  });
  return worst / largest;
}

}  // namespace linearmem::cuda
