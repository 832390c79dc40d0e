// Models without attention, or with it in a few layers that an `attn` object names: Mamba, RWKV, RetNet and the delta networks.
#include <algorithm>
#include <string>

#include "ledger/architectures.hpp"

namespace linearmem {
namespace {

// Layers that {"attn": {"layers": [...], "num_heads": ...}} turns into attention; the others are `mixer`.
void add_with_attention(ConfigFields& fields, LayerPlan& plan, std::int64_t layers, const LayerShape& mixer) {
  std::vector<std::int64_t> places;
  LayerShape attention;
  if (fields.has("attn")) {
    const ConfigValue* object = fields.object("attn");
    if (!object) return;
    ConfigFields attn(*object, fields.model_type() + ": attn");
    const std::int64_t heads = attn.whole({"num_heads"}, kMostHeads), kv_heads = attn.whole_or({"num_kv_heads"}, kMostHeads, heads);
    const std::int64_t window = attn.whole_or_none({"window_size"}, kMostTokens);
    const std::int64_t width = fields.quotient("hidden_size", fields.whole({"hidden_size"}, kMostWidth), "attn.num_heads", heads);
    places = attn.wholes("layers", layers - 1);
    if (places.empty()) attn.missing("layers");
    attention = {.kind = kv_heads < heads ? LayerKind::grouped_query_attention : LayerKind::full_attention,
                 .heads = kv_heads,
                 .key_width = width,
                 .value_width = width};
    if (window > 0) attention = windowed(attention, window);
    fields.take_over(attn);
  }
  for (std::int64_t place = 0; place < layers; ++place)
    plan.add(place, std::find(places.begin(), places.end(), place) != places.end() ? attention : mixer);
}

void read_mamba(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields), N = fields.whole_or({"state_size"}, kMostWidth, 16),
                     W = fields.whole_or({"conv_kernel"}, 1024, 4);
  std::int64_t channels = fields.whole_or_none({"intermediate_size"}, kMostWidth);
  if (channels == 0)
    channels = fields.scaled(fields.real_or("expand", 2), fields.whole({"hidden_size"}, kMostWidth), "expand x hidden_size");
  for (std::int64_t place = 0; place < layers; ++place) plan.add(place, mamba_shape(channels, N, W));
}

void read_mamba2(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields), N = fields.whole_or({"state_size"}, kMostWidth, 128),
                     W = fields.whole_or({"conv_kernel"}, 1024, 4);
  const std::int64_t heads = fields.whole({"num_heads"}, kMostHeads), P = fields.whole({"head_dim"}, kMostWidth);
  const std::int64_t groups = fields.whole({"n_groups"}, kMostHeads);
  for (std::int64_t place = 0; place < layers; ++place) plan.add(place, ssd_shape(heads, P, groups, N, W));
}

// Both keep the last token twice: before the mixer and before the feed-forward part.
LayerShape rwkv_shape(LayerKind kind, std::int64_t heads, std::int64_t K, std::int64_t V, std::int64_t hidden) {
  return {.kind = kind, .heads = heads, .key_width = K, .value_width = V, .shift_channels = 2 * hidden};
}

// Two dialects: head_size, where num_attention_heads is not a count of heads; or num_heads with expand_k and expand_v.
void read_rwkv6(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields), hidden = fields.whole({"hidden_size"}, kMostWidth);
  std::int64_t heads = 1, K = 1, V = 1;
  if (fields.has("num_heads") && !fields.has("head_size")) {
    heads = fields.whole({"num_heads"}, kMostHeads);
    K = fields.quotient("expand_k x hidden_size", fields.scaled(fields.real_or("expand_k", 0.5), hidden, "expand_k x hidden_size"),
                        "num_heads", heads);
    V = fields.quotient("expand_v x hidden_size", fields.scaled(fields.real_or("expand_v", 1), hidden, "expand_v x hidden_size"),
                        "num_heads", heads);
  } else {
    K = V = fields.whole_or({"head_size", "head_dim"}, kMostWidth, 64);
    std::int64_t width = fields.whole_or_none({"attention_hidden_size"}, kMostWidth);
    heads = fields.quotient("attention_hidden_size", width > 0 ? width : hidden, "head_size", K);
  }
  add_with_attention(fields, plan, layers, rwkv_shape(LayerKind::rwkv6, heads, K, V, hidden));
}

