// The kinds by name, what may be said of each in words, and the way from words and weights to a layer.
#include <algorithm>
#include <cmath>
#include <limits>

#include "layers/kinds.hpp"
#include "layers/sizes_check.hpp"
#include "layers/weights.hpp"
#include "mechanisms/option_text.hpp"

namespace linearmem {
namespace {

OptionSpec size(const char* name, const char* meaning) { return {name, OptionKind::integer, "none", meaning}; }

const std::vector<const char*> kActivations = {"relu", "gelu"};

std::vector<OptionSpec> transformer_options() {
  return {size("d_model", "M, width of the model"),
          size("n_heads", "H"),
          {"query_dimensions", OptionKind::integer, "none", "K; none: M / H"},
          {"value_dimensions", OptionKind::integer, "none", "V; none: M / H"},
          {"d_ff", OptionKind::integer, "none", "width inside the feed-forward part; none: 4 M"},
          {"activation", OptionKind::choice, "relu", "inside the feed-forward part", kActivations},
          {"norm_eps", OptionKind::number, "1e-5", "under the root of the norms"}};
}

std::vector<OptionSpec> with(std::vector<OptionSpec> options, std::vector<OptionSpec> more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

std::vector<LayerDescription> descriptions() {
  return {{layers::kGatedDeltaNet,
           "out = (rms(o) w silu(x Wz)) Wo, o = gated delta rule of silu(conv(x W)), beta = sigmoid(x Wb), g = -exp(A_log) softplus(x Wa + dt_bias)",
           "Hugging Face Transformers, Qwen3-Next: model.layers.N.linear_attn",
           {size("hidden_size", "M, width of the model"),
            size("linear_num_key_heads", "H"),
            size("linear_num_value_heads", "Hv, a multiple of H"),
            size("linear_key_head_dim", "K"),
            size("linear_value_head_dim", "V"),
            {"linear_conv_kernel_dim", OptionKind::integer, "4", "W, width of the convolution"},
            {"hidden_act", OptionKind::choice, "silu", "after the convolution and in the gate", {"silu"}},
            {"rms_norm_eps", OptionKind::number, "1e-6", "under the root of the norm"}},
           {"hidden_size", "linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim"}},
          {layers::kMamba2,
           "out = (rms(y silu(z)) w) Wo, y = ssd(x, dt, -exp(A_log), B, C) + D x, x, B, C = silu(conv), dt = clamp(softplus(dt + dt_bias))",
           "Hugging Face Transformers, Mamba2: backbone.layers.N.mixer",
           {size("hidden_size", "M, width of the model"),
            size("num_heads", "H"),
            size("head_dim", "P"),
            size("state_size", "N"),
            {"n_groups", OptionKind::integer, "1", "G, groups of B and C"},
            {"conv_kernel", OptionKind::integer, "4", "W, width of the convolution"},
            {"use_bias", OptionKind::boolean, "false", "biases of in_proj and out_proj"},
            {"use_conv_bias", OptionKind::boolean, "true", "a bias of the convolution"},
            {"hidden_act", OptionKind::choice, "silu", "after the convolution and in the gate", {"silu"}},
            {"time_step_limit", OptionKind::text, "0,inf", "least and most dt"},
            {"norm_groups", OptionKind::integer, "1", "parts of the inner width that are normalized apart"},
            {"layer_norm_epsilon", OptionKind::number, "1e-5", "under the root of the norm"}},
           {"hidden_size", "num_heads", "head_dim", "state_size"}},
          {layers::kLinearTransformer, "h = norm1(x + linear attention(x)), out = norm2(h + W2 act(W1 h)), feature elu + 1",
           "idiap/fast-transformers, TransformerEncoderLayer",
           with(transformer_options(), {{"eps", OptionKind::number, "1e-6", "in the denominator of the attention"}}),
           {"d_model", "n_heads"}},
          {layers::kUniversalTransformer,
           "R rounds with one set of weights: y = x + P_i + P_r, h = norm1(y + attention(y)), x = norm2(h + W2 act(W1 h))",
           "those of linear-transformer, and halting.weight, halting.bias",
           with(transformer_options(), {size("rounds", "R, the most with halting"),
                                        size("context", "most tokens of a request"),
                                        {"halting", OptionKind::boolean, "false", "adaptive computation time"},
                                        {"threshold", OptionKind::number, "0.99", "a token halts when its probabilities sum to this"}}),
           {"d_model", "n_heads", "rounds", "context"}},
          {layers::kWindowAttention, "causal softmax attention over the last `sliding_window` tokens, rotary positions, grouped heads",
           "Hugging Face Transformers, Mistral: model.layers.N.self_attn",
           {size("hidden_size", "M, width of the model"),
            size("num_attention_heads", "H"),
            {"num_key_value_heads", OptionKind::integer, "none", "Hk; none: H"},
            {"head_dim", OptionKind::integer, "none", "K; none: M / H"},
            size("sliding_window", "tokens seen, the query's own included"),
            {"rope_theta", OptionKind::number, "10000", "base of the rotary frequencies"},
            {"attention_bias", OptionKind::boolean, "false", "biases of q, k and v"}},
           {"hidden_size", "num_attention_heads", "sliding_window"}}};
}

// Options that have been checked, as numbers.
class Words {
 public:
  explicit Words(std::map<std::string, std::string> options) { settings_.options = std::move(options); }

  std::int64_t whole(const char* name) const { return option_integer(settings_, name).value_or(0); }
  std::int64_t whole(const char* name, std::int64_t otherwise) const { return option_integer(settings_, name).value_or(otherwise); }
  double number(const char* name) const { return option_number(settings_, name).value_or(0); }
  bool yes(const char* name) const { return option_boolean(settings_, name); }
  std::string text(const char* name) const { return option_choice(settings_, name); }

 private:
  RunSettings settings_;
};

// "0,inf" or "[0.0, Infinity]": two numbers, the second may be infinite.
Status read_limits(const std::string& text, Mamba2Sizes& sizes) {
  const Status refusal = Status::invalid("option time_step_limit takes LEAST,MOST, two numbers from 0 on, the second may be inf, got \"" + text + "\"");
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return refusal;
  const auto number = [](std::string part) {
    std::erase_if(part, [](char c) { return c == ' ' || c == '[' || c == ']'; });
    if (part == "inf" || part == "Infinity") return std::numeric_limits<double>::infinity();
    return option_number(RunSettings{.options = {{"limit", part}}}, "limit").value_or(-1);
  };
  sizes.least_step = number(text.substr(0, comma));
  sizes.most_step = number(text.substr(comma + 1));
  if (!(sizes.least_step >= 0) || std::isinf(sizes.least_step) || !(sizes.most_step > 0) || sizes.most_step < sizes.least_step) return refusal;
  if (std::isinf(sizes.most_step)) sizes.most_step = 0;
  return {};
}

template <typename Sizes>
void read_transformer(const Words& words, Sizes& sizes) {
  sizes.model_width = words.whole("d_model");
  sizes.heads = words.whole("n_heads");
  const std::int64_t share = sizes.heads > 0 ? sizes.model_width / sizes.heads : 0;
  sizes.key_width = words.whole("query_dimensions", share);
  sizes.value_width = words.whole("value_dimensions", share);
  sizes.inner_width = words.whole("d_ff", 4 * std::min(sizes.model_width, layers::kLargestSize));
  sizes.activation = block_activation_named(words.text("activation")).value_or(BlockActivation::relu);
  sizes.norm_eps = words.number("norm_eps");
}

Result<LayerSizes> sizes_of(std::string_view kind, const Words& words) {
  if (kind == layers::kGatedDeltaNet)
    return LayerSizes(GatedDeltaNetSizes{.model_width = words.whole("hidden_size"), .key_heads = words.whole("linear_num_key_heads"),
                                         .value_heads = words.whole("linear_num_value_heads"), .key_width = words.whole("linear_key_head_dim"),
                                         .value_width = words.whole("linear_value_head_dim"), .conv_width = words.whole("linear_conv_kernel_dim"),
                                         .norm_eps = words.number("rms_norm_eps")});
  if (kind == layers::kMamba2) {
    Mamba2Sizes sizes{.model_width = words.whole("hidden_size"), .heads = words.whole("num_heads"), .head_width = words.whole("head_dim"),
                      .groups = words.whole("n_groups"), .state_width = words.whole("state_size"), .conv_width = words.whole("conv_kernel"),
                      .bias = words.yes("use_bias"), .conv_bias = words.yes("use_conv_bias"), .norm_groups = words.whole("norm_groups"),
                      .norm_eps = words.number("layer_norm_epsilon")};
    if (Status status = read_limits(words.text("time_step_limit"), sizes); !status.ok()) return status;
    return LayerSizes(sizes);
  }
  if (kind == layers::kLinearTransformer) {
    LinearTransformerSizes sizes;
    read_transformer(words, sizes);
    sizes.eps = words.number("eps");
    return LayerSizes(sizes);
  }
  if (kind == layers::kUniversalTransformer) {
    UniversalTransformerSizes sizes;
    read_transformer(words, sizes);
    sizes.rounds = words.whole("rounds");
    sizes.context = words.whole("context");
    sizes.halting = words.yes("halting");
    sizes.threshold = words.number("threshold");
    return LayerSizes(sizes);
  }
  const std::int64_t heads = words.whole("num_attention_heads"), width = words.whole("hidden_size");
  return LayerSizes(WindowAttentionSizes{.model_width = width, .heads = heads, .key_heads = words.whole("num_key_value_heads", heads),
                                         .head_width = words.whole("head_dim", heads > 0 ? width / heads : 0),
                                         .window = words.whole("sliding_window"), .rope_theta = words.number("rope_theta"),
                                         .bias = words.yes("attention_bias")});
}

// The options with their defaults, or all that is wrong with them.
Result<std::map<std::string, std::string>> completed(const LayerDescription& layer, std::map<std::string, std::string> options) {
  std::string faults;
  const auto add = [&](const std::string& fault) { faults += (faults.empty() ? "" : "; ") + fault; };
  for (const auto& [name, text] : options)
    if (std::none_of(layer.options.begin(), layer.options.end(), [&name = name](const OptionSpec& spec) { return name == spec.name; }))
      add("unknown option \"" + name + "\"");
  for (const OptionSpec& spec : layer.options) {
    const std::string& text = options.try_emplace(spec.name, spec.default_text).first->second;
    const bool needed = std::find(layer.needed.begin(), layer.needed.end(), spec.name) != layer.needed.end();
    if (needed && text == "none") add("option " + std::string(spec.name) + " is missing: " + spec.meaning);
    else if (Status status = check_option(spec, text); !status.ok()) add("option " + std::string(spec.name) + " " + status.message());
  }
  if (!faults.empty()) return Status::invalid(std::string(layer.kind) + ": " + faults);
  return options;
}

}  // namespace

const std::vector<LayerDescription>& layer_descriptions() {
  static const std::vector<LayerDescription> list = descriptions();
  return list;
}

Result<const LayerDescription*> find_layer(std::string_view kind) {
  std::string all;
  for (const LayerDescription& layer : layer_descriptions()) {
    if (kind == layer.kind) return &layer;
    all += (all.empty() ? "" : ", ") + std::string(layer.kind);
  }
  return Status::invalid("layer kind " + std::string(kind.substr(0, 60)) + " is not one of " + all);
}

Result<LayerSizes> read_layer_sizes(std::string_view kind, const std::map<std::string, std::string>& options) {
  const auto layer = find_layer(kind);
  if (!layer.ok()) return layer.status();
  auto complete = completed(*layer.value(), options);
  if (!complete.ok()) return complete.status();
  auto sizes = sizes_of(kind, Words(std::move(complete).value()));
  if (!sizes.ok()) return Status::invalid(std::string(kind) + ": " + sizes.status().message());
  if (Status status = layers::check_sizes(sizes.value()); !status.ok()) return status;
  return sizes;
}

std::vector<LayerWeight> layer_weights(const LayerSizes& sizes) {
  return std::visit([](const auto& of_kind) { return layers::weights_of(of_kind); }, sizes);
}

LayerStateLayout layer_state_layout(const LayerSizes& sizes, DType dtype) {
  return std::visit([dtype](const auto& of_kind) { return layers::layout_of(of_kind, dtype); }, sizes);
}

template <typename T>
Result<std::unique_ptr<Layer<T>>> make_layer(const LayerSizes& sizes, const NamedTensors& weights) {
  if (Status status = layers::check_sizes(sizes); !status.ok()) return status;
  if (Status status = layers::check_weights(layers::kind_of(sizes), layer_weights(sizes), weights); !status.ok()) return status;
  return std::visit([&](const auto& of_kind) { return layers::make_kind<T>(of_kind, weights); }, sizes);
}

template Result<std::unique_ptr<Layer<float>>> make_layer(const LayerSizes&, const NamedTensors&);
template Result<std::unique_ptr<Layer<double>>> make_layer(const LayerSizes&, const NamedTensors&);

}  // namespace linearmem
