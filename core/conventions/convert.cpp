#include "conventions/steps.hpp"
#include "mechanisms/option_text.hpp"

namespace linearmem {
namespace {

Status run_step(ConversionRules::Step step, Exchange& exchange) { return step ? step(exchange) : Status(); }

Exchange begin(const ConventionMechanism& mechanism, const RunSettings& settings, const NamedTensors& given) {
  return {.mechanism = mechanism, .settings = settings, .sizes = Sizes(door_of(mechanism)), .given = &given};
}

// For outputs: the inputs tell the sizes, and their options are `all`.
Result<Exchange> begin_outputs(const ConventionMechanism& mechanism, const NamedTensors& inputs, const Result<RunSettings>& all) {
  if (!all.ok()) return all.status();
  Exchange exchange = begin(mechanism, all.value(), inputs);
  Status status = check_given(mechanism, mechanism.inputs, inputs, false);
  if (status.ok()) status = sizes_from_options(exchange);
  if (status.ok()) status = entries_meant(exchange, mechanism.inputs).status();
  if (!status.ok()) return status;
  return exchange;
}

bool norm_forgets(const Exchange& exchange) {
  const ConversionRules& rules = exchange.rules();
  return rules.norm_option && rules.norm != QkNorm::inside_root && option_boolean(exchange.settings, rules.norm_option);
}

}  // namespace

std::string door_of(const ConventionMechanism& mechanism) { return std::string(mechanism.convention) + " " + mechanism.mechanism; }

Status refuse(const ConventionMechanism& mechanism, const std::string& sentence) {
  return Status::invalid(door_of(mechanism) + ": " + sentence);
}

const ConversionRules& Exchange::rules() const { return *mechanism.rules; }

Result<NativeCall> to_native(const ConventionMechanism& mechanism, const NamedTensors& inputs, const RunSettings& settings) {
  if (!mechanism.rules) return NativeCall{inputs, settings};
  const auto all = with_all_options(mechanism, settings);
  if (!all.ok()) return all.status();
  Exchange exchange = begin(mechanism, all.value(), inputs);
  Status status = mechanism.rules->check ? mechanism.rules->check(mechanism, inputs, all.value()) : Status();
  if (status.ok()) status = check_given(mechanism, mechanism.inputs, inputs, false);
  if (status.ok()) status = check_required(mechanism, inputs);
  if (status.ok()) status = sizes_from_options(exchange);
  if (status.ok()) status = move_to_ours(exchange, mechanism.inputs);
  if (status.ok()) status = run_step(mechanism.rules->inputs_to_ours, exchange);
  if (!status.ok()) return status;
  auto ours = our_settings(exchange);
  if (!ours.ok()) return ours.status();
  return NativeCall{std::move(exchange.ours), std::move(ours).value()};
}

Result<NamedTensors> from_native(const ConventionMechanism& mechanism, const NamedTensors& inputs, const RunSettings& settings) {
  if (!mechanism.rules) return inputs;
  const auto all = with_all_options(mechanism, settings);
  if (!all.ok()) return all.status();
  Exchange exchange = begin(mechanism, all.value(), inputs);
  if (norm_forgets(exchange))
    return refuse(mechanism, std::string("option ") + mechanism.rules->norm_option + " cannot be undone: a norm forgets lengths");
  exchange.ours = inputs;
  Status status = sizes_from_options(exchange);
  if (status.ok()) status = run_step(mechanism.rules->inputs_to_theirs, exchange);
  if (status.ok()) status = check_given(mechanism, mechanism.inputs, exchange.ours, true);
  if (status.ok()) status = undo_scale(exchange);
  if (status.ok()) status = move_to_theirs(exchange, mechanism.inputs);
  if (status.ok() && mechanism.rules->check) status = mechanism.rules->check(mechanism, exchange.theirs, all.value());
  if (status.ok()) status = check_required(mechanism, exchange.theirs);
  if (!status.ok()) return status;
  return std::move(exchange.theirs);
}

Result<NamedTensors> outputs_from_native(const ConventionMechanism& mechanism, const NamedTensors& outputs, const NamedTensors& inputs,
                                         const RunSettings& settings) {
  if (!mechanism.rules) return outputs;
  const auto all = with_all_options(mechanism, settings);
  auto begun = begin_outputs(mechanism, inputs, all);
  if (!begun.ok()) return begun.status();
  Exchange& exchange = begun.value();
  exchange.ours = outputs;
  Status status = check_ours(mechanism, mechanism.outputs, outputs);
  if (status.ok()) status = move_to_theirs(exchange, mechanism.outputs);
  if (status.ok()) status = run_step(mechanism.rules->outputs_to_theirs, exchange);
  if (!status.ok()) return status;
  return std::move(exchange.theirs);
}

Result<NamedTensors> outputs_to_native(const ConventionMechanism& mechanism, const NamedTensors& outputs, const NamedTensors& inputs,
                                       const RunSettings& settings) {
  if (!mechanism.rules) return outputs;
  const auto all = with_all_options(mechanism, settings);
  auto begun = begin_outputs(mechanism, inputs, all);
  if (!begun.ok()) return begun.status();
  Exchange& exchange = begun.value();
  exchange.given = &outputs;
  Status status = check_given(mechanism, mechanism.outputs, outputs, false);
  if (status.ok()) status = move_to_ours(exchange, mechanism.outputs);
  if (status.ok()) status = run_step(mechanism.rules->outputs_to_ours, exchange);
  if (!status.ok()) return status;
  return std::move(exchange.ours);
}

Result<NamedTensors> run_mechanism(const ConventionMechanism& mechanism, const NamedTensors& inputs, const RunSettings& settings) {
  if (!mechanism.rules) return run_mechanism(mechanism.mechanism, inputs, settings);
  const auto call = to_native(mechanism, inputs, settings);
  if (!call.ok()) return call.status();
  const auto outputs = run_mechanism(mechanism.mechanism, call.value().inputs, call.value().settings);
  if (!outputs.ok()) return outputs.status();
  return outputs_from_native(mechanism, outputs.value(), inputs, settings);
}

}  // namespace linearmem
