// The kernels as functions of the device, all of them in one place.
#include "kernels/kernels.hpp"
#include "runtime/device_block.cuh"
#include "runtime/kernel_table.hpp"

namespace linearmem::cuda {
namespace {

// Compute capability times ten, below which a kernel has no code: plans refuse it there.
template <typename Kernel>
__device__ constexpr int least_capability() {
  if constexpr (requires { Kernel::kLeastCapability; }) {
    return Kernel::kLeastCapability;
  } else {
    return 0;
  }
}

template <typename Kernel>
__global__ void __launch_bounds__(Kernel::kMostThreads, Kernel::kLeastBlocks)
    run_kernel(typename Kernel::Arguments arguments, std::int64_t first_block) {
#ifdef __CUDA_ARCH__
  if constexpr (least_capability<Kernel>() * 10 <= __CUDA_ARCH__) {
    extern __shared__ __align__(16) unsigned char shared[];
    DeviceBlock block(first_block, shared);
    Kernel::run(block, arguments);
  }
#endif
}

template <typename Kernel>
struct DeviceEntry {
  static const void* make() { return reinterpret_cast<const void*>(&run_kernel<Kernel>); }
};

}  // namespace

const void* kernel_function(int number) {
  static const KernelTable<DeviceEntry, const void*> table;
  return table[number];
}

}  // namespace linearmem::cuda
