// flash-linear-attention, whose functions Hugging Face's models call: almost ours. beta may be left out, a convolution keeps W inputs.
#include <algorithm>

#include "conventions/rules.hpp"

namespace linearmem {
namespace {

const OptionSpec kScale = {"scale", OptionKind::number, "none", "multiplies q; none: K^-1/2"};
const OptionSpec kNorm = {"use_qk_l2norm_in_kernel", OptionKind::boolean, "false", "q and k become x / sqrt(sum x^2 + 1e-6) first"};
const ConventionTensor kSequences = {"cu_seqlens", "N+1", "cu_seqlens", "N+1", NumberForm::same, false, TensorKind::integer};

// beta left out is 1 everywhere.
Status ones_for_beta(Exchange& exchange) {
  if (exchange.ours.count("beta")) return {};
  const NamedTensor& v = exchange.ours.at("v");
  exchange.ours["beta"] = filled(1, {v.shape[0], v.shape[1], v.shape[2]}, computed_dtype(v.dtype, exchange.settings.dtype));
  return {};
}

Status check_gate(const ConventionMechanism& mechanism, const NamedTensors& inputs, const RunSettings&) {
  if (inputs.count("g") || inputs.count("gk")) return {};
  return refuse(mechanism, "g is missing; it is [B,T,HV], or gk [B,T,HV,K] in its place; without a gate this is delta-rule");
}

std::vector<std::int64_t> bounds_of(const NamedTensors& inputs, const NamedTensor& x) {
  if (const auto found = inputs.find("cu_seqlens"); found != inputs.end()) {
    const auto values = integer_values("cu_seqlens", found->second);
    if (values.ok()) return values.value();
  }
  std::vector<std::int64_t> bounds;
  for (std::int64_t b = 0; b <= x.shape[0]; ++b) bounds.push_back(b * x.shape[1]);
  return bounds;
}

// [N,D,W-1], the newest W-1 of the W inputs that the state keeps.
Status state_to_ours(Exchange& exchange, const char* name) {
  const auto found = exchange.parameters.find(name);
  if (found == exchange.parameters.end()) return {};
  const NamedTensor& wide = found->second;
  const auto width = static_cast<std::ptrdiff_t>(dtype_bytes(wide.dtype));
  const auto W = static_cast<std::ptrdiff_t>(wide.shape[2]);
  if (W == 0) return refuse(exchange.mechanism, std::string(name) + " has W = 0");
  NamedTensor state{.dtype = wide.dtype, .shape = {wide.shape[0], wide.shape[1], wide.shape[2] - 1}, .bytes = {}};
  for (auto row = wide.bytes.begin(); row != wide.bytes.end(); row += W * width) state.bytes.insert(state.bytes.end(), row + width, row + W * width);
  exchange.ours["state"] = std::move(state);
  return {};
}

Status inputs_to_ours(Exchange& exchange) { return state_to_ours(exchange, "initial_state"); }
Status outputs_to_ours(Exchange& exchange) { return state_to_ours(exchange, "final_state"); }

// The place before them is not read and is 0.
Status inputs_to_theirs(Exchange& exchange) {
  const auto found = exchange.ours.find("state");
  if (found == exchange.ours.end() || found->second.shape.size() != 3) return {};
  const NamedTensor state = found->second;
  const auto row = static_cast<std::ptrdiff_t>(state.shape[2] * dtype_bytes(state.dtype));
  NamedTensor wide{.dtype = state.dtype, .shape = {state.shape[0], state.shape[1], state.shape[2] + 1}, .bytes = {}};
  for (std::int64_t at = 0; at < state.shape[0] * state.shape[1]; ++at) {
    wide.bytes.resize(wide.bytes.size() + static_cast<std::size_t>(dtype_bytes(state.dtype)));
    wide.bytes.insert(wide.bytes.end(), state.bytes.begin() + at * row, state.bytes.begin() + (at + 1) * row);
  }
  exchange.theirs["initial_state"] = std::move(wide);
  exchange.ours.erase("state");
  return {};
}

// The values of a tensor that may be absent.
Result<std::vector<double>> doubles_where_given(const NamedTensors& tensors, const char* name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? Result<std::vector<double>>(std::vector<double>{}) : doubles_of(name, found->second);
}

// The input W tokens before the end of sequence n: of x, or of the first state [N,D,W]; 0 where that is absent.
double oldest(const std::vector<double>& x, const std::vector<double>& first, std::int64_t n, std::int64_t d, std::int64_t begin, std::int64_t end,
              const Sizes& sizes) {
  const std::int64_t D = sizes.at("D"), W = sizes.at("W");
  if (end - begin >= W) return x[static_cast<std::size_t>((end - W) * D + d)];
  return first.empty() ? 0 : first[static_cast<std::size_t>((n * D + d) * W + end - begin)];
}

// The newest W inputs of each sequence: the W - 1 of our state, and the one before them.
Status outputs_to_theirs(Exchange& exchange) {
  const auto found = exchange.ours.find("state");
  if (found == exchange.ours.end()) return {};
  const auto x = doubles_where_given(*exchange.given, "x"), first = doubles_where_given(*exchange.given, "initial_state"),
             kept = doubles_of("state", found->second);
  for (const auto* read : {&x, &first, &kept})
    if (!read->ok()) return read->status();
  const std::int64_t D = exchange.sizes.at("D"), W = exchange.sizes.at("W");
  const std::vector<std::int64_t> bounds = bounds_of(*exchange.given, exchange.given->at("x"));
  const auto N = static_cast<std::int64_t>(bounds.size()) - 1;
  if (found->second.shape != std::vector<std::int64_t>{N, D, W - 1})
    return refuse(exchange.mechanism, "state must be [N,D,W-1] of these inputs, N = " + std::to_string(N) + exchange.sizes.in_words());
  std::vector<double> wide;
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t d = 0; d < D; ++d) {
      const auto row = kept.value().begin() + (n * D + d) * (W - 1);
      wide.push_back(oldest(x.value(), first.value(), n, d, bounds[static_cast<std::size_t>(n)], bounds[static_cast<std::size_t>(n) + 1], exchange.sizes));
      wide.insert(wide.end(), row, row + W - 1);
    }
  exchange.theirs["final_state"] = tensor_of(wide, {N, D, W}, found->second.dtype);
  return {};
}

const ConversionRules kLinear{.scale = ScaleRule::absent_is_key_width, .fixed = {{"feature", "identity"}, {"normalize", "false"}}};
const ConversionRules kDelta{.scale = ScaleRule::absent_is_key_width, .norm = QkNorm::inside_root, .norm_option = "use_qk_l2norm_in_kernel",
                             .inputs_to_ours = ones_for_beta};
const ConversionRules kGatedDelta{.scale = ScaleRule::absent_is_key_width, .norm = QkNorm::inside_root,
                                  .norm_option = "use_qk_l2norm_in_kernel", .check = check_gate, .inputs_to_ours = ones_for_beta};
const ConversionRules kConv{.passed = {{"activation", "activation"}}, .inputs_to_ours = inputs_to_ours, .inputs_to_theirs = inputs_to_theirs,
                            .outputs_to_theirs = outputs_to_theirs, .outputs_to_ours = outputs_to_ours};

ConventionMechanism linear_attention() {
  return {"fla", "linear-attention", "chunk_simple_gla (g), fused_recurrent_gla (gk)",
          "fla-org/flash-linear-attention fla/ops/simple_gla/chunk.py and fla/ops/gla/fused_recurrent.py at 07784bc",
          {{"q", "B T H K", "q", "B T H K"}, {"k", "B T H K", "k", "B T H K"}, {"v", "B T H V", "v", "B T H V"},
           {"g", "B T H", "g", "B T H", NumberForm::same, false}, {"gk", "B T H K", "g_key", "B T H K", NumberForm::same, false},
           {"initial_state", "N H K V", "state", "N H K V", NumberForm::same, false}, kSequences},
          {{"o", "B T H V", "o", "B T H V"}, {"final_state", "N H K V", "state", "N H K V"}},
          {kScale},
          {{"names", "g_key, state", "gk, initial_state, final_state"},
           {"scale", "none: q is used as it is", "K^-1/2 where absent; q is multiplied before the call"},
           {"feature", "elu(x) + 1, divided by its sum", "none, and no division"}},
          &kLinear};
}

ConventionMechanism delta_rule() {
  return {"fla", "delta-rule", "fused_recurrent_delta_rule",
          "fla-org/flash-linear-attention fla/ops/delta_rule/fused_recurrent.py at 0781576",
          {{"q", "B T H K", "q", "B T H K"}, {"k", "B T H K", "k", "B T H K"}, {"v", "B T H V", "v", "B T H V"},
           {"beta", "B T H", "beta", "B T H", NumberForm::same, false},
           {"initial_state", "N H K V", "state", "N H K V", NumberForm::same, false}, kSequences},
          {{"o", "B T H V", "o", "B T H V"}, {"final_state", "N H K V", "state", "N H K V"}},
          {kScale, kNorm},
          {{"names", "state, l2norm", "initial_state, final_state, use_qk_l2norm_in_kernel"}, {"beta", "required", "1 where absent"}},
          &kDelta};
}

ConventionMechanism gated_delta_rule() {
  return {"fla", "gated-delta-rule", "fused_recurrent_gated_delta_rule",
          "fla-org/flash-linear-attention fla/ops/gated_delta_rule/fused_recurrent.py at 0315a70",
          {{"q", "B T H K", "q", "B T H K"}, {"k", "B T H K", "k", "B T H K"}, {"v", "B T HV V", "v", "B T HV V"},
           {"g", "B T HV", "g", "B T HV", NumberForm::same, false}, {"gk", "B T HV K", "g_key", "B T HV K", NumberForm::same, false},
           {"beta", "B T HV", "beta", "B T HV", NumberForm::same, false},
           {"initial_state", "N HV K V", "state", "N HV K V", NumberForm::same, false}, kSequences},
          {{"o", "B T HV V", "o", "B T HV V"}, {"final_state", "N HV K V", "state", "N HV K V"}},
          {kScale, kNorm},
          {{"names", "g_key, state, l2norm", "gk, initial_state, final_state, use_qk_l2norm_in_kernel"}, {"beta", "required", "1 where absent"}},
          &kGatedDelta};
}

ConventionMechanism causal_conv() {
  return {"fla", "causal-conv", "causal_conv1d",
          "fla-org/flash-linear-attention fla/modules/conv/triton/ops.py at 0119bf5 and short_conv.py at 07ca1e4",
          {{"x", "B T D", "x", "B T D"}, {"weight", "D W", "weight", "D W"}, {"bias", "D", "bias", "D", NumberForm::same, false},
           {"initial_state", "N D W", "", "N D W", NumberForm::same, false}, kSequences},
          {{"y", "B T D", "y", "B T D"}, {"final_state", "N D W", "", "N D W"}},
          {{"activation", OptionKind::choice, "none", "applied to the sum", {"none", "silu", "swish"}}},
          {{"names", "state", "initial_state, final_state"}, {"conv state", "the last W - 1 inputs", "the last W; the oldest is not read"},
           {"activation", "silu", "none where absent; swish is silu"}},
          &kConv};
}

}  // namespace

Convention declare_fla() {
  return {"fla", "flash-linear-attention, as Hugging Face's models call it",
          {linear_attention(), delta_rule(), gated_delta_rule(), causal_conv()}};
}

}  // namespace linearmem
