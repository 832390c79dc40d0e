// What the doors' kernels take on a device, each beside what the device can do: by the device's own clock, everything in its memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem {

struct CudaSizes {
  std::int64_t tokens = 8192, heads = 96, width = 128;       // prefill of one sequence, K = V = width
  std::int64_t requests = 256, decode_heads = 32;            // one token for each of so many sequences
  std::int64_t keys = 10'000'000, key_width = 128, k = 16;   // exact kNN, one query
};

struct CudaMeasurement {
  std::string name, shape;
  double error;           // against the definition, relative to max(1, largest), on the part that was proved
  double seconds;         // the median round
  double flops, bytes;    // of one call
  double limit;           // what this device was measured to do, in flops or bytes per second
  bool limited_by_bytes;
  double fraction() const { return (limited_by_bytes ? bytes : flops) / seconds / limit; }
};

struct CudaReport {
  std::string device;
  double bytes_per_second, flops_per_second;  // a copy, read and write counted; float32 multiply-adds
  std::vector<CudaMeasurement> measurements;
};

// Every case is proved right before it is timed. Errors: those of cuda_backend, memory that is not there, with both numbers, a result
// that is not the definition's.
Result<CudaReport> cuda_measure(int device, int rounds, const CudaSizes& sizes = {});

}  // namespace linearmem
