// ONNX's LinearAttention and CausalConvWithState, in the standard (opset 27) and as ONNX Runtime's own operators (com.microsoft).
// Heads are packed into the last axis; a state belongs to a key/value head and serves all its query heads.
#include "conventions/rules.hpp"
#include "mechanisms/option_text.hpp"

namespace linearmem {
namespace {

constexpr const char* kStandardSource =
    "the operator's page, onnx.ai/onnx/operators/onnx__LinearAttention.html, and onnx/onnx onnx/reference/ops/op_linear_attention.py at 4054ae7";
constexpr const char* kRuntimeSource = "microsoft/onnxruntime onnxruntime/contrib_ops/cpu/bert/linear_attention.cc at 245efd0";

bool takes_decay(const std::string& rule) { return rule == "gated" || rule == "gated_delta"; }

// Which inputs a rule must and must not receive. Which mechanism a rule is stands in the option's choices.
Status check_rule(const ConventionMechanism& mechanism, const NamedTensors& inputs, const RunSettings& settings) {
  const std::string rule = option_choice(settings, "update_rule");
  const bool delta = mechanism.mechanism != std::string("linear-attention");
  const auto check = [&](const char* name, bool taken, const char* axes) -> Status {
    const bool given = inputs.count(name) > 0;
    if (given == taken) return {};
    return refuse(mechanism, given ? std::string(name) + " is given, but update_rule " + rule + " takes none"
                                   : std::string(name) + " is missing; update_rule " + rule + " needs it, " + axes);
  };
  if (Status status = check("decay", takes_decay(rule), "[B,T,Hkv] or [B,T,Hkv*K]"); !status.ok()) return status;
  return check("beta", delta, "[B,T,Hkv] or [B,T,1]");
}

// How many key heads ONNX Runtime is given is told by key's width only: as many as query has where ours allows, otherwise one for each state.
Status key_heads_to_theirs(Exchange& exchange) {
  const auto k = exchange.ours.find("k");
  const std::int64_t Hq = exchange.sizes.at("Hq"), Hkv = exchange.sizes.at("Hkv");
  bool as_query = k != exchange.ours.end() && Hq < Hkv;
  if (as_query) {
    const ConventionTensor& key = exchange.mechanism.inputs[1];
    Sizes sizes = exchange.sizes;
    as_query = sizes.define("Hk", "q_num_heads", Hq).ok() && sizes.learn_ours("k", key.our_axes, k->second.shape).ok() &&
               moved_to_theirs(key, k->second, sizes, {}).ok();
  }
  return exchange.sizes.define("Hk", "key", as_query ? Hq : Hkv);
}

const std::vector<std::pair<const char*, const char*>> kHeadCounts = {{"Hq", "q_num_heads"}, {"Hkv", "kv_num_heads"}};

const ConversionRules kLinear{.scale = ScaleRule::zero_is_key_width, .fixed = {{"feature", "identity"}, {"normalize", "false"}},
                              .head_counts = kHeadCounts, .check = check_rule};
const ConversionRules kDelta{.scale = ScaleRule::zero_is_key_width, .head_counts = kHeadCounts, .check = check_rule};
const ConversionRules kRuntimeLinear{.scale = ScaleRule::zero_is_key_width, .fixed = {{"feature", "identity"}, {"normalize", "false"}},
                                     .head_counts = kHeadCounts, .largest = "Hs", .check = check_rule,
                                     .inputs_to_theirs = key_heads_to_theirs};
const ConversionRules kRuntimeDelta{.scale = ScaleRule::zero_is_key_width, .head_counts = kHeadCounts, .largest = "Hs", .check = check_rule,
                                    .inputs_to_theirs = key_heads_to_theirs};
const ConversionRules kConv{.passed = {{"activation", "activation"}}};

std::vector<OptionSpec> options(const std::vector<const char*>& rules) {
  return {{"q_num_heads", OptionKind::integer, "none", "the query heads packed into query; must be set"},
          {"kv_num_heads", OptionKind::integer, "none", "the key and value heads, each with a state; must be set"},
          {"update_rule", OptionKind::choice, rules[0], "which rule this is", rules},
          {"scale", OptionKind::number, "0", "multiplies the output; 0: K^-1/2"}};
}

std::vector<Difference> differences(bool linear) {
  std::vector<Difference> list = {{"names", "q, k, v, g, g_key, state, o", "query, key, value, decay, past_state, output, present_state"},
                                  {"layout", "[B,T,H,K]", "[B,T,H*K], the heads packed"},
                                  {"scale", linear ? "none: q is used as it is" : "K^-1/2 where absent", "K^-1/2 where absent or 0"},
                                  {"state", "one for each value head (query head in linear attention)", "one for each of kv_num_heads, shared by its query heads"},
                                  {"rule", "the mechanism", "update_rule; decay and beta only where it takes them"}};
  if (linear) list.push_back({"feature", "elu(x) + 1, divided by its sum", "none, and no division"});
  return list;
}

// The standard: key and value heads are the same, and divide the query heads.
ConventionMechanism standard(const char* mechanism, const std::vector<const char*>& rules) {
  const bool linear = mechanism == std::string("linear-attention");
  const char* heads = linear ? "B T Hkv K" : "B T Hkv>Hq K";
  const char* values = linear ? "B T Hkv V" : "B T Hkv>Hq V";
  ConventionMechanism m{"onnx", mechanism, "LinearAttention-27", kStandardSource,
                        {{"query", "B T Hq*K", "q", "B T Hq K"}, {"key", "B T Hkv*K", "k", heads}, {"value", "B T Hkv*V", "v", values},
                         {"past_state", "B Hkv K V", "state", "B Hkv>Hq K V", NumberForm::same, false}},
                        {{"output", "B T Hq*V", "o", "B T Hq V"}, {"present_state", "B Hkv K V", "state", "B Hkv>Hq K V"}},
                        options(rules), differences(linear), linear ? &kLinear : &kDelta};
  if (takes_decay(rules.back()))
    m.inputs.insert(m.inputs.end(), {{"decay", "B T Hkv", "g", "B T Hkv>Hq", NumberForm::same, false},
                                     {"decay", "B T Hkv*K", "g_key", "B T Hkv>Hq K", NumberForm::same, false}});
  if (!linear)
    m.inputs.insert(m.inputs.end(), {{"beta", "B T Hkv", "beta", "B T Hkv>Hq", NumberForm::same, false},
                                     {"beta", "B T 1", "beta", "B T 1>Hq", NumberForm::same, false}});
  return m;
}

// ONNX Runtime's: fewer query heads than states are allowed too, and the number of key heads is told by key's width.
ConventionMechanism runtime(const char* mechanism, const std::vector<const char*>& rules) {
  const bool linear = mechanism == std::string("linear-attention");
  ConventionMechanism m{"onnxruntime", mechanism, "com.microsoft LinearAttention", kRuntimeSource,
                        {{"query", "B T Hq*K", "q", "B T Hq>Hs K"}, {"key", "B T Hk*K", "k", "B T Hk>Hs K"}, {"value", "B T Hkv*V", "v", "B T Hkv>Hs V"},
                         {"past_state", "B Hkv K V", "state", "B Hkv>Hs K V", NumberForm::same, false}},
                        {{"output", "B T Hs*V", "o", "B T Hs V"}, {"present_state", "B Hkv K V", "state", "B Hkv>Hs K V"}},
                        options(rules), differences(linear), linear ? &kRuntimeLinear : &kRuntimeDelta};
  if (takes_decay(rules.back()))
    m.inputs.insert(m.inputs.end(), {{"decay", "B T Hkv", "g", "B T Hkv>Hs", NumberForm::same, false},
                                     {"decay", "B T Hkv*K", "g_key", "B T Hkv>Hs K", NumberForm::same, false}});
  if (!linear)
    m.inputs.insert(m.inputs.end(), {{"beta", "B T Hkv", "beta", "B T Hkv>Hs", NumberForm::same, false},
                                     {"beta", "B T 1", "beta", "B T 1>Hs", NumberForm::same, false}});
  m.differences.push_back({"head map", "interleaved, H divides Hv", "interleaved; query and key heads may differ, either may be fewer than the states"});
  return m;
}

ConventionMechanism causal_conv(const char* convention, const char* function, const char* source) {
  return {convention, "causal-conv", function, source,
          {{"input", "B D T", "x", "B T D"}, {"weight", "D 1 W", "weight", "D W"}, {"bias", "D", "bias", "D", NumberForm::same, false},
           {"past_state", "B D W-1", "state", "B D W-1", NumberForm::same, false}},
          {{"output", "B D T", "y", "B T D"}, {"present_state", "B D W-1", "state", "B D W-1"}},
          {{"activation", OptionKind::choice, "none", "applied to the sum", {"none", "silu", "swish"}}},
          {{"names", "x, state, y", "input, past_state, output, present_state"}, {"layout", "[B,T,D], weight [D,W]", "[B,D,T], weight [D,1,W]"},
           {"activation", "silu", "none where absent; swish is silu"}},
          &kConv};
}

}  // namespace

Convention declare_onnx() {
  return {"onnx", "the standard's operators, opset 27",
          {standard("linear-attention", {"linear", "gated"}), standard("delta-rule", {"delta"}), standard("gated-delta-rule", {"gated_delta"}),
           causal_conv("onnx", "CausalConvWithState-27", "onnx/onnx onnx/reference/ops/op_causal_conv_with_state.py at 9043494")}};
}

Convention declare_onnxruntime() {
  return {"onnxruntime", "ONNX Runtime's own operators, domain com.microsoft",
          {runtime("linear-attention", {"linear", "gated"}), runtime("delta-rule", {"delta"}), runtime("gated-delta-rule", {"gated_delta"}),
           causal_conv("onnxruntime", "com.microsoft CausalConvWithState",
                       "microsoft/onnxruntime onnxruntime/contrib_ops/cpu/bert/causal_conv_with_state.cc at 7770840")}};
}

}  // namespace linearmem
