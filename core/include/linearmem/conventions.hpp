// The same mechanisms as other libraries call them: tensor names, order of axes, gate as a logarithm or a factor, state key first or
// value first, map of heads, scale, place of epsilon. Each is a named adapter over named tensors, in both directions; what differs is
// listed as data. Conventions: "linearmem" (ours), "fla", "onnx", "onnxruntime", "ggml", "mlx", "flashinfer", "flashinfer-decode".
// core/conventions/README.md has the table, with a worked number for each.
#pragma once

#include <string_view>
#include <vector>

#include "linearmem/mechanisms.hpp"

namespace linearmem {

// How the numbers of a tensor stand to ours.
enum class NumberForm {
  same,
  factor,           // ours is its natural logarithm: a decay given as a factor
  log_of_negative,  // ours is -exp of it: A_log
  before_softplus,  // ours is log(1 + exp(it))
  before_sigmoid,   // ours is 1 / (1 + exp(-it))
};

// One tensor there and here. Sizes are named by the same letters on both sides. Of several entries with one name, the one whose axes
// fit is meant.
struct ConventionTensor {
  const char* name;      // "past_state"
  const char* axes;      // there, last axis contiguous: "B T Hq*K" packs two sizes into one axis, "1" is an axis of size 1
  const char* ours;      // "state"; "": a parameter that goes into other tensors
  const char* our_axes;  // "B Hkv>Hq K V": Hkv heads, each repeated so that there are Hq
  NumberForm form = NumberForm::same;
  bool required = true;
  TensorKind kind = TensorKind::floating;
};

// One way in which a convention departs from ours: {"state", "key first", "value first"}.
struct Difference {
  const char* what;
  const char* ours;
  const char* theirs;
};

struct ConversionRules;  // how it is done; the library's own

// A mechanism as a convention has it.
struct ConventionMechanism {
  const char* convention;
  const char* mechanism;  // ours: "gated-delta-rule"
  const char* function;   // theirs
  const char* source;     // the file it was read in, and its version
  std::vector<ConventionTensor> inputs, outputs;
  std::vector<OptionSpec> options;  // theirs; allow_growth and state_dtype of ours may be set beside them
  std::vector<Difference> differences;
  const ConversionRules* rules = nullptr;  // none: everything is handed on as it is
};

struct Convention {
  const char* name;
  const char* meaning;
  std::vector<ConventionMechanism> mechanisms;
};

const std::vector<Convention>& conventions();
// Errors: an unknown name, or a mechanism that the convention does not have; the message lists those that are there.
Result<const Convention*> find_convention(std::string_view name);
Result<const ConventionMechanism*> find_mechanism(const Convention& convention, std::string_view mechanism);

// A call of ours: what run_mechanism takes.
struct NativeCall {
  NamedTensors inputs;
  RunSettings settings;
};

// Their inputs and options to ours. What is only moved keeps its bits and its dtype; what is computed (logarithms, scale, norms) is
// computed in float64 and has its input's dtype, F32 for BF16 and F16, F64 when settings.dtype is f64.
// Errors: a tensor or option by a name the convention does not have, one that is missing or that the rule must not receive, axes that
// differ, head counts that do not divide, a decay factor below 0; each names the tensor, the axis and both numbers.
Result<NativeCall> to_native(const ConventionMechanism& mechanism, const NamedTensors& inputs, const RunSettings& settings);

// Our inputs (with our default options) to theirs; settings.options are theirs. The inverse of to_native: bit for bit where numbers are
// only moved. Errors, beside those above: what they cannot say, as two query heads that share a state there and have two here.
Result<NamedTensors> from_native(const ConventionMechanism& mechanism, const NamedTensors& inputs, const RunSettings& settings);

// Our outputs to theirs and back; `inputs` are theirs, for the sizes that outputs do not show. Errors: those of to_native.
Result<NamedTensors> outputs_from_native(const ConventionMechanism& mechanism, const NamedTensors& outputs, const NamedTensors& inputs,
                                         const RunSettings& settings);
Result<NamedTensors> outputs_to_native(const ConventionMechanism& mechanism, const NamedTensors& outputs, const NamedTensors& inputs,
                                       const RunSettings& settings);

// Their inputs -> their outputs, computed by our mechanism. settings.options are theirs; form, chunk, dtype, executor and backend are ours.
// Errors: those of to_native and of our mechanism.
Result<NamedTensors> run_mechanism(const ConventionMechanism& mechanism, const NamedTensors& inputs, const RunSettings& settings);

}  // namespace linearmem
