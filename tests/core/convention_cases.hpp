// Inputs for a mechanism as a convention has it, built from the axes its table declares: every tensor row-major in the convention's own order.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "conventions/sizes.hpp"
#include "linearmem/conventions.hpp"

namespace linearmem::test {

using LetterSizes = std::map<std::string, std::int64_t>;

// What a tensor's numbers must be like.
enum class Role { value, log_decay, factor, strength, step, negative };

inline Role role_of(const ConventionTensor& entry) {
  const std::string name = entry.name, ours = entry.ours;
  if (entry.form == NumberForm::factor) return Role::factor;
  if (ours == "g" || ours == "g_key") return Role::log_decay;
  if (ours == "beta" && entry.form == NumberForm::same) return Role::strength;
  if (ours == "A" && entry.form == NumberForm::same) return Role::negative;
  return Role::value;
}

// Sizes of a small case: 3 tokens, keys of 2, values of 3 (keys of 3 where the state is square), more value heads than key heads.
inline LetterSizes small_sizes(const std::string& convention) {
  const bool square = convention == "ggml" || convention == "flashinfer";
  LetterSizes sizes = {{"B", 1}, {"T", 3}, {"N", 1}, {"N+1", 2}, {"K", square ? 3 : 2}, {"V", 3}, {"H", 2}, {"Hv", 4},
                       {"HV", 4}, {"Hk", 2}, {"Hq", 4}, {"Hkv", 2}, {"P", 3}, {"G", 1}, {"D", 2}, {"W", 3}, {"W-1", 2}, {"W-1+T", 5}};
  if (convention == "onnxruntime") sizes["Hq"] = sizes["Hk"] = 2, sizes["Hkv"] = 4;
  return sizes;
}

inline std::vector<std::int64_t> shape_of(const char* axes, const LetterSizes& sizes) {
  std::vector<std::int64_t> shape;
  for (const AxisLetters& axis : parse_axes(axes)) {
    shape.push_back(1);
    for (const std::string& letter : axis) shape.back() *= sizes.at(letter);
  }
  return shape;
}

// Number i of the j-th tensor.
using Number = std::function<double(Role role, std::int64_t j, std::int64_t i)>;

// ((7 i + 3 j) mod 11 - 5) / 8; where a decay or a strength is meant, w = ((7 i + 3 j) mod 11 + 1) / 16, and -w for a logarithm.
inline double small_number(Role role, std::int64_t j, std::int64_t i) {
  const auto residue = static_cast<double>((7 * i + 3 * j) % 11);
  if (role == Role::value) return (residue - 5) / 8;
  const double w = (residue + 1) / 16;
  return role == Role::log_decay || role == Role::negative ? -w : w;
}

// All tensors that `wanted` names; of entries with one name, the first. j counts the entries with different names, from 0.
inline NamedTensors convention_inputs(const ConventionMechanism& mechanism, const LetterSizes& sizes, const std::vector<std::string>& wanted,
                                      const Number& number) {
  NamedTensors inputs;
  std::map<std::string, std::int64_t> order;
  for (const ConventionTensor& entry : mechanism.inputs) {
    const std::int64_t j = order.try_emplace(entry.name, static_cast<std::int64_t>(order.size())).first->second;
    if (inputs.count(entry.name) || std::find(wanted.begin(), wanted.end(), entry.name) == wanted.end()) continue;
    const std::vector<std::int64_t> shape = shape_of(entry.axes, sizes);
    std::int64_t count = 1;
    for (std::int64_t extent : shape) count *= extent;
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(number(role_of(entry), j, i));
    inputs[entry.name] = to_named(values, shape);
  }
  return inputs;
}

// One way to call it.
struct ConventionCase {
  const char* convention;
  const char* mechanism;
  std::vector<std::string> inputs;
  std::map<std::string, std::string> options;
  const char* output;  // what the worked number is the last element of
  const char* state;   // "": none comes out
};

inline const std::vector<ConventionCase>& convention_cases() {
  const std::map<std::string, std::string> heads = {{"q_num_heads", "4"}, {"kv_num_heads", "2"}}, fewer = {{"q_num_heads", "2"}, {"kv_num_heads", "4"}};
  const auto with = [](std::map<std::string, std::string> options, const char* name, const char* value) {
    options[name] = value;
    return options;
  };
  static const std::vector<ConventionCase> cases = {
      {"fla", "linear-attention", {"q", "k", "v", "g", "initial_state"}, {}, "o", "final_state"},
      {"fla", "delta-rule", {"q", "k", "v", "beta", "initial_state"}, {}, "o", "final_state"},
      {"fla", "gated-delta-rule", {"q", "k", "v", "g", "beta", "initial_state"}, {{"use_qk_l2norm_in_kernel", "true"}}, "o", "final_state"},
      {"fla", "causal-conv", {"x", "weight", "bias", "initial_state"}, {{"activation", "silu"}}, "y", "final_state"},
      {"onnx", "linear-attention", {"query", "key", "value", "past_state", "decay"}, with(heads, "update_rule", "gated"), "output", "present_state"},
      {"onnx", "delta-rule", {"query", "key", "value", "past_state", "beta"}, heads, "output", "present_state"},
      {"onnx", "gated-delta-rule", {"query", "key", "value", "past_state", "decay", "beta"}, heads, "output", "present_state"},
      {"onnx", "causal-conv", {"input", "weight", "bias", "past_state"}, {}, "output", "present_state"},
      {"onnxruntime", "linear-attention", {"query", "key", "value", "past_state"}, fewer, "output", "present_state"},
      {"onnxruntime", "delta-rule", {"query", "key", "value", "past_state", "beta"}, fewer, "output", "present_state"},
      {"onnxruntime", "gated-delta-rule", {"query", "key", "value", "past_state", "decay", "beta"}, fewer, "output", "present_state"},
      {"onnxruntime", "causal-conv", {"input", "weight", "bias", "past_state"}, {{"activation", "swish"}}, "output", "present_state"},
      {"ggml", "linear-attention", {"k", "v", "q", "g", "state"}, {{"scale", "0.5"}}, "output", "new_state"},
      {"ggml", "gated-delta-rule", {"q", "k", "v", "g", "beta", "state"}, {{"l2_norm", "true"}}, "output", "new_state"},
      {"ggml", "causal-conv", {"sx", "c"}, {}, "output", ""},
      {"ggml", "ssd", {"s", "x", "dt", "A", "B", "C"}, {}, "output", "new_state"},
      {"mlx", "gated-delta-rule", {"q", "k", "v", "g", "beta", "state"}, {{"rms_norm", "true"}}, "y", "state"},
      {"mlx", "causal-conv", {"mixed_qkv", "conv1d.weight", "conv_state"}, {}, "conv_out", "conv_state"},
      {"mlx", "ssd", {"hidden_states", "A_log", "B", "C", "D", "dt", "dt_bias", "state"}, {}, "y", "state"},
      {"flashinfer", "gated-delta-rule", {"q", "k", "v", "g", "beta", "initial_state", "cu_seqlens"}, {}, "output", "output_state"},
      {"flashinfer-decode", "gated-delta-rule", {"q", "k", "v", "state", "A_log", "a", "dt_bias", "b"}, {}, "output", "state"},
  };
  return cases;
}

inline const ConventionMechanism& mechanism_of(const char* convention, const char* mechanism) {
  return *find_mechanism(*find_convention(convention).value(), mechanism).value();
}

inline NamedTensors small_inputs(const ConventionCase& c) {
  NamedTensors inputs = convention_inputs(mechanism_of(c.convention, c.mechanism), small_sizes(c.convention), c.inputs, small_number);
  if (inputs.count("cu_seqlens")) inputs["cu_seqlens"] = to_named<std::int64_t>({0, 3}, {2});
  return inputs;
}

}  // namespace linearmem::test
