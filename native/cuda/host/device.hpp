// What the host needs of a device: memory, launches, time. The CUDA runtime is one (runtime/), the emulator of the tests another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "linearmem/status.hpp"

namespace linearmem::cuda {

// A kernel over a row of blocks. `arguments` is the kernel's own struct, read before launch() returns.
struct Launch {
  int kernel = 0;                  // its number in Kernels
  std::int64_t blocks = 0;         // any number: a device takes them in several grids where one is too small
  int threads = 0;                 // of a block, a multiple of 32
  std::int64_t shared_bytes = 0;   // of a block
  const void* arguments = nullptr;
};

struct Limits {
  std::int64_t shared_bytes_per_block = 0;  // the most a kernel may ask for
  std::int64_t processors = 0;              // multiprocessors
  int capability = 0;                       // compute capability times ten: 80 is 8.0
};

struct MemoryState {
  std::int64_t free_bytes = 0, total_bytes = 0;
};

enum class MatrixType { float32, bfloat16 };

// Matrices [n,n], column after column; c in float32, as are all sums.
struct MatrixProduct {
  MatrixType type;
  std::int64_t n;
  const void *a, *b;
  float* c;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string description() const = 0;  // "NVIDIA H100 PCIe, device 0, compute capability 9.0"
  virtual Limits limits() const = 0;
  virtual Result<MemoryState> memory() = 0;

  // 256-byte aligned. Errors: out_of_memory with the bytes wanted and the bytes free.
  virtual Result<void*> allocate(std::int64_t bytes) = 0;
  virtual void release(void* memory) = 0;

  // In the order of the calls, as are launches. Host memory is free to change or read when they return.
  virtual Status upload(const void* host, void* device, std::int64_t bytes) = 0;
  virtual Status copy(const void* from, void* to, std::int64_t bytes) = 0;  // both on the device
  virtual Status clear(void* device, std::int64_t bytes) = 0;  // zeros
  virtual Status download(const void* device, void* host, std::int64_t bytes) = 0;

  // Errors show here or at finish(), and once a device has failed at every call after it.
  virtual Status launch(const Launch& launch) = 0;
  virtual Status finish() = 0;  // waits for all that was asked for

  // c = a b by the vendor's library. Error: unavailable, with the reason, where it cannot be loaded or does not multiply this type.
  virtual Status multiply(const MatrixProduct& product) = 0;

  // Seconds that the device took for what `work` asked of it. From one thread at a time.
  virtual Result<double> seconds(const std::function<Status()>& work) = 0;
};

}  // namespace linearmem::cuda
