#include "linearmem/associative_memory.hpp"

#include "mechanisms/declarations.hpp"
#include "mechanisms/option_text.hpp"
#include "mechanisms/typed_tensors.hpp"

namespace linearmem {
namespace {

template <typename T>
Result<NamedTensors> run_read(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  ResponseRule rule = *response_named(option_choice(settings, "response"));
  rule.beta = *option_number(settings, "beta");
  rule.terms = static_cast<int>(*option_integer(settings, "terms"));
  AssociativeReadArguments<T> arguments{
      .keys = inputs.template floating<2>("keys"),
      .values = inputs.template floating<2>("values"),
      .queries = inputs.template floating<2>("queries"),
      .rule = rule,
      .form = settings.form,
      .o = {},
  };
  arguments.o = outputs.template make<2>("o", {arguments.queries.extent(0), arguments.values.extent(1)});
  return through_door(
      inputs, outputs, [](const AssociativeReadArguments<T>& a) { return associative_read(a); }, arguments);
}

template <typename T>
Result<NamedTensors> run_write(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  WriteReport report;
  AssociativeWriteArguments<T> arguments{
      .keys = inputs.template floating<2>("keys"),
      .values = inputs.template floating<2>("values"),
      .rule = *write_rule_named(option_choice(settings, "rule")),
      .beta = *option_number(settings, "beta"),
      .form = settings.form,
      .S = {},
      .report = &report,
  };
  arguments.S = outputs.template make<2>("state", {arguments.keys.extent(1), arguments.values.extent(1)});
  const View<T, 1> condition = outputs.template make<1>("condition", {1}), residual = outputs.template make<1>("residual", {1});
  const View<std::int64_t, 1> rank = outputs.template make_integers<1>("rank", {1});
  return through_door(
      inputs, outputs,
      [&](const AssociativeWriteArguments<T>& a) {
        const Status status = associative_write(a);
        rank(0) = report.rank;
        condition(0) = static_cast<T>(report.condition);
        residual(0) = static_cast<T>(report.residual);
        return status;
      },
      arguments);
}

template <typename T>
Result<NamedTensors> run_hopfield(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  HopfieldArguments<T> arguments{
      .patterns = inputs.template floating<2>("patterns"),
      .start = inputs.template floating<2>("start"),
      .beta = *option_number(settings, "beta"),
      .max_steps = *option_integer(settings, "max_steps"),
      .tolerance = *option_number(settings, "tolerance"),
      .form = settings.form,
      .states = {},
  };
  const std::int64_t Q = arguments.start.extent(0), rows = arguments.max_steps >= 1 ? arguments.max_steps + 1 : 0;
  arguments.states = outputs.template make<2>("states", arguments.start.extents());
  arguments.weights = outputs.template make<2>("weights", {Q, arguments.patterns.extent(0)});
  arguments.energy = outputs.template make<2>("energy", {rows, Q});
  arguments.steps = outputs.template make_integers<1>("steps", {Q});
  arguments.stopped = outputs.template make_integers<1>("stopped", {Q});
  return through_door(
      inputs, outputs, [](const HopfieldArguments<T>& a) { return hopfield(a); }, arguments);
}

}  // namespace

Mechanism declare_associative_read() {
  return {
      .name = "associative-read",
      .room = "associative_memory",
      .equation = "o = sum_i w_i v_i, w_i = response(q k_i^T)",
      .inputs = {{"keys", "M K"}, {"values", "M V"}, {"queries", "Q K"}},
      .options = {{"response", OptionKind::choice, "linear", "how a score becomes a weight",
                   {"linear", "relu", "relu2", "relu3", "exp", "truncated-exp", "softmax", "logn-softmax", "least-squares"}},
                  {"beta", OptionKind::number, "1", "multiplies scores in exp, truncated-exp and the softmaxes"},
                  {"terms", OptionKind::integer, "2", "of truncated-exp, 1 to 17; 2 is 1 + beta s"}},
      .outputs = {"o"},
      .forms = {Form::reference, Form::explicit_, Form::streaming},
      .run = [](const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
        return dtype == DType::f32 ? run_read<float>(tensors, settings) : run_read<double>(tensors, settings);
      },
  };
}

Mechanism declare_associative_write() {
  return {
      .name = "associative-write",
      .room = "associative_memory",
      .equation = "S = sum_i k_i^T v_i (outer-product), pinv(keys) values (least-squares), or S += beta k_i^T (v_i - k_i S) (delta)",
      .inputs = {{"keys", "M K"}, {"values", "M V"}},
      .options = {{"rule", OptionKind::choice, "outer-product", "how S is written", {"outer-product", "least-squares", "delta"}},
                  {"beta", OptionKind::number, "1", "how far each write of delta goes"}},
      .outputs = {"state", "condition", "residual", "rank"},
      .forms = {Form::reference},
      .run = [](const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
        return dtype == DType::f32 ? run_write<float>(tensors, settings) : run_write<double>(tensors, settings);
      },
  };
}

Mechanism declare_hopfield() {
  return {
      .name = "hopfield",
      .room = "associative_memory",
      .equation = "p = softmax(beta patterns x^T), x = p patterns, until p moves by at most the tolerance",
      .inputs = {{"patterns", "M K"}, {"start", "Q K"}},
      .options = {{"beta", OptionKind::number, "1", "how sharply a step picks one pattern, above 0"},
                  {"max_steps", OptionKind::integer, "1000", "steps at most, from 1"},
                  {"tolerance", OptionKind::number, "0.0001", "how far p may still move, Euclidean, at a stop; stopped is 1 then, 0 at max_steps"}},
      .outputs = {"states", "weights", "energy", "steps", "stopped"},
      .forms = {Form::reference},
      .run = [](const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
        return dtype == DType::f32 ? run_hopfield<float>(tensors, settings) : run_hopfield<double>(tensors, settings);
      },
  };
}

}  // namespace linearmem
