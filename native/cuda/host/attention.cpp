#include "host/attention.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "host/transfer.hpp"
#include "kernels/kernels.hpp"

namespace linearmem::cuda {
namespace {

Status too_wide(const char* axis, std::int64_t size, const std::string& rest) {
  return Status::unavailable(std::string("softmax_attention: ") + axis + " is " + std::to_string(size) + rest);
}

int kernel_for(std::int64_t V) {
  if (V <= 16) return kernel_number<Attention<1>>();
  if (V <= 64) return kernel_number<Attention<4>>();
  return V <= 128 ? kernel_number<Attention<8>>() : kernel_number<Attention<16>>();
}

}  // namespace

Result<AttentionPlan> plan_attention(const SoftmaxAttentionArguments<float>& a, std::int64_t sequences, std::int64_t longest, const Limits& limits) {
  const std::int64_t T = a.q.extent(1), H = a.q.extent(2), K = a.q.extent(3), V = a.v.extent(3);
  if (V > kMostValueWidth) return too_wide("V", V, ", backend cuda sums values of at most " + std::to_string(kMostValueWidth) + " components");
  AttentionPlan plan{{}, kernel_for(V), 0, Attention<1>::kMostThreads, 4 * attention_shared_floats(K, V)};
  if (plan.shared_bytes > limits.shared_bytes_per_block)
    return too_wide("K", K, " and V is " + std::to_string(V) + ", which need " + std::to_string(plan.shared_bytes) +
                                " bytes of shared memory; a block of this device has " + std::to_string(limits.shared_bytes_per_block));
  AttentionArguments& to = plan.arguments;
  to.q = array_of(a.q), to.k = array_of(a.k), to.v = array_of(a.v);
  to.mask = array_of(a.key_mask), to.cu_seqlens = array_of(a.cu_seqlens);
  to.o = array_of(a.o);
  to.T = T, to.H = H, to.K = K, to.V = V;
  to.group = H / a.k.extent(2);
  to.tiles = (longest + kTileQueries - 1) / kTileQueries;
  to.window = std::min(a.window.value_or(T), std::max<std::int64_t>(T, 1));
  to.scale = static_cast<float>(a.scale.value_or(1.0 / std::sqrt(static_cast<double>(K))));
  to.causal = a.causal;
  plan.blocks = V == 0 ? 0 : sequences * H * to.tiles;
  return plan;
}

}  // namespace linearmem::cuda
