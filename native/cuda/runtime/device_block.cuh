// The block of kernels/block.hpp on a device: a phase is the body that every thread runs, and registers are registers.
#pragma once

#include "kernels/block.hpp"
#include "kernels/tensor_tile.hpp"

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

#if __CUDA_ARCH__ >= 800
  // To nearest even.
  static __device__ __forceinline__ std::uint32_t pair(float first, float second) {
    std::uint32_t bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
    return bits;
  }
  template <typename Pick>
  __device__ __forceinline__ void multiply(Pick pick) {
    const Product p = pick(static_cast<int>(threadIdx.x));
    // volatile: the whole warp must meet here, so it must not be moved to where only some lanes want the sums.
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(p.sums[0]), "+f"(p.sums[1]), "+f"(p.sums[2]), "+f"(p.sums[3])
                 : "r"(p.left[0]), "r"(p.left[1]), "r"(p.left[2]), "r"(p.left[3]), "r"(p.right[0]), "r"(p.right[1]));
  }
#endif

 private:
  std::int64_t index_;
  void* shared_;
};

}  // namespace linearmem::cuda
