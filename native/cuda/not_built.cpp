#include "linearmem/cuda.hpp"
#include "linearmem/cuda_measure.hpp"

namespace linearmem {
namespace {

Status not_built() {
  return Status::unavailable("backend cuda: not built; configure with the preset cuda, or with LINEARMEM_CUDA=ON, where nvcc is installed");
}

}  // namespace

Result<std::unique_ptr<Backend>> cuda_backend(int, MatrixPrecision) { return not_built(); }
Result<CudaReport> cuda_measure(int, int, const CudaSizes&) { return not_built(); }

}  // namespace linearmem
