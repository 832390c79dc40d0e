// What the README shows of sessions: a draft that is taken back leaves no trace, and a fork goes on like its origin.
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

  const linearmem::Tensor<float, 3> prompt({1, 5, 8}, 0.5f), token({1, 1, 8}, -0.25f);
  linearmem::Tensor<float, 3> read({1, 5, 8}), first({1, 1, 8}), again({1, 1, 8});
  const auto go_on = [&](const linearmem::RequestHandle& who, const auto& hidden, auto& out) {
    return sessions.forward({.requests = {&who, 1}, .hidden = hidden.view(), .out = out.view()}).ok();
  };
  if (!go_on(request, prompt, read)) return 1;
  const linearmem::CheckpointHandle kept = sessions.checkpoint(request).value();
  const linearmem::RequestHandle other = sessions.fork(request).value();
  if (!go_on(request, token, first) || !sessions.rollback(kept).ok()) return 1;
  if (!go_on(request, token, again) || first.values() != again.values()) return 1;
  if (!go_on(other, token, again) || first.values() != again.values()) return 1;
  std::printf("%d bytes for each of %d requests after %d tokens\n", static_cast<int>(sessions.bytes_per_request()),
              static_cast<int>(sessions.open_requests()), static_cast<int>(sessions.tokens(request).value()));
}
