// The door: what is made, sizes, and what is done to one request.
#include <algorithm>
#include <cstring>

#include "sessions/store.hpp"

namespace linearmem {

using sessions::kNoRow;
using sessions::layer_text;
using sessions::RequestTable;

namespace {

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
  const auto index = static_cast<std::size_t>(s.part_index(static_cast<std::size_t>(layer)) + part);
  if (row == kNoRow)
    std::fill(to.begin(), to.end(), T{0});
  else if (!to.empty())
    std::memcpy(to.data(), s.table.rows().bytes(index, row).data(), to.size_bytes());
  return {};
}

template class Sessions<float>;
template class Sessions<double>;

}  // namespace linearmem
