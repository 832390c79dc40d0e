// Matrix-state mechanisms on a device: linear attention, the delta rule, SSD. Arguments hold views of the device's memory, all of them
// packed or strided alike; shapes were checked by the door. A plan says what a launch needs and is ordinary arithmetic.
#pragma once

#include <optional>

#include "host/device.hpp"
#include "kernels/matrix_state.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem::cuda {

constexpr std::int64_t kMostKeyWidth = 256;

struct MatrixStatePlan {
  int kernel = 0;
  std::int64_t blocks = 0;
  int threads = 0;
  std::int64_t shared_bytes = 0;
};

// Chooses the kernel by K and how many columns a block takes, and sets a.columns and a.tiles. N sequences.
// Errors: K above kMostKeyWidth, too little shared memory, with both numbers.
Result<MatrixStatePlan> plan_matrix_state(const char* door, std::int64_t N, bool corrects, bool by_key, const Limits& limits,
                                          MatrixStateArguments& a);

// Of a call whose views are the device's; checkpoint_rows [N] on the device where there are checkpoints.
MatrixStateArguments matrix_state_arguments(const DeltaRuleArguments<float>& a, const View<const std::int64_t, 1>& checkpoint_rows);
MatrixStateArguments matrix_state_arguments(const LinearAttentionArguments<float>& a, const View<const std::int64_t, 1>& checkpoint_rows);
MatrixStateArguments matrix_state_arguments(const SsdArguments<float>& a);

// z, as the state of a column of ones: its reading is the denominator. denominators: [B,T,H,1].
MatrixStateArguments count_arguments(const LinearAttentionArguments<float>& a, const View<const std::int64_t, 1>& checkpoint_rows,
                                     const View<float, 4>& denominators);

}  // namespace linearmem::cuda
