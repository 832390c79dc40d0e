// Weights by name: what is wrong with a set of them, all at once, and their values.
#pragma once

#include <string>
#include <vector>

#include "layers/projection.hpp"
#include "linearmem/layers.hpp"

namespace linearmem::layers {

// Errors name every weight that is missing, not known, or of another shape or kind.
Status check_weights(const std::string& kind, const std::vector<LayerWeight>& wanted, const NamedTensors& given);

// The values of weights that have been checked; none where there is no weight of this name.
template <typename T>
class Weights {
 public:
  explicit Weights(const NamedTensors& tensors) : tensors_(tensors) {}

  std::vector<T> operator()(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) return {};
    auto values = floating_values<T>(name, found->second);
    return values.ok() ? std::move(values).value() : std::vector<T>();
  }

 private:
  const NamedTensors& tensors_;
};

// "NAME.weight" [to,from] and, where there is one, "NAME.bias" [to].
template <typename T>
Projection<T> projection_of(const Weights<T>& weights, const std::string& name, std::int64_t from, std::int64_t to) {
  Projection<T> projection(from, to);
  const std::vector<T> bias = weights(name + ".bias");
  projection.set_rows(weights(name + ".weight").data(), bias.empty() ? nullptr : bias.data());
  return projection;
}

}  // namespace linearmem::layers
