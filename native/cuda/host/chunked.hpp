// Prefill in chunks on a device's tensor cores: what may be asked, what the launches need. The views of arguments are of the device's memory,
// shapes were checked by the door. Plans are ordinary arithmetic.
#pragma once

#include <vector>

#include "host/device.hpp"
#include "host/transfer.hpp"
#include "kernels/chunk.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem::cuda {

// Which chunk is whose: each sequence is cut from its own first token.
struct ChunkTable {
  std::vector<std::int64_t> first_chunk;  // of sequence n
  std::vector<std::int64_t> sequence;     // of chunk c
};
// cu_seqlens is the host's.
ChunkTable chunks_of(const View<const std::int64_t, 1>& cu_seqlens, std::int64_t T, std::int64_t N);

struct ChunkedPlan {
  std::int64_t weights_blocks = 0, weights_shared_bytes = 0;
  int scan_kernel = 0;
  std::int64_t scan_blocks = 0, scan_shared_bytes = 0;
  std::int64_t scratch_bytes = 0;  // of all chunks and heads
};
// N sequences of `chunks` chunks together. Sets a.keys and a.tiles. Errors, with both numbers: a device below compute capability 8.0, K above
// kMostKeyWidth, too little shared memory.
Result<ChunkedPlan> plan_chunked(const char* door, std::int64_t N, std::int64_t chunks, const Limits& limits, ChunkArguments& a);

// What the chunked form on a device does not take: a chunk other than kChunk, a gate per key component, gates above 0, attention that is not
// causal, checkpoints between chunks.
Status check_chunked(const DeltaRuleArguments<float>& a);
Status check_chunked(const LinearAttentionArguments<float>& a);
Status check_chunked(const SsdArguments<float>& a);

// A call with its scratch, ready to be launched, as often as one likes while what prepared it lives.
struct ChunkedCall {
  ChunkArguments arguments;
  ChunkedPlan plan;
};

// checkpoint_rows [N] on the device where there are checkpoints. `memory` owns the scratch. final_z must not be the memory of z.
Result<ChunkedCall> prepare_chunked(Device& device, Transfer& memory, const DeltaRuleArguments<float>& on_device, const ChunkTable& chunks,
                                    const View<const std::int64_t, 1>& checkpoint_rows = {});
Result<ChunkedCall> prepare_chunked(Device& device, Transfer& memory, const LinearAttentionArguments<float>& on_device, const ChunkTable& chunks,
                                    const View<const std::int64_t, 1>& checkpoint_rows = {});
Result<ChunkedCall> prepare_chunked(Device& device, Transfer& memory, const SsdArguments<float>& on_device, const ChunkTable& chunks);

Status launch_chunked(Device& device, const ChunkedCall& call);

}  // namespace linearmem::cuda
