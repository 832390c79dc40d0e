// What a Sessions object is made of.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "linearmem/session.hpp"
#include "sessions/request_table.hpp"
#include "sessions/saved_form.hpp"

namespace linearmem {

namespace sessions {
inline std::string layer_text(std::size_t layer, std::string_view kind) { return "layer " + std::to_string(layer) + " (" + std::string(kind) + ")"; }
}  // namespace sessions

template <typename T>
struct Sessions<T>::Store {
  std::vector<const Layer<T>*> layers;
  std::vector<LayerStateLayout> layouts;
  std::int64_t row_bytes = 0;
  sessions::RequestTable table;
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
  Status load_request(const sessions::FoundRequest& found, const SessionSource& source, std::vector<SavedRequest>& loaded);
  Status run_layers(const SessionCall<T>& call, LayerCall<T>& layer_call);
  void set_broken(const SessionCall<T>& call, bool broken) {
    for (RequestHandle request : call.requests) table.slot(request).broken = broken;
  }
};

}  // namespace linearmem
