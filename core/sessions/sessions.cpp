// The door: checks, and the way of hidden states through the layers.
#include "linearmem/session.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "foundation/shape_check.hpp"
#include "sessions/request_table.hpp"
#include "sessions/saved_form.hpp"

namespace linearmem {

using sessions::FoundRequest;
using sessions::RequestTable;
using sessions::Slot;
using sessions::kNoRow;

namespace {

constexpr const char* kDoor = "sessions";

std::string layer_text(std::size_t layer, std::string_view kind) { return "layer " + std::to_string(layer) + " (" + std::string(kind) + ")"; }

template <typename T>
Status check_layers(const std::vector<const Layer<T>*>& layers) {
  if (layers.empty()) return Status::invalid("sessions: layers is empty; a stack has at least one");
  for (std::size_t at = 0; at < layers.size(); ++at) {
    if (!layers[at]) return Status::invalid("sessions: layers[" + std::to_string(at) + "] is null");
    if (layers[at]->width() != layers[0]->width())
      return Status::invalid("sessions: M differs: " + layer_text(0, layers[0]->kind()) + " has " + std::to_string(layers[0]->width()) + ", " +
                             layer_text(at, layers[at]->kind()) + " has " + std::to_string(layers[at]->width()));
  }
  return {};
}

Status check_types(const std::vector<LayerStateLayout>& layouts, std::int64_t element_bytes) {
  for (std::size_t layer = 0; layer < layouts.size(); ++layer)
    for (const StatePart& part : layouts[layer].parts)
      if (!is_floating(part.dtype) || dtype_bytes(part.dtype) != element_bytes)
        return Status::invalid("sessions: " + layer_text(layer, layouts[layer].layer) + ": " + part.name + " is " + std::string(dtype_name(part.dtype)) +
                               "; this session computes in " + (element_bytes == 8 ? "F64" : "F32"));
  return {};
}

}  // namespace

template <typename T>
struct Sessions<T>::Store {
  std::vector<const Layer<T>*> layers;
  std::vector<LayerStateLayout> layouts;
  std::int64_t row_bytes = 0;
  RequestTable table;
  sessions::SavedModel model;
  std::uint64_t calls = 0;
  // Of the call under way; kept, so that the next one of its size allocates nothing.
  std::vector<std::int64_t> slots, seen;
  std::vector<StateRows<T>> states;
  std::vector<T> hidden[2];  // [B,T,M] each: what one layer gives the next

