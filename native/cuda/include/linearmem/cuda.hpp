// The doors on an NVIDIA GPU: arguments whose `.backend` is this one are computed there. It computes in float32, forms recurrent and
// streaming, and hands results back in this machine's memory.
//
//   const auto gpu = linearmem::cuda_backend();
//   if (gpu.ok()) arguments.backend = gpu.value().get();
//
// A backend of MatrixPrecision::bfloat16 has besides, for the delta rule, linear attention and SSD, form chunked on tensor cores: nobody
// gets it without asking for both. What it costs in exactness: native/cuda/README.md.
#pragma once

#include <memory>

#include "linearmem/backend.hpp"
#include "linearmem/status.hpp"

namespace linearmem {

// What matrices are rounded to where tensor cores multiply them; sums and states are float32 in either. Only Form::chunked multiplies there.
enum class MatrixPrecision { float32, bfloat16 };

// device: as the driver counts them, from 0. A backend may be used from any thread; calls on one run one after the other. A call leaves
// this device current in the thread that made it. After an error of the device itself (an illegal address, a reset) every later call on it
// is refused with the same reason until the program is started again.
// Errors: unavailable, with the reason: not built, no driver, a driver too old, no device, no device of that number, a device below
// compute capability 7.5 or one that the build holds no code for; out_of_memory, where others fill it.
Result<std::unique_ptr<Backend>> cuda_backend(int device = 0, MatrixPrecision precision = MatrixPrecision::float32);

}  // namespace linearmem
