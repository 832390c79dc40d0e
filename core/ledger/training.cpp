#include "ledger/training.hpp"

#include <string>

#include "ledger/sentence.hpp"
#include "ledger/checked_size.hpp"

namespace linearmem {
namespace {

// Elements of the recurrence's inputs at one token; 0: not a recurrence over states. h states of [K,V], q and k of G heads:
std::optional<CheckedSize> inputs_per_token(const LayerShape& shape) {
  const CheckedSize h = shape.heads, G = shape.key_heads > 0 ? shape.key_heads : shape.heads, K = shape.key_width, V = shape.value_width;
  switch (shape.kind) {
    case LayerKind::linear_attention:
    case LayerKind::retention:
      return G * K * 2 + h * V;  // q, k, v
    case LayerKind::delta_rule:
      return G * K * 2 + h * V + h;  // q, k, v, beta
    case LayerKind::gated_delta_rule:
      return G * K * 2 + h * V + h * 2;  // q, k, v, beta, g
    case LayerKind::kimi_delta:
      return G * K * 2 + h * V + h * K + h;  // q, k, v, g per key component, beta
    case LayerKind::rwkv6:
      return h * K * 3 + h * V;  // r, k, w, v
    case LayerKind::rwkv7:
      return h * K * 5 + h * V;  // r, k, w, and the two vectors of the correction, v
    case LayerKind::mamba:
      return h * 2 + K * 2;  // x and dt per channel, B and C
    case LayerKind::ssd:
      return h * V + h + G * K * 2;  // x, dt, B and C per group
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<std::optional<TrainingRow>> training_row(const LayerGroup& group, const LedgerSettings& settings) {
  const auto inputs = inputs_per_token(group.shape);
  if (!inputs) return std::optional<TrainingRow>();
  const CheckedSize runs = CheckedSize(group.layers) * settings.batch;
  const CheckedSize state = CheckedSize(group.shape.heads) * group.shape.key_width * group.shape.value_width;
  const auto states = [&](std::int64_t kept) { return bytes_of(state * kept, settings.precision.state_bits) * runs; };
  const CheckedSize input_bytes = bytes_of(*inputs * settings.context, settings.precision.conv_bits) * runs;
  const CheckedSize naive = states(settings.context), chunked = states((settings.context + settings.chunk - 1) / settings.chunk),
                    first = states(1);
  if (!naive.fits() || !input_bytes.fits() || !chunked.fits())
    return Status::invalid(sentence({"ledger: training, ", layer_kind_name(group.shape.kind), ": its bytes do not fit in 64 bits"}));
  return std::optional(TrainingRow{.kind = group.shape.kind,
                                   .layers = group.layers,
                                   .input_bytes = input_bytes.value(),
                                   .naive_bytes = naive.value(),
                                   .chunked_bytes = chunked.value(),
                                   .recomputed_bytes = first.value()});
}

}  // namespace linearmem