  std::int64_t part_index(std::size_t layer) const {
    std::int64_t first = 0;
    for (std::size_t before = 0; before < layer; ++before) first += static_cast<std::int64_t>(layouts[before].parts.size());
    return first;
  }
  Status check_axes(const SessionCall<T>& call) const;
  Status check_history(const LayerCall<T>& call, std::int64_t n) const;
  Status check_requests(const SessionCall<T>& call, const LayerCall<T>& layer_call);
  Status run_layers(const SessionCall<T>& call, LayerCall<T>& layer_call);
  void set_broken(const SessionCall<T>& call, bool broken) {
    for (RequestHandle request : call.requests) table.slot(request).broken = broken;
  }
};

template <typename T>
Sessions<T>::Sessions(std::unique_ptr<Store> store) : store_(std::move(store)) {}
template <typename T>
Sessions<T>::Sessions(Sessions&&) noexcept = default;
template <typename T>
Sessions<T>& Sessions<T>::operator=(Sessions&&) noexcept = default;
template <typename T>
Sessions<T>::~Sessions() = default;

template <typename T>
Result<Sessions<T>> Sessions<T>::create(std::vector<const Layer<T>*> layers, const SessionSettings& settings) {
  if (Status status = check_layers(layers); !status.ok()) return status;
  auto store = std::make_unique<Store>();
  for (const Layer<T>* layer : layers) store->layouts.push_back(layer->state_layout());
  if (Status status = check_types(store->layouts, sizeof(T)); !status.ok()) return status;
  const auto bytes = linearmem::bytes_per_request(store->layouts);
  if (!bytes.ok()) return bytes.status();
  auto table = RequestTable::create(store->layouts, settings);
  if (!table.ok()) return table.status();
  store->layers = std::move(layers);
  store->row_bytes = bytes.value();
  store->table = std::move(table).value();
  store->model = sessions::saved_model(store->layouts, settings.weights, sizeof(T));
  return Sessions(std::move(store));
}

template <typename T>
const std::vector<LayerStateLayout>& Sessions<T>::layouts() const {
  return store_->layouts;
}
template <typename T>
std::int64_t Sessions<T>::bytes_per_request() const {
  return store_->row_bytes;
}
template <typename T>
std::int64_t Sessions<T>::state_bytes() const {
  return store_->table.rows().rows() * store_->row_bytes;
}
template <typename T>
std::int64_t Sessions<T>::held_bytes() const {
  const Store& s = *store_;
  return s.table.held_bytes() + static_cast<std::int64_t>((s.slots.capacity() + s.seen.capacity()) * sizeof(std::int64_t) +
                                                          s.states.capacity() * sizeof(StateRows<T>) +
                                                          (s.hidden[0].capacity() + s.hidden[1].capacity()) * sizeof(T));
}
template <typename T>
std::int64_t Sessions<T>::open_requests() const {
  return store_->table.open_requests();
}
template <typename T>
std::int64_t Sessions<T>::kept_checkpoints() const {
  return store_->table.kept_checkpoints();
}

template <typename T>
Result<RequestHandle> Sessions<T>::open() {
  return store_->table.open();
}
template <typename T>
Status Sessions<T>::close(RequestHandle request) {
  return store_->table.close(request);
}
template <typename T>
Status Sessions<T>::reset(RequestHandle request) {
  return store_->table.reset(request);
}
template <typename T>
Result<RequestHandle> Sessions<T>::fork(RequestHandle request) {
  return store_->table.fork(request);
}
template <typename T>
Result<CheckpointHandle> Sessions<T>::checkpoint(RequestHandle request) {
  return store_->table.checkpoint(request);
}
template <typename T>
Status Sessions<T>::rollback(CheckpointHandle checkpoint) {
  return store_->table.rollback(checkpoint);
}
template <typename T>
Status Sessions<T>::discard(CheckpointHandle checkpoint) {
  return store_->table.discard(checkpoint);
}

template <typename T>
Result<std::int64_t> Sessions<T>::tokens(RequestHandle request) const {
  if (Status status = store_->table.check(request); !status.ok()) return status;
  return store_->table.slot(request).tokens;
}

template <typename T>
Status Sessions<T>::read_state(RequestHandle request, std::int64_t layer, std::int64_t part, std::span<T> to) const {
  const Store& s = *store_;
  if (Status status = s.table.check_whole(request); !status.ok()) return status;
  if (layer < 0 || layer >= static_cast<std::int64_t>(s.layers.size()))
    return Status::invalid("sessions: layer " + std::to_string(layer) + " is none of the " + std::to_string(s.layers.size()) + " there are");
  const LayerStateLayout& layout = s.layouts[static_cast<std::size_t>(layer)];
  if (part < 0 || part >= static_cast<std::int64_t>(layout.parts.size()))
    return Status::invalid("sessions: part " + std::to_string(part) + " is none of the " + std::to_string(layout.parts.size()) + " of " +
                           layer_text(static_cast<std::size_t>(layer), layout.layer));
  if (const std::int64_t has = layout.parts[static_cast<std::size_t>(part)].elements(); has != static_cast<std::int64_t>(to.size()))
    return Status::invalid("sessions: part " + std::to_string(part) + " has " + std::to_string(has) + " elements, to has " + std::to_string(to.size()));
  const std::int64_t row = s.table.slot(request).row;
  if (row == kNoRow || to.empty()) return std::fill(to.begin(), to.end(), T{0}), Status();
  std::memcpy(to.data(), s.table.rows().bytes(static_cast<std::size_t>(s.part_index(static_cast<std::size_t>(layer)) + part), row).data(), to.size_bytes());
  return {};
}

template <typename T>
Status Sessions<T>::Store::check_axes(const SessionCall<T>& call) const {
  ShapeCheck shapes(kDoor);
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

template <typename T>
Result<std::vector<std::byte>> Sessions<T>::save(std::span<const SavedRequest> requests) const {
  std::vector<std::int64_t> ids;
  for (const SavedRequest& saved : requests) {
    if (Status status = store_->table.check_whole(saved.request); !status.ok()) return status;
    ids.push_back(saved.id);
  }
  std::sort(ids.begin(), ids.end());
  if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end())
    return Status::invalid("sessions: the id " + std::to_string(*twice) + " is given twice");
  return sessions::encode(store_->model, store_->table, requests);
}

template <typename T>
Result<std::vector<SavedRequest>> Sessions<T>::load(std::span<const std::byte> bytes, const std::string& file, std::optional<std::int64_t> only) {
  RequestTable& table = store_->table;
  auto found = sessions::decode(store_->model, table.rows(), bytes, file);
  if (!found.ok()) return found.status();
  if (only) std::erase_if(found.value(), [&](const FoundRequest& request) { return request.id != *only; });
  const auto count = static_cast<std::int64_t>(found.value().size());
  if (only && count == 0) return Status::invalid(file + ": has no request " + std::to_string(*only));
  if (count > table.free_requests())
    return Status(StatusCode::out_of_memory, file + ": has " + std::to_string(count) + " requests; " + std::to_string(table.free_requests()) + " more may be open");
  std::vector<SavedRequest> loaded;
  loaded.reserve(found.value().size());
  for (const FoundRequest& request : found.value()) {
    const auto opened = table.open();
    if (!opened.ok()) return opened.status();
    Slot& slot = table.slot(opened.value());
    slot.tokens = request.tokens;
    if (request.tokens > 0) sessions::fill_row(table.rows(), slot.row = table.rows().take(), bytes, request);
    loaded.push_back({request.id, opened.value()});
  }
  return loaded;
}

template <typename T>
Result<std::int64_t> Sessions<T>::saved_bytes(std::int64_t requests) const {
  if (requests < 0) return Status::invalid("sessions: requests is " + std::to_string(requests) + "; it is 0 or more");
  return sessions::saved_size(store_->model, store_->table.rows(), requests);
}

template class Sessions<float>;
template class Sessions<double>;

}  // namespace linearmem
