// The kernels as functions of the device, all of them in one place.
#include "kernels/kernels.hpp"
#include "runtime/device_block.cuh"
#include "runtime/kernel_table.hpp"

namespace linearmem::cuda {
namespace {

template <typename Kernel>
__global__ void __launch_bounds__(Kernel::kMostThreads, Kernel::kLeastBlocks)
    run_kernel(typename Kernel::Arguments arguments, std::int64_t first_block) {
  extern __shared__ __align__(16) unsigned char shared[];
  DeviceBlock block(first_block, shared);
  Kernel::run(block, arguments);
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
