// cuBLAS, loaded when it is asked for: a build needs none of it, and only the benchmark's limits use it.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "host/device.hpp"

namespace linearmem::cuda {

class Cublas {
 public:
  // On the calling thread's device. Error: unavailable, with the names that were tried.
  static Result<std::unique_ptr<Cublas>> load(cudaStream_t stream);
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  ~Cublas();

  Status multiply(const MatrixProduct& product) const;

 private:
  Cublas() = default;

  void *library_ = nullptr, *handle_ = nullptr;
};

}  // namespace linearmem::cuda
