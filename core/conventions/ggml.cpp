// ggml's operators, as llama.cpp calls them. Shapes are given last axis contiguous, the reverse of ggml's ne.
#include <algorithm>

#include "conventions/rules.hpp"
#include "foundation/activation.hpp"
#include "mechanisms/option_text.hpp"

namespace linearmem {
namespace {

constexpr const char* kOps = "ggml-org/llama.cpp ggml/src/ggml-cpu/ops.cpp at 0049e3c";

// sx [B,D,W-1+T] is the kept inputs and the new ones, one after the other along time.
Status conv_to_ours(Exchange& exchange) {
  const NamedTensor& sx = exchange.parameters.at("sx");
  const std::int64_t B = sx.shape[0], D = sx.shape[1], L = sx.shape[2], kept = exchange.sizes.at("W") - 1, T = L - kept;
  if (kept < 0 || T < 0)
    return refuse(exchange.mechanism, "sx has " + std::to_string(L) + " inputs for each channel, c has W = " + std::to_string(kept + 1) +
                                          "; it holds the W - 1 kept ones and the new");
  const auto width = static_cast<std::ptrdiff_t>(dtype_bytes(sx.dtype));
  NamedTensor state{.dtype = sx.dtype, .shape = {B, D, kept}, .bytes = {}};
  NamedTensor x{.dtype = sx.dtype, .shape = {B, T, D}, .bytes = std::vector<std::byte>(static_cast<std::size_t>(B * T * D * width))};
  for (std::int64_t row = 0; row < B * D; ++row) {
    const auto begin = sx.bytes.begin() + row * L * width;
    state.bytes.insert(state.bytes.end(), begin, begin + kept * width);
    for (std::int64_t t = 0; t < T; ++t)
      std::copy_n(begin + (kept + t) * width, width, x.bytes.begin() + ((row / D * T + t) * D + row % D) * width);
  }
  exchange.ours["state"] = std::move(state);
  exchange.ours["x"] = std::move(x);
  return {};
}

Status conv_to_theirs(Exchange& exchange) {
  const auto x = exchange.ours.find("x"), state = exchange.ours.find("state");
  if (x == exchange.ours.end() || state == exchange.ours.end())
    return refuse(exchange.mechanism, "x and state are both needed; sx holds both");
  if (x->second.shape.size() != 3 || state->second.shape.size() != 3 || x->second.dtype != state->second.dtype)
    return refuse(exchange.mechanism, "x [B,T,D] and state [B,D,W-1] must have three axes and one dtype; sx holds both");
  const std::int64_t B = x->second.shape[0], T = x->second.shape[1], D = x->second.shape[2], kept = state->second.shape[2];
  for (const auto& [letter, size] : {std::pair{"B", B}, {"D", D}})
    if (Status status = exchange.sizes.define(letter, "x", size); !status.ok()) return status;
  if (Status status = exchange.sizes.learn_ours("state", "B D W-1", state->second.shape); !status.ok()) return status;
  const auto width = static_cast<std::ptrdiff_t>(dtype_bytes(x->second.dtype));
  NamedTensor sx{.dtype = x->second.dtype, .shape = {B, D, kept + T}, .bytes = {}};
  for (std::int64_t row = 0; row < B * D; ++row) {
    const auto begin = state->second.bytes.begin() + row * kept * width;
    sx.bytes.insert(sx.bytes.end(), begin, begin + kept * width);
    for (std::int64_t t = 0; t < T; ++t) {
      const auto value = x->second.bytes.begin() + ((row / D * T + t) * D + row % D) * width;
      sx.bytes.insert(sx.bytes.end(), value, value + width);
    }
  }
  exchange.theirs["sx"] = std::move(sx);
  exchange.ours.erase("x");
  exchange.ours.erase("state");
  return {};
}

const ConversionRules kLinear{.scale = ScaleRule::given, .fixed = {{"feature", "identity"}, {"normalize", "false"}}, .square = true};
const ConversionRules kGatedDelta{.scale = ScaleRule::key_width, .norm = QkNorm::floor, .norm_option = "l2_norm",
                                  .tiled = {"Hv", "H"}, .square = true};
const ConversionRules kConv{.fixed = {{"activation", "none"}}, .inputs_to_ours = conv_to_ours, .inputs_to_theirs = conv_to_theirs};
const ConversionRules kSsd{};

ConventionMechanism linear_attention() {
  return {"ggml", "linear-attention", "ggml_gated_linear_attn", kOps,
          {{"k", "B*T H K", "k", "B T H K"}, {"v", "B*T H V", "v", "B T H V"}, {"q", "B*T H K", "q", "B T H K"},
           {"g", "B*T H K", "g_key", "B T H K", NumberForm::factor}, {"state", "B H*K*V", "state", "B H K V"}},
          {{"output", "B*T H*V", "o", "B T H V"}, {"new_state", "B H*K*V", "state", "B H K V"}},
          {{"scale", OptionKind::number, "none", "multiplies q; must be set"}},
          {{"names", "g_key, o", "g, output, new_state"}, {"layout", "[B,T,H,K]", "[B*T,H,K]; output [B*T,H*V]"},
           {"gate", "log decay", "factor, for each key component"}, {"state", "[N,H,K,V], zeros where absent", "[B,H*K*V], key first, required; K = V"},
           {"scale", "none: q is used as it is", "given, without a default"}, {"feature", "elu(x) + 1, divided by its sum", "none, and no division"}},
          &kLinear};
}

ConventionMechanism gated_delta_rule() {
  return {"ggml", "gated-delta-rule", "ggml_gated_delta_net, K = 1 snapshot",
          "ggml-org/llama.cpp ggml/src/ggml-cpu/ops.cpp at 0049e3c and src/models/delta-net-base.cpp at 156ce1c",
          {{"q", "B T H K", "q", "B T H K"}, {"k", "B T H K", "k", "B T H K"}, {"v", "B T Hv V", "v", "B T Hv V"},
           {"g", "B T Hv 1", "g", "B T Hv"}, {"g", "B T Hv K", "g_key", "B T Hv K"}, {"beta", "B T Hv 1", "beta", "B T Hv"},
           {"state", "B Hv V K", "state", "B Hv K V"}},
          {{"output", "B T Hv V", "o", "B T Hv V"}, {"new_state", "B Hv V K", "state", "B Hv K V"}},
          {{"l2_norm", OptionKind::boolean, "false", "ggml_l2_norm of q and k before: x / max(sqrt(sum x^2), eps)"},
           {"eps", OptionKind::number, "1e-6", "the floor of that norm"}},
          {{"names", "g_key, o, state", "g, output, new_state"}, {"layout", "beta and g [B,T,Hv]", "[B,T,Hv,1]"},
           {"state", "key first, zeros where absent", "value first, required; K = V"},
           {"head map", "interleaved: value head h uses key head h / (Hv/H)", "tiled: value head h uses key head h mod H"},
           {"scale", "K^-1/2 where absent", "K^-1/2 always"}, {"norm epsilon", "inside the root", "a floor of the norm"}},
          &kGatedDelta};
}

ConventionMechanism causal_conv() {
  return {"ggml", "causal-conv", "ggml_ssm_conv", kOps,
          {{"sx", "B D W-1+T", "", "B D W-1+T"}, {"c", "D W", "weight", "D W"}},
          {{"output", "B T D", "y", "B T D"}},
          {},
          {{"names", "x, weight, y", "sx, c, output"}, {"layout", "[B,T,D] and state [N,D,W-1]", "[B,D,W-1+T]: the state and the inputs, one after the other"},
           {"conv state", "goes in and comes out", "the last W - 1 of sx, which the caller keeps"}, {"activation", "silu", "none"}},
          &kConv};
}

ConventionMechanism ssd() {
  return {"ggml", "ssd", "ggml_ssm_scan with A of one number per head", kOps,
          {{"s", "B H P N", "state", "B H N P"}, {"x", "B T H P", "x", "B T H P"}, {"dt", "B T H", "dt", "B T H", NumberForm::before_softplus},
           {"A", "H 1", "A", "H"}, {"B", "B T G N", "B", "B T G N"}, {"C", "B T G N", "C", "B T G N"}},
          {{"output", "B T H P", "y", "B T H P"}, {"new_state", "B H P N", "state", "B H N P"}},
          {},
          {{"names", "state, y", "s, output, new_state"}, {"state", "[N,P] in each head, zeros where absent", "[P,N], required"},
           {"dt", "used as it is", "before a softplus"}, {"D", "adds D x where given", "none: the caller adds it"}},
          &kSsd};
}

}  // namespace

Convention declare_ggml() {
  return {"ggml", "ggml's operators, as llama.cpp calls them", {linear_attention(), gated_delta_rule(), causal_conv(), ssd()}};
}

}  // namespace linearmem
