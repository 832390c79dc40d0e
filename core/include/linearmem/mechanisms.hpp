// The registry of mechanisms that run on named tensors: what `linearmem run` and the WASM module call.
// Everything that is refused by name (mechanism, tensor, axis, option, form, dtype) is refused here, once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linearmem/backend.hpp"
#include "linearmem/executor.hpp"
#include "linearmem/form.hpp"
#include "linearmem/named_tensors.hpp"
#include "linearmem/status.hpp"

namespace linearmem {

enum class TensorKind { floating, integer, boolean };

struct InputSpec {
  const char* name;
  const char* axes;  // "B T H K": one letter group per axis, equal letters are equal sizes
  TensorKind kind = TensorKind::floating;
  bool required = true;
};

enum class OptionKind { number, integer, boolean, choice, text };  // text: the mechanism itself reads and refuses it

struct OptionSpec {
  const char* name;
  OptionKind kind;
  const char* default_text;  // as a person would type it; "none" means not set
  const char* meaning;
  std::vector<const char*> choices = {};  // OptionKind::choice only
};

struct RunSettings {
  std::optional<DType> dtype = {};  // f32 or f64; when absent, the one the floating inputs share
  Form form = Form::automatic;
  std::int64_t chunk = 0;  // tokens per chunk in Form::chunked; 0 lets the door choose
  std::map<std::string, std::string> options = {};
  const Executor* executor = nullptr;  // whose threads to use; none: the calling thread
  const Backend* backend = nullptr;    // where to compute; none: this processor
};

// How a sequence may be cut into blocks of tokens that run one after the other, in memory that does not grow with it.
struct StreamSpec {
  // Outputs of one block that are inputs of the next, by the same name: [N,...], one per sequence. Other outputs are [B,T,...].
  std::vector<const char*> carried = {};
  const char* bounded_by = nullptr;  // the option that must be set, to a number of tokens, or what is carried grows without end
  const char* needs = nullptr;       // the boolean option that must be true
  const char* impossible = "it has no state that is carried from token to token";  // why not, where nothing is carried
};

struct Mechanism {
  const char* name;  // "gated-delta-rule"; '_' is read as '-' on input
  const char* room;  // "delta_rule"
  const char* equation;
  std::vector<InputSpec> inputs;
  std::vector<OptionSpec> options;
  std::vector<const char*> outputs;
  std::vector<Form> forms;
  StreamSpec stream = {};
  // Called with inputs of declared kind and rank and with every option present and of its declared kind.
  Result<NamedTensors> (*run)(const NamedTensors& inputs, const RunSettings& settings, DType dtype);
};

const std::vector<Mechanism>& mechanisms();
// Errors of all three: an unknown name; the message lists those that are known.
Result<const Mechanism*> find_mechanism(std::string_view name);
Result<Form> find_form(const Mechanism& mechanism, std::string_view name);  // "automatic" or one of mechanism.forms
Result<DType> find_compute_dtype(std::string_view name);                    // "f32" or "f64"

// inputs -> outputs, or one Status and nothing. Outputs have the compute dtype; counts are I64. Errors: a tensor, option, form or dtype by a
// name it does not have, a required tensor that is missing, one of another kind, rank or number of bytes, axes that differ, floating inputs
// of two dtypes where settings.dtype is absent, and what the door refuses.
Result<NamedTensors> run_mechanism(std::string_view name, const NamedTensors& inputs, const RunSettings& settings);
Result<NamedTensors> run_mechanism(const Mechanism& mechanism, const NamedTensors& inputs, const RunSettings& settings);

}  // namespace linearmem
