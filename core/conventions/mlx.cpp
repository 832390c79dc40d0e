// mlx-lm: gates as factors or out of their parameters, states value first, q and k already scaled by the layer.
#include <cmath>

#include "conventions/rules.hpp"
#include "foundation/activation.hpp"
#include "mechanisms/option_text.hpp"

namespace linearmem {
namespace {

// Either g and beta, or a, b, A_log and dt_bias of gated_delta_update.
Status check_gates(const ConventionMechanism& mechanism, const NamedTensors& inputs, const RunSettings&) {
  bool parameters = false;
  for (const char* name : {"a", "b", "A_log", "dt_bias"}) parameters |= inputs.count(name) > 0;
  for (const char* name : {"g", "beta"})
    if (parameters && inputs.count(name)) return refuse(mechanism, std::string(name) + " is given beside a, b, A_log or dt_bias, which stand for it");
  const std::vector<const char*> needed = parameters ? std::vector<const char*>{"a", "b", "A_log", "dt_bias"} : std::vector<const char*>{"g", "beta"};
  for (const char* name : needed)
    if (!inputs.count(name)) return refuse(mechanism, std::string(name) + " is missing; the gates are g and beta, or a, b, A_log and dt_bias");
  return {};
}

Status gates_to_ours(Exchange& exchange) {
  if (!exchange.parameters.count("a")) return {};
  auto g = log_decay_of(exchange, exchange.parameters.at("a"), exchange.parameters.at("A_log"), exchange.parameters.at("dt_bias"));
  if (!g.ok()) return g.status();
  exchange.ours["g"] = std::move(g).value();
  return {};
}

struct Limits {
  double low, high;
};

Limits step_limits(const Exchange& exchange) {
  return {*option_number(exchange.settings, "time_step_min"), *option_number(exchange.settings, "time_step_max")};
}

// dt = softplus(dt + dt_bias), not outside the limits.
Status steps_to_ours(Exchange& exchange) {
  const auto bias = doubles_of("dt_bias", exchange.parameters.at("dt_bias"));
  const NamedTensor& dt = exchange.parameters.at("dt");
  auto values = doubles_of("dt", dt);
  if (!bias.ok() || !values.ok()) return bias.ok() ? values.status() : bias.status();
  const Limits limits = step_limits(exchange);
  const std::size_t H = bias.value().size();
  for (std::size_t i = 0; i < values.value().size(); ++i) {
    double& step = values.value()[i];
    step = softplus(step + bias.value()[i % H]);
    if (step < limits.low) step = limits.low;
    if (step > limits.high) step = limits.high;
  }
  exchange.ours["dt"] = tensor_of(values.value(), dt.shape, computed_dtype(dt.dtype, exchange.settings.dtype));
  return {};
}

// With dt_bias 0. Steps outside the limits do not exist there.
Status steps_to_theirs(Exchange& exchange) {
  const auto found = exchange.ours.find("dt");
  if (found == exchange.ours.end() || found->second.shape.size() != 3) return refuse(exchange.mechanism, "dt [B,T,H] is needed");
  const NamedTensor dt = found->second;
  const auto values = doubles_of("dt", dt);
  if (!values.ok()) return values.status();
  const Limits limits = step_limits(exchange);
  for (std::size_t i = 0; i < values.value().size(); ++i)
    if (const double step = values.value()[i]; step < limits.low || step > limits.high)
      return refuse(exchange.mechanism,
                    "dt: element " + std::to_string(i) + " is " + std::to_string(step) + ", outside time_step_min and time_step_max");
  auto before = form_to_theirs(NumberForm::before_softplus, door_of(exchange.mechanism) + ": dt", dt, exchange.settings.dtype);
  if (!before.ok()) return before.status();
  exchange.theirs["dt_bias"] = filled(0, {dt.shape[2]}, before.value().dtype);
  exchange.theirs["dt"] = std::move(before).value();
  exchange.ours.erase("dt");
  return {};
}

const ConversionRules kGatedDelta{.scale = ScaleRule::one, .norm = QkNorm::on_mean, .norm_option = "rms_norm", .check = check_gates,
                                  .inputs_to_ours = gates_to_ours};
const ConversionRules kConv{.fixed = {{"activation", "silu"}}};
const ConversionRules kSsd{.inputs_to_ours = steps_to_ours, .inputs_to_theirs = steps_to_theirs};

ConventionMechanism gated_delta_rule() {
  return {"mlx", "gated-delta-rule", "gated_delta_ops (g, beta), gated_delta_update (a, b, A_log, dt_bias)",
          "ml-explore/mlx-lm mlx_lm/models/gated_delta.py at 0c5550a and qwen3_next.py at 02de46c",
          {{"q", "B T Hk K", "q", "B T Hk K"}, {"k", "B T Hk K", "k", "B T Hk K"}, {"v", "B T Hv V", "v", "B T Hv V"},
           {"g", "B T Hv", "g", "B T Hv", NumberForm::factor, false}, {"g", "B T Hv K", "g_key", "B T Hv K", NumberForm::factor, false},
           {"beta", "B T Hv", "beta", "B T Hv", NumberForm::same, false}, {"a", "B T Hv", "", "B T Hv", NumberForm::same, false},
           {"b", "B T Hv", "beta", "B T Hv", NumberForm::before_sigmoid, false}, {"A_log", "Hv", "", "Hv", NumberForm::same, false},
           {"dt_bias", "Hv", "", "Hv", NumberForm::same, false}, {"state", "B Hv V K", "state", "B Hv K V", NumberForm::same, false}},
          {{"y", "B T Hv V", "o", "B T Hv V"}, {"state", "B Hv V K", "state", "B Hv K V"}},
          {{"rms_norm", OptionKind::boolean, "false",
            "as Qwen3-Next's layer does before: k becomes K^-1/2 x / sqrt(mean x^2 + 1e-6), q that and once more times K^-1/2"}},
          {{"names", "o", "y"}, {"gate", "log decay", "factor, or a, A_log and dt_bias: -exp(A_log) softplus(a + dt_bias) is its logarithm"},
           {"beta", "strength", "strength, or b before a sigmoid"}, {"state", "key first", "value first"}, {"scale", "K^-1/2 where absent", "1: the layer has scaled q"},
           {"norm epsilon", "inside the root", "on the mean of the squares"}},
          &kGatedDelta};
}

ConventionMechanism causal_conv() {
  return {"mlx", "causal-conv", "the convolution of Qwen3NextGatedDeltaNet", "ml-explore/mlx-lm mlx_lm/models/qwen3_next.py at 02de46c",
          {{"mixed_qkv", "B T D", "x", "B T D"}, {"conv1d.weight", "D W 1", "weight", "D W"},
           {"conv_state", "B W-1 D", "state", "B D W-1", NumberForm::same, false}},
          {{"conv_out", "B T D", "y", "B T D"}, {"conv_state", "B W-1 D", "state", "B D W-1"}},
          {},
          {{"names", "x, weight, state, y", "mixed_qkv, conv1d.weight, conv_state, conv_out"}, {"layout", "weight [D,W]", "weight [D,W,1]"},
           {"conv state", "[N,D,W-1]", "[B,W-1,D]"}, {"activation", "silu, or none", "silu"}},
          &kConv};
}

ConventionMechanism ssd() {
  return {"mlx", "ssd", "ssm_update", "ml-explore/mlx-lm mlx_lm/models/ssm.py at 19f3509",
          {{"hidden_states", "B T H P", "x", "B T H P"}, {"A_log", "H", "A", "H", NumberForm::log_of_negative}, {"B", "B T G N", "B", "B T G N"},
           {"C", "B T G N", "C", "B T G N"}, {"D", "H", "D", "H"}, {"dt", "B T H", "", "B T H"}, {"dt_bias", "H", "", "H"},
           {"state", "B H P N", "state", "B H N P", NumberForm::same, false}},
          {{"y", "B T H P", "y", "B T H P"}, {"state", "B H P N", "state", "B H N P"}},
          {{"time_step_min", OptionKind::number, "0.001", "the smallest step, time_step_limit[0]"},
           {"time_step_max", OptionKind::number, "100", "the largest, time_step_limit[1]"}},
          {{"names", "x", "hidden_states"}, {"A", "the negative number itself", "A_log: A is -exp of it"},
           {"dt", "used as it is", "softplus(dt + dt_bias), kept within time_step_limit"}, {"state", "[N,P] in each head", "[P,N]"}, {"D", "optional", "required"}},
          &kSsd};
}

}  // namespace

Convention declare_mlx() { return {"mlx", "mlx-lm's functions", {gated_delta_rule(), causal_conv(), ssd()}}; }

}  // namespace linearmem
