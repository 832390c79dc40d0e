// Named tensors for the registry's mechanisms, and what a refusal says.
#pragma once

#include <string>
#include <vector>

#include "core/support.hpp"
#include "linearmem/mechanisms.hpp"

namespace linearmem::test {

using NamedShape = std::vector<std::int64_t>;

template <typename T = double>
NamedTensor filled(const NamedShape& shape, std::uint64_t seed, double low = -1, double high = 1) {
  Numbers numbers(seed);
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(numbers.uniform(low, high));
  return to_named(values, shape);
}

inline std::string refusal(const char* mechanism, const NamedTensors& inputs, const RunSettings& settings = {}) {
  const auto outputs = run_mechanism(mechanism, inputs, settings);
  return outputs.ok() ? "accepted" : outputs.status().message();
}

}  // namespace linearmem::test
