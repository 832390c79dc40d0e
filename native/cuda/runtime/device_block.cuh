// The block of kernels/block.hpp on a device: a phase is the body that every thread runs, and registers are registers.
#pragma once

#include "kernels/block.hpp"

namespace linearmem::cuda {

class DeviceBlock {
 public:
  // first_block: of this grid, where a launch took several.
  __device__ DeviceBlock(std::int64_t first_block, void* shared) : index_(first_block + blockIdx.x), shared_(shared) {}

  template <typename T>
  class Registers {
   public:
    __device__ explicit Registers(const DeviceBlock&) {}
    __device__ __forceinline__ T& operator[](int) { return value_; }

   private:
    T value_;
  };

  __device__ __forceinline__ std::int64_t index() const { return index_; }
  __device__ __forceinline__ int threads() const { return static_cast<int>(blockDim.x); }
  __device__ __forceinline__ void* shared() const { return shared_; }

  template <typename Phase>
  __device__ __forceinline__ void each(Phase phase) {
    phase(static_cast<int>(threadIdx.x));
    __syncthreads();
  }
  template <typename Phase>
  __device__ __forceinline__ void each_apart(Phase phase) {
    phase(static_cast<int>(threadIdx.x));
  }

  __device__ __forceinline__ void sum_across(Registers<float>& values, int lanes) {
    for (int distance = 1; distance < lanes; distance *= 2) values[0] += __shfl_xor_sync(0xffffffffu, values[0], distance);
  }
  __device__ __forceinline__ void max_across(Registers<float>& values, int lanes) {
    for (int distance = 1; distance < lanes; distance *= 2) values[0] = fmaxf(values[0], __shfl_xor_sync(0xffffffffu, values[0], distance));
  }

 private:
  std::int64_t index_;
  void* shared_;
};

}  // namespace linearmem::cuda
