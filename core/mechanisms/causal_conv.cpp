#include "linearmem/causal_conv.hpp"

#include "mechanisms/declarations.hpp"
#include "mechanisms/option_text.hpp"
#include "mechanisms/typed_tensors.hpp"

namespace linearmem {
namespace {

template <typename T>
Result<NamedTensors> run_in(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  CausalConvArguments<T> arguments{
      .x = inputs.template floating<3>("x"),
      .weight = inputs.template floating<2>("weight"),
      .bias = inputs.template floating<1>("bias"),
      .state = inputs.template floating<3>("state"),
      .cu_seqlens = inputs.template integers<1>("cu_seqlens"),
      .activation = *activation_named(option_choice(settings, "activation")),
      .form = settings.form,
      .executor = settings.executor,
      .y = {},
  };
  const std::int64_t W = arguments.weight.extent(1);
  arguments.y = outputs.template make<3>("y", arguments.x.extents());
  arguments.final_state = outputs.template make<3>("state", {sequence_count(arguments.cu_seqlens, arguments.x), arguments.weight.extent(0),
                                                             W > 0 ? W - 1 : 0});  // no taps: the door's to refuse
  return through_door(inputs, outputs, [](const CausalConvArguments<T>& a) { return causal_conv(a); }, arguments);
}

Result<NamedTensors> run(const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
  return dtype == DType::f32 ? run_in<float>(tensors, settings) : run_in<double>(tensors, settings);
}

}  // namespace

Mechanism declare_causal_conv() {
  return {
      .name = "causal-conv",
      .room = "causal_conv",
      .equation = "y_t = activation(bias + sum_j weight_j x_{t-W+1+j})",
      .inputs = {{"x", "B T D"},
                 {"weight", "D W"},
                 {"bias", "D", TensorKind::floating, false},
                 {"state", "N D W-1", TensorKind::floating, false},
                 {"cu_seqlens", "N+1", TensorKind::integer, false}},
      .options = {{"activation", OptionKind::choice, "silu", "applied to the sum", {"silu", "none"}}},
      .outputs = {"y", "state"},
      .forms = {Form::reference, Form::recurrent},
      .stream = {.carried = {"state"}},
      .run = run,
  };
}

}  // namespace linearmem
