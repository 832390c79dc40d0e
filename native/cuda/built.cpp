#include <utility>

#include "host/device_backend.hpp"
#include "host/measure.hpp"
#include "linearmem/cuda.hpp"
#include "runtime/cuda_device.hpp"

namespace linearmem {

Result<std::unique_ptr<Backend>> cuda_backend(int device, MatrixPrecision precision) {
  auto opened = cuda::open_device(device);
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<Backend>(std::make_unique<cuda::DeviceBackend>(std::move(opened).value(), precision));
}

Result<CudaReport> cuda_measure(int device, int rounds, const CudaSizes& sizes) {
  const auto opened = cuda::open_device(device);
  if (!opened.ok()) return opened.status();
  return cuda::measure(*opened.value(), rounds, sizes);
}

}  // namespace linearmem
