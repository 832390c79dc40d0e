// Scans over channels on a device: what a launch needs. Arguments hold views of the device's memory.
#pragma once

#include "host/device.hpp"
#include "kernels/channel_scan.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem::cuda {

constexpr std::int64_t kMostMambaStates = 256;

struct ScanPlan {
  ChannelScanArguments arguments;
  int kernel;
  std::int64_t blocks;
  int threads;
};
ScanPlan plan_scan(const SelectiveScanArguments<float>& a, std::int64_t sequences);

struct MambaPlan {
  MambaScanKernelArguments arguments;
  int kernel;
  std::int64_t blocks;
  int threads;
};
// Errors: N above kMostMambaStates.
Result<MambaPlan> plan_mamba(const MambaScanArguments<float>& a, std::int64_t sequences);

}  // namespace linearmem::cuda
