#include "linearmem/delta_rule.hpp"

#include "mechanisms/declarations.hpp"
#include "mechanisms/option_text.hpp"
#include "mechanisms/typed_tensors.hpp"

namespace linearmem {
namespace {

template <typename T>
Result<NamedTensors> run_in(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  DeltaRuleArguments<T> arguments{
      .q = inputs.template floating<4>("q"),
      .k = inputs.template floating<4>("k"),
      .v = inputs.template floating<4>("v"),
      .beta = inputs.template floating<3>("beta"),
      .g = inputs.template floating<3>("g"),
      .state = inputs.template floating<4>("state"),
      .cu_seqlens = inputs.template integers<1>("cu_seqlens"),
      .scale = option_number(settings, "scale"),
      .l2norm = option_boolean(settings, "l2norm"),
      .form = settings.form,
      .chunk = settings.chunk,
      .o = {},
  };
  const Extents<4> values = arguments.v.extents();
  arguments.o = outputs.template make<4>("o", values);
  arguments.reads = outputs.template make<4>("reads", values);
  arguments.final_state = outputs.template make<4>(
      "state", {sequence_count<T>(arguments.cu_seqlens, arguments.v), values[2], arguments.k.extent(3), values[3]});
  return through_door(
      inputs, outputs, [](const DeltaRuleArguments<T>& a) { return delta_rule(a); }, arguments);
}

Result<NamedTensors> run(const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
  return dtype == DType::f32 ? run_in<float>(tensors, settings) : run_in<double>(tensors, settings);
}

Mechanism declare(const char* name, const char* equation, const std::vector<InputSpec>& gate) {
  Mechanism mechanism{
      .name = name,
      .room = "delta_rule",
      .equation = equation,
      .inputs = {{"q", "B T H K"}, {"k", "B T H K"}, {"v", "B T Hv V"}, {"beta", "B T Hv"}},
      .options = {{"scale", OptionKind::number, "none", "multiplies q; none: K^-1/2"},
                  {"l2norm", OptionKind::boolean, "false", "divide q and k by sqrt(sum x^2 + 1e-6) first"}},
      .outputs = {"o", "reads", "state"},
      .forms = {Form::reference, Form::recurrent, Form::chunked, Form::explicit_},
      .run = run,
  };
  mechanism.inputs.insert(mechanism.inputs.end(), gate.begin(), gate.end());
  mechanism.inputs.push_back({"state", "N Hv K V", TensorKind::floating, false});
  mechanism.inputs.push_back({"cu_seqlens", "N+1", TensorKind::integer, false});
  return mechanism;
}

}  // namespace

Mechanism declare_delta_rule() {
  return declare("delta-rule", "S_t = S_{t-1} + beta_t k_t^T (v_t - k_t S_{t-1});  o_t = scale q_t S_t", {});
}

Mechanism declare_gated_delta_rule() {
  return declare("gated-delta-rule", "S' = exp(g_t) S_{t-1};  S_t = S' + beta_t k_t^T (v_t - k_t S');  o_t = scale q_t S_t",
                 {{"g", "B T Hv"}});
}

}  // namespace linearmem
