#include "host/scan.hpp"

#include "host/transfer.hpp"
#include "kernels/kernels.hpp"

namespace linearmem::cuda {

ScanPlan plan_scan(const SelectiveScanArguments<float>& a, std::int64_t sequences) {
  ScanPlan plan{{}, kernel_number<ChannelScan>(), 0, ChannelScan::kMostThreads};
  ChannelScanArguments& to = plan.arguments;
  to.x = array_of(a.x), to.a = array_of(a.a), to.b = array_of(a.b), to.c = array_of(a.c);
  to.state = array_of(a.state), to.cu_seqlens = array_of(a.cu_seqlens);
  to.y = array_of(a.y), to.final_state = array_of(a.final_state);
  to.T = a.x.extent(1), to.D = a.x.extent(2);
  to.tiles = (to.D + plan.threads - 1) / plan.threads;
  plan.blocks = sequences * to.tiles;
  return plan;
}

Result<MambaPlan> plan_mamba(const MambaScanArguments<float>& a, std::int64_t sequences) {
  const std::int64_t N = a.A.extent(1);
  if (N > kMostMambaStates)
    return Status::unavailable("mamba_scan: N is " + std::to_string(N) + ", backend cuda keeps at most " + std::to_string(kMostMambaStates) +
                               " numbers per channel");
  const bool narrow = N <= MambaScan<4, 4>::kPadded;
  const std::int64_t parts = narrow ? 4 : 16;
  MambaPlan plan{{}, narrow ? kernel_number<MambaScan<4, 4>>() : kernel_number<MambaScan<16, 16>>(), 0, MambaScan<4, 4>::kMostThreads};
  MambaScanKernelArguments& to = plan.arguments;
  to.u = array_of(a.u), to.delta = array_of(a.delta), to.A = array_of(a.A), to.B = array_of(a.B), to.C = array_of(a.C);
  to.D = array_of(a.D), to.z = array_of(a.z), to.delta_bias = array_of(a.delta_bias);
  to.state = array_of(a.state), to.cu_seqlens = array_of(a.cu_seqlens);
  to.y = array_of(a.y), to.final_state = array_of(a.final_state);
  to.T = a.u.extent(1), to.channels = a.u.extent(2), to.N = N;
  to.softplus = a.softplus;
  const std::int64_t channels_per_block = plan.threads / parts;
  to.tiles = (to.channels + channels_per_block - 1) / channels_per_block;
  plan.blocks = sequences * to.tiles;
  return plan;
}

}  // namespace linearmem::cuda
