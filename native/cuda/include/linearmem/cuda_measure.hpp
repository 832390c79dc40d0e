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
  std::int64_t matrix = 8192;                                // side of the products that show the most a device multiplies
  std::int64_t copied_bytes = std::int64_t{1} << 30;
};

// What the device does at most, measured beside the cases.
struct CudaLimit {
  std::string name;
  double per_second;    // bytes, or floating-point operations; 0 where it is missing
  bool bytes;
  std::string missing;  // why, where it could not be measured
};

struct CudaMeasurement {
  std::string name, shape;
  double error;           // against the definition, relative to max(1, largest), on the part that was proved
  double seconds;         // the median round
  double flops, bytes;    // of one call
  CudaLimit limit;        // the one it is held to
  std::string missing = {};  // why, where the device cannot compute it; the figures are 0 then
  double fraction() const { return (limit.bytes ? bytes : flops) / seconds / limit.per_second; }
};

struct CudaReport {
  std::string device;
  std::vector<CudaLimit> limits;
  std::vector<CudaMeasurement> measurements;
};

// Every limit and case is proved right before it is timed. Errors: those of cuda_backend, memory that is not there, with both numbers, a
// result that is not the definition's. A limit that needs a library which cannot be loaded is missing, with the reason.
Result<CudaReport> cuda_measure(int device, int rounds, const CudaSizes& sizes = {});

}  // namespace linearmem