void read_rwkv7(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields), hidden = fields.whole({"hidden_size"}, kMostWidth);
  const std::int64_t width = fields.whole_or({"head_dim", "head_size"}, kMostWidth, 64);
  const std::int64_t heads = fields.quotient("hidden_size", hidden, "head_dim", width);
  add_with_attention(fields, plan, layers, rwkv_shape(LayerKind::rwkv7, heads, width, width, hidden));
}

struct Expansion {
  double keys, values;  // widths of all heads together, over the model's
};

std::int64_t convolution_width(ConfigFields& fields, bool otherwise) {
  return fields.boolean_or("use_short_conv", otherwise) ? fields.whole_or({"conv_size"}, 1024, 4) : 0;
}

void add_expanded(ConfigFields& fields, LayerPlan& plan, LayerKind kind, Expansion expansion, std::int64_t W) {
  const std::int64_t layers = layer_count(fields), hidden = fields.whole({"hidden_size"}, kMostWidth),
                     heads = fields.whole({"num_heads"}, kMostHeads);
  const std::int64_t keys = fields.scaled(fields.real_or("expand_k", expansion.keys), hidden, "expand_k x hidden_size");
  const std::int64_t values = fields.scaled(fields.real_or("expand_v", expansion.values), hidden, "expand_v x hidden_size");
  const std::int64_t K = fields.quotient("expand_k x hidden_size", keys, "num_heads", heads);
  const std::int64_t V = fields.quotient("expand_v x hidden_size", values, "num_heads", heads);
  add_with_attention(fields, plan, layers, delta_shape({kind, heads, heads, K, V, W}));
}

void read_retnet(ConfigFields& fields, LayerPlan& plan) {
  if (!fields.has("decoder_embed_dim")) return add_expanded(fields, plan, LayerKind::retention, {1, 2}, convolution_width(fields, false));
  const std::int64_t layers = fields.whole({"decoder_layers"}, kMostLayers), heads = fields.whole({"decoder_retention_heads"}, kMostHeads);
  const std::int64_t keys = fields.whole({"decoder_embed_dim"}, kMostWidth), values = fields.whole({"decoder_value_embed_dim"}, kMostWidth);
  const LayerShape shape =
      delta_shape({LayerKind::retention, heads, heads, fields.quotient("decoder_embed_dim", keys, "decoder_retention_heads", heads),
                   fields.quotient("decoder_value_embed_dim", values, "decoder_retention_heads", heads), 0});
  for (std::int64_t place = 0; place < layers; ++place) plan.add(place, shape);
}

void read_delta_net(ConfigFields& fields, LayerPlan& plan) {
  add_expanded(fields, plan, LayerKind::delta_rule, {1, 1}, convolution_width(fields, true));
}

void read_gated_deltanet(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields), key_heads = fields.whole({"num_heads"}, kMostHeads),
                     K = fields.whole_or({"head_dim"}, kMostWidth, 256);
  const std::int64_t heads = fields.whole_or({"num_v_heads"}, kMostHeads, key_heads);
  const std::int64_t V = fields.scaled(fields.real_or("expand_v", 2), K, "expand_v x head_dim");
  const std::int64_t W = convolution_width(fields, true);
  add_with_attention(fields, plan, layers, delta_shape({LayerKind::gated_delta_rule, key_heads, heads, K, V, W}));
}

}  // namespace

void add_recurrent_architectures(std::vector<Architecture>& list) {
  list.push_back({"mamba", read_mamba});
  list.push_back({"falcon_mamba", read_mamba});
  list.push_back({"mamba2", read_mamba2});
  list.push_back({"rwkv6", read_rwkv6});
  list.push_back({"rwkv7", read_rwkv7});
  list.push_back({"rwkv7_fla", read_rwkv7});
  list.push_back({"retnet", read_retnet});
  list.push_back({"delta_net", read_delta_net});
  list.push_back({"gated_deltanet", read_gated_deltanet});
}

}  // namespace linearmem
