#include "linearmem/delta_rule.hpp"

#include "mechanisms/declarations.hpp"
#include "mechanisms/option_text.hpp"
#include "mechanisms/state_options.hpp"
#include "mechanisms/typed_tensors.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kListedFindings = 1000;  // of each kind

// audit_totals [3], audit_at [n,4] and audit_number [n]; the three kinds in the order of StabilityReport.
template <typename T>
void add_report(const StabilityReport& report, NamedTensors& outputs) {
  std::vector<std::int64_t> totals, at;
  std::vector<T> numbers;
  for (const StabilityFindings* findings : {&report.unstable_writes, &report.growing_gates, &report.growing_states}) {
    for (const StabilityFinding& finding : findings->listed) {
      at.insert(at.end(), {static_cast<std::int64_t>(totals.size()), finding.batch, finding.token, finding.head});
      numbers.push_back(static_cast<T>(finding.number));
    }
    totals.push_back(findings->total);
  }
  const auto count = static_cast<std::int64_t>(numbers.size());
  outputs.emplace("audit_totals", to_named(totals, {3}));
  outputs.emplace("audit_at", to_named(at, {count, 4}));
  outputs.emplace("audit_number", to_named(numbers, {count}));
}

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
      .g_key = inputs.template floating<4>("g_key"),
      .state = inputs.template floating<4>("state"),
      .cu_seqlens = inputs.template integers<1>("cu_seqlens"),
      .scale = option_number(settings, "scale"),
      .allow_growth = option_allow_growth(settings),
      .l2norm = option_boolean(settings, "l2norm"),
      .form = settings.form,
      .chunk = settings.chunk,
      .state_type = option_state_type(settings),
      .checkpoint_every = *option_integer(settings, "checkpoint_every"),
      .executor = settings.executor,
      .backend = settings.backend,
      .o = {},
  };
  const Extents<4> values = arguments.v.extents();
  arguments.o = outputs.template make<4>("o", values);
  arguments.reads = outputs.template make<4>("reads", values);
  const std::int64_t N = sequence_count(arguments.cu_seqlens, arguments.v), K = arguments.k.extent(3);
  arguments.final_state = outputs.template make<4>("state", {N, values[2], K, values[3]});
  if (arguments.checkpoint_every != 0) {
    const std::int64_t M = checkpoint_count(arguments.cu_seqlens, values[0], values[1], arguments.checkpoint_every);
    arguments.checkpoints = outputs.template make<4>("checkpoints", {M, values[2], K, values[3]});
  }
  auto named = through_door(
      inputs, outputs, [](const DeltaRuleArguments<T>& a) { return delta_rule(a); }, arguments);
  if (!named.ok() || !option_boolean(settings, "audit")) return named;
  const auto report = audit_delta_rule(arguments, kListedFindings);
  if (!report.ok()) return report.status();
  add_report<T>(report.value(), named.value());
  return named;
}

Result<NamedTensors> run(const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
  return dtype == DType::f32 ? run_in<float>(tensors, settings) : run_in<double>(tensors, settings);
}

Result<NamedTensors> run_gated(const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
  if (!tensors.count("g") && !tensors.count("g_key"))
    return Status::invalid("gated-delta-rule: g is missing; it is [B,T,Hv], or g_key [B,T,Hv,K] in its place");
  return run(tensors, settings, dtype);
}

Mechanism declare(const char* name, const char* equation, const std::vector<InputSpec>& gates) {
  Mechanism mechanism{
      .name = name,
      .room = "delta_rule",
      .equation = equation,
      .inputs = {{"q", "B T H K"}, {"k", "B T H K"}, {"v", "B T Hv V"}, {"beta", "B T Hv"}},
      .options = {{"scale", OptionKind::number, "none", "multiplies q; none: K^-1/2"},
                  {"l2norm", OptionKind::boolean, "false", "divide q and k by sqrt(sum x^2 + 1e-6) first"}},
      .outputs = {"o", "reads", "state"},
      .forms = {Form::reference, Form::recurrent, Form::chunked, Form::explicit_},
      .stream = {.carried = {"state"}},
      .run = gates.empty() ? run : run_gated,
  };
  mechanism.inputs.insert(mechanism.inputs.end(), gates.begin(), gates.end());
  add_state_options(mechanism.options, !gates.empty(),
                    "n: one more output, checkpoints [M,Hv,K,V], the states after tokens n, 2n, ... of each sequence; 0: none");
  mechanism.options.push_back(
      {"audit", OptionKind::boolean, "false",
       "three more outputs: audit_totals [3] counts writes with beta |k|^2 above 2 or below 0, gates above 0 and states that grew "
       "by more than was written; audit_at [n,4] and audit_number [n] list the first 1000 of each: kind, batch, token, head; number"});
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
                 {{"g", "B T Hv", TensorKind::floating, false}, {"g_key", "B T Hv K", TensorKind::floating, false}});
}

}  // namespace linearmem
