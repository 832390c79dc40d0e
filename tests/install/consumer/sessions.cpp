// What the README shows of sessions: a draft that is taken back leaves no trace.
#include <cstdio>

#include "linearmem/layers.hpp"
#include "linearmem/session.hpp"
#include "linearmem/tensor.hpp"

// Every weight 0.1; a real model's come from its checkpoint.
static linearmem::NamedTensors constant_weights(const linearmem::LayerSizes& sizes) {
  linearmem::NamedTensors weights;
  for (const linearmem::LayerWeight& weight : linearmem::layer_weights(sizes)) {
    std::int64_t count = 1;
    for (std::int64_t extent : weight.shape) count *= extent;
    weights[weight.name] = linearmem::to_named(std::vector<float>(static_cast<std::size_t>(count), 0.1f), weight.shape);
  }
  return weights;
}

int main() {
  const linearmem::LayerSizes sizes =
      linearmem::GatedDeltaNetSizes{.model_width = 8, .key_heads = 1, .value_heads = 2, .key_width = 4, .value_width = 4};
  const auto layer = linearmem::make_layer<float>(sizes, constant_weights(sizes)).value();
  auto sessions = linearmem::Sessions<float>::create({layer.get(), layer.get()}, {.requests = 4, .checkpoints = 4}).value();
  const linearmem::RequestHandle request = sessions.open().value();

  const linearmem::Tensor<float, 3> prompt({1, 5, 8}, 0.5f), draft({1, 2, 8}, 1.0f), token({1, 1, 8}, -0.25f);
  linearmem::Tensor<float, 3> read({1, 5, 8}), guess({1, 2, 8}), next({1, 1, 8}), next_of_other({1, 1, 8});
  const auto go_on = [&](const linearmem::RequestHandle& who, const auto& hidden, auto& out) {
    return sessions.forward({.requests = {&who, 1}, .hidden = hidden.view(), .out = out.view()}).ok();
  };
  if (!go_on(request, prompt, read)) return 1;
  const linearmem::RequestHandle other = sessions.fork(request).value();
  const linearmem::CheckpointHandle kept = sessions.checkpoint(request).value();
  if (!go_on(request, draft, guess)) return 1;
  if (!sessions.rollback(kept).ok()) return 1;  // the draft was wrong: as if it had never been fed in
  if (!go_on(request, token, next) || !go_on(other, token, next_of_other)) return 1;
  if (next.values() != next_of_other.values()) return 1;
  std::printf("%d bytes for each of %d requests after %d tokens\n", static_cast<int>(sessions.bytes_per_request()),
              static_cast<int>(sessions.open_requests()), static_cast<int>(sessions.tokens(request).value()));
}
