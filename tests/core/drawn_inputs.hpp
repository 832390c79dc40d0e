// Random inputs for any mechanism, by the axes it declares.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/support.hpp"
#include "foundation/shape_check.hpp"
#include "linearmem/mechanisms.hpp"

namespace linearmem::test {

using AxisSizes = std::map<std::string, std::int64_t>;  // by letter

inline double drawn_value(Numbers& numbers, const std::string& name) {
  if (name == "g" || name == "g_key") return numbers.uniform(-0.5, 0);
  if (name == "A") return numbers.uniform(-1, -0.1);
  if (name == "beta" || name == "p" || name == "model_prob") return numbers.uniform(0, 1);
  if (name == "dt") return numbers.uniform(0, 0.5);
  return numbers.uniform(-0.7, 0.7);
}

// The tensor of one input, floating or boolean; one in four is false.
inline NamedTensor drawn_tensor(Numbers& numbers, const InputSpec& spec, const AxisSizes& sizes) {
  std::vector<std::int64_t> shape;
  std::int64_t count = 1;
  for (const std::string& letter : axis_letters(spec.axes)) {
    shape.push_back(letter == "W-1" ? sizes.at("W") - 1 : sizes.at(letter));
    count *= shape.back();
  }
  if (spec.kind == TensorKind::boolean) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(count));
    for (std::uint8_t& value : values) value = numbers.whole(0, 3) > 0;
    return to_named(values, std::move(shape));
  }
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = drawn_value(numbers, spec.name);
  return to_named(values, std::move(shape));
}

// Every floating or boolean input for whose axes there are sizes. Of g and g_key the one that is named.
inline NamedTensors drawn_inputs(Numbers& numbers, const Mechanism& mechanism, const AxisSizes& sizes, const std::string& gate = "g") {
  NamedTensors inputs;
  for (const InputSpec& spec : mechanism.inputs) {
    const std::string name = spec.name;
    if (spec.kind == TensorKind::integer || ((name == "g" || name == "g_key") && name != gate)) continue;
    bool known = true;
    for (const std::string& letter : axis_letters(spec.axes)) known = known && (letter == "W-1" || sizes.count(letter) > 0);
    if (known) inputs[name] = drawn_tensor(numbers, spec, sizes);
  }
  return inputs;
}

}  // namespace linearmem::test
