#include "linearmem/softmax_attention.hpp"

#include "mechanisms/declarations.hpp"
#include "mechanisms/option_text.hpp"
#include "mechanisms/typed_tensors.hpp"

namespace linearmem {
namespace {

template <typename T>
Result<NamedTensors> run_in(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  SoftmaxAttentionArguments<T> arguments{
      .q = inputs.template floating<4>("q"),
      .k = inputs.template floating<4>("k"),
      .v = inputs.template floating<4>("v"),
      .cu_seqlens = inputs.template integers<1>("cu_seqlens"),
      .causal = option_boolean(settings, "causal"),
      .window = option_integer(settings, "window"),
      .scale = option_number(settings, "scale"),
      .form = settings.form,
      .executor = settings.executor,
      .backend = settings.backend,
      .o = {},
  };
  const Extents<4> queries = arguments.q.extents();
  arguments.o = outputs.template make<4>("o", {queries[0], queries[1], queries[2], arguments.v.extent(3)});
  return through_door(
      inputs, outputs, [](const SoftmaxAttentionArguments<T>& a) { return softmax_attention(a); }, arguments);
}

Result<NamedTensors> run(const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
  return dtype == DType::f32 ? run_in<float>(tensors, settings) : run_in<double>(tensors, settings);
}

}  // namespace

Mechanism declare_softmax_attention() {
  return {
      .name = "softmax-attention",
      .room = "softmax_attention",
      .equation = "o_t = sum_s softmax_s(scale q_t k_s^T) v_s, over the keys visible to t",
      .inputs = {{"q", "B T H K"}, {"k", "B T Hk K"}, {"v", "B T Hk V"}, {"cu_seqlens", "N+1", TensorKind::integer, false}},
      .options = {{"causal", OptionKind::boolean, "true", "a query sees no later key"},
                  {"window", OptionKind::integer, "none", "tokens a query sees, its own included; none: all before it"},
                  {"scale", OptionKind::number, "none", "multiplies q; none: K^-1/2"}},
      .outputs = {"o"},
      .forms = {Form::reference, Form::explicit_, Form::streaming},
      .stream = {.impossible = "what it looks back at, every key and value, grows with the sequence"},
      .run = run,
  };
}

}  // namespace linearmem
