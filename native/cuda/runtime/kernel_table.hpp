// What the runtime launches.
#pragma once

namespace linearmem::cuda {

const void* kernel_function(int number);  // by its number in Kernels; takes the kernel's arguments and the first block of the grid

}  // namespace linearmem::cuda
