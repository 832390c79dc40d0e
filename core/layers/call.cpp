#include "layers/call.hpp"

#include <algorithm>
#include <string>

#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"

namespace linearmem::layers {
namespace {

// Rows of states that the call names, each once and within the storage.
template <typename T>
void check_slots(const LayerCall<T>& call, std::int64_t N, std::int64_t rows, ShapeCheck& shapes) {
  if (call.slots.empty()) {
    shapes.require(N <= rows, [&] { return "states has " + std::to_string(rows) + " rows, the call " + std::to_string(N) + " requests"; });
    return;
  }
  shapes.require(static_cast<std::int64_t>(call.slots.size()) == N,
                 [&] { return "slots has " + std::to_string(call.slots.size()) + " entries, the call " + std::to_string(N) + " requests"; });
  std::vector<std::int64_t> sorted(call.slots.begin(), call.slots.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    shapes.require(sorted[i] >= 0 && sorted[i] < rows,
                   [&] { return "slot " + std::to_string(sorted[i]) + " is outside the " + std::to_string(rows) + " rows of states"; });
    shapes.require(i == 0 || sorted[i] != sorted[i - 1], [&] { return "slot " + std::to_string(sorted[i]) + " is given to two requests"; });
  }
}

template <typename T>
void check_states(const LayerCall<T>& call, const LayerStateLayout& layout, std::int64_t N, ShapeCheck& shapes) {
  if (call.states.empty()) {
    shapes.require(call.slots.empty(), "slots is given without states");
    for (std::int64_t n = 0; call.seen.given() && n < N; ++n)
      shapes.require(call.seen(n) == 0, [&] { return "seen is " + std::to_string(call.seen(n)) + " at request " + std::to_string(n) + ", but no states are given"; });
    return;
  }
  shapes.require(call.states.size() == layout.parts.size(), [&] {
    return "states has " + std::to_string(call.states.size()) + " parts, the layer keeps " + std::to_string(layout.parts.size());
  });
  if (!shapes.status().ok()) return;
  std::int64_t rows = call.states.front().rows;
  for (std::size_t part = 0; part < layout.parts.size(); ++part) {
    const StateRows<T>& state = call.states[part];
    const StatePart& wanted = layout.parts[part];
    shapes.require(state.stride >= wanted.elements(), [&] {
      return "states: rows of " + wanted.name + " are " + std::to_string(state.stride) + " apart, one takes " + std::to_string(wanted.elements());
    });
    const bool empty = state.rows == 0 || wanted.elements() == 0;  // a convolution of width 1 keeps no inputs
    shapes.require(state.data != nullptr || empty, [&] { return "states: " + wanted.name + " has no storage for its " + std::to_string(state.rows) + " rows"; });
    rows = std::min(rows, state.rows);
  }
  check_slots(call, N, rows, shapes);
}

template <typename T>
void check_seen(const LayerCall<T>& call, const LayerStateLayout& layout, std::int64_t N, ShapeCheck& shapes) {
  const bool bounded = layout.most_tokens > 0 && layout.ledger.shape.kind != LayerKind::window_attention;
  for (std::int64_t n = 0; n < N; ++n) {
    const std::int64_t seen = call.seen.given() ? call.seen(n) : 0;
    const auto of_request = [&] { return " of request " + std::to_string(n); };
    shapes.require(seen >= 0 && seen <= kMostTokens,
                   [&] { return "seen" + of_request() + " is " + std::to_string(seen) + ", must be from 0 to " + std::to_string(kMostTokens); });
    if (!bounded || !shapes.status().ok()) continue;
    const std::int64_t tokens = taken_tokens(call, n);
    shapes.require(seen <= layout.most_tokens - tokens, [&] {
      return "the history" + of_request() + " would hold " + std::to_string(seen) + " + " + std::to_string(tokens) + " tokens, it has room for " +
             std::to_string(layout.most_tokens);
    });
  }
}

template <typename T>
Status check(const LayerCall<T>& call, const Layer<T>& layer, std::int64_t& N) {
  const std::string kind(layer.kind());
  ShapeCheck shapes(kind.c_str());
  shapes.define("M", "the layer", layer.width()).required("hidden", call.hidden, "B T M").sequences(call.cu_seqlens);
  shapes.optional("mask", call.mask, "B T").optional("seen", call.seen, "N").required("out", call.out, "B T M");
  if (!shapes.status().ok()) return shapes.status();
  N = shapes.size("N");
  const LayerStateLayout layout = layer.state_layout();
  check_states(call, layout, N, shapes);
  if (shapes.status().ok()) check_seen(call, layout, N, shapes);
  return shapes.status();
}

}  // namespace

template <typename T>
Result<Call<T>> Call<T>::enter(const LayerCall<T>& call, const Layer<T>& layer) {
  std::int64_t N = 0;
  if (Status status = check(call, layer, N); !status.ok()) return status;
  Call entered;
  entered.from = &call;
  entered.ends.push_back(0);
  const std::int64_t time = call.hidden.extent(1);
  for (std::int64_t n = 0; n < N; ++n) {
    const TokenRange range = sequence_range(call.cu_seqlens, time, n);
    for (std::int64_t t = range.begin; t < range.end; ++t)
      if (!call.mask.given() || call.mask(range.row, t) != 0) entered.places_.push_back(range.row * time + t);
    entered.ends.push_back(static_cast<std::int64_t>(entered.places_.size()));
    entered.seen.push_back(call.seen.given() ? call.seen(n) : 0);
  }
  entered.x = Rows<T>(entered.ends.back(), layer.width());
  for (std::int64_t i = 0; i < entered.x.tokens(); ++i) {
    const std::int64_t place = entered.places_[static_cast<std::size_t>(i)];
    copy_row(sequence_rows(call.hidden, {place / time, 0, time}), place % time, entered.x.row(i));
  }
  return entered;
}

template <typename T>
T* Call<T>::state_row(std::size_t part, std::int64_t n) const {
  if (!keeps_states()) return nullptr;
  const std::int64_t row = from->slots.empty() ? n : from->slots[static_cast<std::size_t>(n)];
  return from->states[part].data + row * from->states[part].stride;
}

template <typename T>
void Call<T>::clear_if_begun(std::size_t part, std::int64_t n, std::int64_t elements) const {
  if (seen[static_cast<std::size_t>(n)] == 0) std::fill_n(state_row(part, n), elements, T{0});
}

template <typename T>
void Call<T>::show(std::string_view name, const Rows<T>& rows, std::int64_t first, std::vector<std::int64_t> shape) const {
  if (!from->tap) return;
  std::int64_t width = 1;
  for (std::int64_t extent : shape) width *= extent;
  std::vector<T> packed;
  for (std::int64_t t = 0; t < rows.tokens(); ++t) packed.insert(packed.end(), rows.row(t) + first, rows.row(t) + first + width);
  shape.insert(shape.begin(), rows.tokens());
  from->tap->take(name, shape, packed.data());
}

template <typename T>
void Call<T>::put(const Rows<T>& y) const {
  const View<T, 3>& out = from->out;
  if (static_cast<std::int64_t>(places_.size()) < out.extent(0) * out.extent(1))
    each_index<3>(out.extents(), [&](const Extents<3>& at) { out[at] = T{0}; });
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const T* row = y.row(static_cast<std::int64_t>(i));
    T* to = &out(places_[i] / out.extent(1), places_[i] % out.extent(1), 0);
    for (std::int64_t m = 0; m < out.extent(2); ++m) to[m * out.stride(2)] = row[m];
  }
}

