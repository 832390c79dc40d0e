// The way of hidden states through the layers, and what is asked before the first of them may write.
#include <algorithm>

#include "foundation/shape_check.hpp"
#include "sessions/store.hpp"

namespace linearmem {

using sessions::layer_text;
using sessions::Slot;

template <typename T>
Status Sessions<T>::Store::check_axes(const SessionCall<T>& call) const {
  ShapeCheck shapes("sessions");
  shapes.define("M", "layers", layers[0]->width()).define("N", "requests", static_cast<std::int64_t>(call.requests.size()));
  shapes.required("hidden", call.hidden, "B T M").sequences(call.cu_seqlens).optional("mask", call.mask, "B T").required("out", call.out, "B T M");
  return shapes.require(call.hidden.size() == 0 || call.hidden.data() != call.out.data(), "out is the same memory as hidden").status();
}

// Before any layer writes: the second one's refusal would come after the first one has gone on.
template <typename T>
Status Sessions<T>::Store::check_history(const LayerCall<T>& call, std::int64_t n) const {
  const std::int64_t seen_after = seen[static_cast<std::size_t>(n)] + taken_tokens(call, n);
  for (std::size_t layer = 0; layer < layouts.size(); ++layer) {
    const bool keeps_all = layouts[layer].most_tokens > 0 && layouts[layer].ledger.shape.kind != LayerKind::window_attention;
    if (keeps_all && seen_after > layouts[layer].most_tokens)
      return Status::invalid("sessions: request " + std::to_string(n) + " of the call would have " + std::to_string(seen_after) + " tokens; " +
                             layer_text(layer, layouts[layer].layer) + " has room for " + std::to_string(layouts[layer].most_tokens));
  }
  return {};
}

template <typename T>
Status Sessions<T>::Store::check_requests(const SessionCall<T>& call, const LayerCall<T>& layer_call) {
  ++calls;
  seen.clear();
  for (std::size_t n = 0; n < call.requests.size(); ++n) {
    if (Status status = table.check_whole(call.requests[n]); !status.ok()) return status;
    if (Status status = table.name_once(call.requests[n], calls); !status.ok()) return status;
    seen.push_back(table.slot(call.requests[n]).tokens);
    if (Status status = check_history(layer_call, static_cast<std::int64_t>(n)); !status.ok()) return status;
  }
  return {};
}

template <typename T>
Status Sessions<T>::Store::run_layers(const SessionCall<T>& call, LayerCall<T>& layer_call) {
  const auto& parts = table.rows().parts();
  const auto elements = static_cast<std::size_t>(call.hidden.size());
  for (std::size_t at = 0; at < 2 && at + 1 < layers.size(); ++at) hidden[at].resize(std::max(hidden[at].size(), elements));
  std::size_t part = 0;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    states.clear();
    for (std::size_t i = 0; i < layouts[layer].parts.size(); ++i, ++part) {
      const auto row_elements = parts[part].bytes / static_cast<std::int64_t>(sizeof(T));
      states.push_back({reinterpret_cast<T*>(parts[part].data), table.rows().rows(), row_elements});
    }
    layer_call.states = states;
    layer_call.out = layer + 1 == layers.size() ? call.out : View<T, 3>(hidden[layer % 2].data(), call.hidden.extents());
    if (Status status = layers[layer]->forward(layer_call); !status.ok()) {
      if (layer == 0) set_broken(call, false);
      return Status(status.code(), "sessions: " + layer_text(layer, layers[layer]->kind()) + ": " + status.message());
    }
    layer_call.hidden = layer_call.out;
  }
  set_broken(call, false);
  return {};
}

template <typename T>
Status Sessions<T>::forward(const SessionCall<T>& call) {
  Store& s = *store_;
  LayerCall<T> layer_call{.hidden = call.hidden, .cu_seqlens = call.cu_seqlens, .mask = call.mask, .executor = call.executor, .out = call.out};
  if (Status status = s.check_axes(call); !status.ok()) return status;
  if (Status status = s.check_requests(call, layer_call); !status.ok()) return status;
  s.slots.clear();
  for (RequestHandle request : call.requests) {
    Slot& slot = s.table.slot(request);
    s.slots.push_back(slot.row = s.table.rows().own(slot.row));
  }
  layer_call.slots = s.slots;
  layer_call.seen = {s.seen.data(), {static_cast<std::int64_t>(s.seen.size())}};
  s.set_broken(call, true);  // until the last layer is done, whatever ends it before
  if (Status status = s.run_layers(call, layer_call); !status.ok()) return status;
  layer_call.hidden = call.hidden;
  for (std::size_t n = 0; n < call.requests.size(); ++n) s.table.slot(call.requests[n]).tokens += taken_tokens(layer_call, static_cast<std::int64_t>(n));
  return {};
}

template Status Sessions<float>::forward(const SessionCall<float>&);
template Status Sessions<double>::forward(const SessionCall<double>&);

}  // namespace linearmem
