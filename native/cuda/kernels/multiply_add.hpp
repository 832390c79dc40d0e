// The measure of what a device can do: chains of multiply-adds in registers, eight to a thread so that their latency is hidden.
#pragma once

#include "kernels/block.hpp"

namespace linearmem::cuda {

struct MultiplyAddArguments {
  float* sums = nullptr;  // [blocks x threads], so that nothing is computed for nobody
  std::int64_t rounds;
  float factor, addend;
};

struct MultiplyAdd {
  using Arguments = MultiplyAddArguments;
  static constexpr int kMostThreads = 256;
  static constexpr int kLeastBlocks = 1;
  static constexpr int kChains = 8;

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    block.each_apart([&](int thread) {
      float chains[kChains];
      LINEARMEM_UNROLL
      for (int i = 0; i < kChains; ++i) chains[i] = static_cast<float>(thread + i);
      for (std::int64_t round = 0; round < a.rounds; ++round) {
        LINEARMEM_UNROLL
        for (int i = 0; i < kChains; ++i) chains[i] = fmaf(chains[i], a.factor, a.addend);
      }
      float sum = 0;
      LINEARMEM_UNROLL
      for (int i = 0; i < kChains; ++i) sum += chains[i];
      a.sums[block.index() * block.threads() + thread] = sum;
    });
  }
};

}  // namespace linearmem::cuda
