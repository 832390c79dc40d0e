// The states of the requests of a run: where they come from, and where they go when all is done.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linearmem/layer_state.hpp"
#include "safetensors_file.hpp"

namespace linearmem::cli {

template <typename T>
class LayerStates {
 public:
  virtual ~LayerStates() = default;

  // A call on one request, or on all; all but states, slots and seen is set.
  virtual Status forward(LayerCall<T>& call, std::optional<std::int64_t> request) = 0;
  virtual std::map<std::string, TensorShape> shapes() const = 0;  // tensors of the output, beside `out`
  virtual Status write(SafetensorsOutput& output) = 0;            // those, and whatever is on disk before the output takes its place
  virtual Status commit() = 0;                                    // after the output has
};

// The requests of a session file, which is made where there is none; each one's id is that in `ids`. Requests that are not in the file begin,
// those that the run does not name are kept as they are. `weights`: SessionSettings::weights. Errors: another number of ids than
// `requests`, an id given twice, those of load_session.
template <typename T>
Result<std::unique_ptr<LayerStates<T>>> session_states(const Layer<T>& layer, const std::string& file, const std::vector<std::int64_t>& ids,
                                                       std::int64_t requests, std::uint64_t weights);

}  // namespace linearmem::cli
