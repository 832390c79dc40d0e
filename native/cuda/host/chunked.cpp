#include "host/chunked.hpp"

#include <algorithm>
#include <string>

#include "foundation/sequences.hpp"
#include "host/matrix_state.hpp"
#include "kernels/kernels.hpp"

namespace linearmem::cuda {
namespace {

struct Variant {
  int keys, kernel;
};

template <bool kCorrects>
constexpr Variant kVariants[] = {{64, kernel_number<ChunkScan<64, kCorrects>>()},
                                 {128, kernel_number<ChunkScan<128, kCorrects>>()},
                                 {256, kernel_number<ChunkScan<256, kCorrects>>()}};

const Variant* variant_for(std::int64_t K, bool corrects) {
  const Variant* variants = corrects ? kVariants<true> : kVariants<false>;
  for (int i = 0; i < 3; ++i)
    if (K <= variants[i].keys) return variants + i;
  return nullptr;
}

Status refusal(const char* door, const std::string& reason) {
  return Status::unavailable(std::string(door) + ": form chunked of backend cuda " + reason);
}

std::string capability_text(std::int64_t capability) { return std::to_string(capability / 10) + "." + std::to_string(capability % 10); }

Status check_request(const char* door, std::int64_t chunk, bool allow_growth, bool by_key, std::int64_t checkpoint_every) {
  if (chunk != 0 && chunk != kChunk)
    return refusal(door, "has chunks of " + std::to_string(kChunk) + " tokens, chunk is " + std::to_string(chunk));
  if (by_key) return refusal(door, "has gates per head, g_key is one per key component; form recurrent has both");
  if (allow_growth) return refusal(door, "takes gates up to 0 only, allow_growth lets others through; form recurrent takes all");
  if (checkpoint_every % kChunk != 0)
    return refusal(door, "has states after every " + std::to_string(kChunk) + " tokens, checkpoint_every is " + std::to_string(checkpoint_every));
  return {};
}

// Room for what ChunkWeights leaves for ChunkScan.
ChunkScratch scratch_for(Transfer& memory, std::int64_t places, const ChunkArguments& a) {
  ChunkScratch scratch;
  scratch.q = memory.room<BFloat>(places * kChunk * a.keys);
  scratch.k = memory.room<BFloat>(places * kChunk * a.keys);
  scratch.weights = memory.room<BFloat>(places * kChunk * kChunk);
  if (a.corrects) scratch.inverse = memory.room<BFloat>(places * kChunk * kChunk);
  scratch.numbers = memory.room<float>(places * kNumbersPerToken * kChunk);
  return scratch;
}

Result<ChunkedCall> prepare(Device& device, Transfer& memory, const char* door, const ChunkTable& table, ChunkArguments a) {
  const auto N = static_cast<std::int64_t>(table.first_chunk.size()), chunks = static_cast<std::int64_t>(table.sequence.size());
  const auto plan = plan_chunked(door, N, chunks, device.limits(), a);
  if (!plan.ok()) return plan.status();
  if (plan.value().scan_blocks > 0) {
    a.scratch = scratch_for(memory, plan.value().weights_blocks, a);
    a.first_chunk = memory.up(View<const std::int64_t, 1>(table.first_chunk.data(), {N})).data();
    a.sequence = memory.up(View<const std::int64_t, 1>(table.sequence.data(), {chunks})).data();
  }
  if (!memory.status().ok()) return memory.status();
  return ChunkedCall{a, plan.value()};
}

}  // namespace

ChunkTable chunks_of(const View<const std::int64_t, 1>& cu_seqlens, std::int64_t T, std::int64_t N) {
  ChunkTable table;
  for (std::int64_t n = 0; n < N; ++n) {
    table.first_chunk.push_back(static_cast<std::int64_t>(table.sequence.size()));
    const std::int64_t chunks = (sequence_tokens(cu_seqlens, T, n) + kChunk - 1) / kChunk;
    table.sequence.insert(table.sequence.end(), static_cast<std::size_t>(chunks), n);
  }
  return table;
}

Result<ChunkedPlan> plan_chunked(const char* door, std::int64_t N, std::int64_t chunks, const Limits& limits, ChunkArguments& a) {
  if (limits.capability < kTensorCapability)
    return refusal(door, "needs tensor cores for bf16, compute capability " + capability_text(kTensorCapability) + "; this device has " +
                             capability_text(limits.capability));
  const Variant* variant = variant_for(a.call.K, a.corrects);
  if (!variant) return refusal(door, "keeps keys of at most " + std::to_string(kMostKeyWidth) + " components, K is " + std::to_string(a.call.K));
  a.keys = variant->keys;
  const std::int64_t tiles = (a.call.V + kChunkColumns - 1) / kChunkColumns;
  a.tiles = a.counts ? std::max<std::int64_t>(tiles, 1) : tiles;  // z is there even where values have no components
  ChunkedPlan plan;
  plan.weights_blocks = chunks * a.call.H;
  plan.weights_shared_bytes = chunk_weights_shared_bytes(a.keys);
  plan.scan_kernel = variant->kernel;
  plan.scan_blocks = N * a.call.H * a.tiles;
  plan.scan_shared_bytes = chunk_scan_shared_bytes(a.keys);
  plan.scratch_bytes = plan.weights_blocks * chunk_scratch_bytes(a.keys, a.corrects);
  const std::int64_t shared = std::max(plan.weights_shared_bytes, plan.scan_shared_bytes);
  if (shared > limits.shared_bytes_per_block)
    return refusal(door, "needs " + std::to_string(shared) + " bytes of shared memory where K is " + std::to_string(a.call.K) +
                             "; a block of this device has " + std::to_string(limits.shared_bytes_per_block));
  return plan;
}

Status check_chunked(const DeltaRuleArguments<float>& a) {
  return check_request("delta_rule", a.chunk, a.allow_growth, a.g_key.given(), a.checkpoint_every);
}

Status check_chunked(const LinearAttentionArguments<float>& a) {
  if (!a.causal) return refusal("linear_attention", "is causal; form recurrent has both");
  return check_request("linear_attention", a.chunk, a.allow_growth, a.g_key.given(), a.checkpoint_every);
}

Status check_chunked(const SsdArguments<float>& a) { return check_request("ssd", a.chunk, a.allow_growth, false, 0); }

Result<ChunkedCall> prepare_chunked(Device& device, Transfer& memory, const DeltaRuleArguments<float>& on_device, const ChunkTable& chunks,
                                    const View<const std::int64_t, 1>& checkpoint_rows) {
  ChunkArguments a{};
  a.call = matrix_state_arguments(on_device, checkpoint_rows);
  a.corrects = true;
  return prepare(device, memory, "delta_rule", chunks, a);
}

Result<ChunkedCall> prepare_chunked(Device& device, Transfer& memory, const LinearAttentionArguments<float>& on_device, const ChunkTable& chunks,
                                    const View<const std::int64_t, 1>& checkpoint_rows) {
  ChunkArguments a{};
  a.call = matrix_state_arguments(on_device, checkpoint_rows);
  a.z = array_of(on_device.z), a.final_z = array_of(on_device.final_z), a.checkpoints_z = array_of(on_device.checkpoints_z);
  a.divides = on_device.normalize;
  a.counts = a.divides || a.final_z.given() || a.checkpoints_z.given();
  return prepare(device, memory, "linear_attention", chunks, a);
}

Result<ChunkedCall> prepare_chunked(Device& device, Transfer& memory, const SsdArguments<float>& on_device, const ChunkTable& chunks) {
  ChunkArguments a{};
  a.call = matrix_state_arguments(on_device);
  return prepare(device, memory, "ssd", chunks, a);
}

Status launch_chunked(Device& device, const ChunkedCall& call) {
  const ChunkedPlan& p = call.plan;
  if (p.scan_blocks == 0) return {};
  Status status;
  if (p.weights_blocks > 0)
    status = device.launch({kernel_number<ChunkWeights>(), p.weights_blocks, kChunkThreads, p.weights_shared_bytes, &call.arguments});
  return status.ok() ? device.launch({p.scan_kernel, p.scan_blocks, kChunkThreads, p.scan_shared_bytes, &call.arguments}) : status;
}

}  // namespace linearmem::cuda