template <typename T>
GatheredState<T>::GatheredState(const Call<T>& call, std::size_t part, std::int64_t elements) : call_(call), part_(part), elements_(elements) {
  const std::int64_t N = call.requests();
  bool together = call.keeps_states() && N > 0;
  for (std::int64_t n = 0; together && n < N; ++n) together = call.state_row(part, n) == call.state_row(part, 0) + n * elements;
  if (together) lent_ = call.state_row(part, 0);
  else copy_.resize(static_cast<std::size_t>(N * elements));
  for (std::int64_t n = 0; n < N; ++n) {
    const bool begins = call.seen[static_cast<std::size_t>(n)] == 0;
    if (begins && lent_) std::fill_n(lent_ + n * elements, elements, T{0});
    if (!begins && !lent_) std::copy_n(call.state_row(part, n), elements, copy_.data() + n * elements);
  }
}

template <typename T>
void GatheredState<T>::put_back() const {
  if (lent_ || !call_.keeps_states()) return;
  for (std::int64_t n = 0; n < call_.requests(); ++n) std::copy_n(copy_.data() + n * elements_, elements_, call_.state_row(part_, n));
}

template class Call<float>;
template class Call<double>;
template class GatheredState<float>;
template class GatheredState<double>;

}  // namespace linearmem::layers
