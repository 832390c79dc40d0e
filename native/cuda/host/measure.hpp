// cuda_measure over any device.
#pragma once

#include "host/device.hpp"
#include "linearmem/cuda_measure.hpp"

namespace linearmem::cuda {

Result<CudaReport> measure(Device& device, int rounds, const CudaSizes& sizes);

}  // namespace linearmem::cuda
