// FlashInfer's gated delta rule: packed prefill with the decay as a factor, and decode with the gates' parameters.
#include "conventions/rules.hpp"

namespace linearmem {
namespace {

// Both are 1 where absent. g [1,T,Hv] is already a logarithm here.
Status defaults_to_ours(Exchange& exchange) {
  const NamedTensor& v = exchange.ours.at("v");
  const DType dtype = computed_dtype(v.dtype, exchange.settings.dtype);
  for (const auto& [name, value] : {std::pair{"g", 0.0}, {"beta", 1.0}})
    if (!exchange.ours.count(name)) exchange.ours[name] = filled(value, {1, v.shape[1], v.shape[2]}, dtype);
  return {};
}

Status gates_to_ours(Exchange& exchange) {
  auto g = log_decay_of(exchange, exchange.parameters.at("a"), exchange.parameters.at("A_log"), exchange.parameters.at("dt_bias"));
  if (!g.ok()) return g.status();
  exchange.ours["g"] = std::move(g).value();
  return {};
}

// With A_log and dt_bias 0: a is what a softplus makes -g.
Status gates_to_theirs(Exchange& exchange) {
  const auto found = exchange.ours.find("g");
  if (found == exchange.ours.end() || found->second.shape.size() != 3) return refuse(exchange.mechanism, "g [B,T,Hv] is needed");
  const std::string who = door_of(exchange.mechanism) + ": -g";
  const NamedTensor g = found->second;
  auto steps = mapped(who, g, computed_dtype(g.dtype, exchange.settings.dtype), [](double x) { return -x; });
  if (!steps.ok()) return steps.status();
  auto a = form_to_theirs(NumberForm::before_softplus, who, steps.value(), exchange.settings.dtype);
  if (!a.ok()) return a.status();
  for (const char* name : {"A_log", "dt_bias"}) exchange.theirs[name] = filled(0, {g.shape[2]}, a.value().dtype);
  exchange.theirs["a"] = std::move(a).value();
  exchange.ours.erase("g");
  return {};
}

const ConversionRules kPrefill{.scale = ScaleRule::zero_is_key_width, .square = true, .inputs_to_ours = defaults_to_ours};
const ConversionRules kDecode{.scale = ScaleRule::absent_is_key_width, .norm = QkNorm::inside_root, .norm_option = "use_qk_l2norm",
                              .inputs_to_ours = gates_to_ours, .inputs_to_theirs = gates_to_theirs};

ConventionMechanism prefill() {
  return {"flashinfer", "gated-delta-rule", "chunk_gated_delta_rule",
          "flashinfer-ai/flashinfer flashinfer/gdn_prefill.py at 0069530 and trace/templates/gdn.py at 0dca5ff",
          {{"q", "T H K", "q", "1 T H K"}, {"k", "T H K", "k", "1 T H K"}, {"v", "T Hv V", "v", "1 T Hv V"},
           {"g", "T Hv", "g", "1 T Hv", NumberForm::factor, false}, {"beta", "T Hv", "beta", "1 T Hv", NumberForm::same, false},
           {"initial_state", "N Hv V K", "state", "N Hv K V", NumberForm::same, false},
           {"cu_seqlens", "N+1", "cu_seqlens", "N+1", NumberForm::same, true, TensorKind::integer}},
          {{"output", "T Hv V", "o", "1 T Hv V"}, {"output_state", "N Hv V K", "state", "N Hv K V"}},
          {{"scale", OptionKind::number, "none", "multiplies q; none or 0: K^-1/2"}},
          {{"names", "state, o", "initial_state, output, output_state"}, {"layout", "[B,T,H,K]", "[T,H,K], always packed: cu_seqlens is required"},
           {"gate", "log decay", "factor, 1 where absent"}, {"beta", "required", "1 where absent"}, {"state", "key first", "value first; K = V"},
           {"scale", "K^-1/2 where absent", "K^-1/2 where absent or 0"}},
          &kPrefill};
}

ConventionMechanism decode() {
  return {"flashinfer-decode", "gated-delta-rule", "gated_delta_rule_decode_pretranspose",
          "flashinfer-ai/flashinfer flashinfer/gdn_decode.py at 0012242 and gdn_kernels/gdn_decode_pretranspose.py at 055568a",
          {{"q", "B T H K", "q", "B T H K"}, {"k", "B T H K", "k", "B T H K"}, {"v", "B T HV V", "v", "B T HV V"},
           {"state", "B HV V K", "state", "B HV K V"}, {"A_log", "HV", "", "HV"}, {"a", "B T HV", "", "B T HV"}, {"dt_bias", "HV", "", "HV"},
           {"b", "B T HV", "beta", "B T HV", NumberForm::before_sigmoid}},
          {{"output", "B T HV V", "o", "B T HV V"}, {"state", "B HV V K", "state", "B HV K V"}},
          {{"scale", OptionKind::number, "none", "multiplies q; none: K^-1/2"},
           {"use_qk_l2norm", OptionKind::boolean, "true", "q and k become x / sqrt(sum x^2 + 1e-6) first"}},
          {{"names", "o, l2norm", "output, use_qk_l2norm"}, {"gate", "log decay", "a, A_log and dt_bias: -exp(A_log) softplus(a + dt_bias) is its logarithm"},
           {"beta", "strength", "b, before a sigmoid"}, {"state", "key first, zeros where absent", "value first, required"},
           {"norm", "on request", "unless use_qk_l2norm is false"}},
          &kDecode};
}

}  // namespace

Convention declare_flashinfer() { return {"flashinfer", "FlashInfer's packed prefill", {prefill()}}; }

Convention declare_flashinfer_decode() { return {"flashinfer-decode", "FlashInfer's decode, states value first", {decode()}}; }

}  // namespace linearmem
