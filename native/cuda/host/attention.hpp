// Softmax attention on a device: what a launch needs. Arguments hold views of the device's memory.
#pragma once

#include "host/device.hpp"
#include "kernels/attention.hpp"
#include "linearmem/softmax_attention.hpp"

namespace linearmem::cuda {

constexpr std::int64_t kMostValueWidth = 256;

struct AttentionPlan {
  AttentionArguments arguments;
  int kernel;
  std::int64_t blocks;
  int threads;
  std::int64_t shared_bytes;
};

// longest: tokens of the longest sequence. Errors: V above kMostValueWidth, too little shared memory, with both numbers.
Result<AttentionPlan> plan_attention(const SoftmaxAttentionArguments<float>& a, std::int64_t sequences, std::int64_t longest, const Limits& limits);

}  // namespace linearmem::cuda
