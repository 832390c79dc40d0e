// A Device over the CUDA runtime.
#pragma once

#include <memory>

#include "host/device.hpp"

namespace linearmem::cuda {

// Errors: unavailable, with the reason.
Result<std::unique_ptr<Device>> open_device(int number);

}  // namespace linearmem::cuda
