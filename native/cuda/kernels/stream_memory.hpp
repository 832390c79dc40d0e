// The measure of a device's memory: every number read, and written back twice as large where kWrites.
#pragma once

#include "kernels/block.hpp"

namespace linearmem::cuda {

struct StreamMemoryArguments {
  Four* fours = nullptr;  // [count]
  float* sums = nullptr;  // [blocks x threads], of what was read
  std::int64_t count, blocks;
};

template <bool kWrites>
struct StreamMemory {
  using Arguments = StreamMemoryArguments;
  static constexpr int kMostThreads = 256;
  static constexpr int kLeastBlocks = 1;
  static constexpr int kAtOnce = 4;  // reads under way in a thread

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    block.each_apart([&](int thread) {
      const std::int64_t step = a.blocks * block.threads(), first = block.index() * block.threads() + thread;
      float sum = 0;
      for (std::int64_t i = first; i < a.count; i += kAtOnce * step) {
        Four fours[kAtOnce];
        LINEARMEM_UNROLL
        for (int n = 0; n < kAtOnce; ++n) fours[n] = i + n * step < a.count ? a.fours[i + n * step] : Four{};
        LINEARMEM_UNROLL
        for (int n = 0; n < kAtOnce; ++n) {
          LINEARMEM_UNROLL
          for (int j = 0; j < 4; ++j) {
            sum += fours[n].at[j];
            fours[n].at[j] *= 2;
          }
          if (kWrites && i + n * step < a.count) a.fours[i + n * step] = fours[n];
        }
      }
      a.sums[first] = sum;
    });
  }
};

}  // namespace linearmem::cuda
