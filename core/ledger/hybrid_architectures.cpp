// Attention beside linear attention, delta memories or convolutions.
#include <algorithm>
#include <string>

#include "ledger/architectures.hpp"

namespace linearmem {
namespace {

constexpr std::initializer_list<const char*> kLinearOrFull = {"linear_attention", "full_attention"};

void add_by_type(LayerPlan& plan, const std::vector<std::string>& types, const LayerShape& linear, const LayerShape& full) {
  for (std::size_t place = 0; place < types.size(); ++place)
    plan.add(static_cast<std::int64_t>(place), types[place] == "full_attention" ? full : linear);
}

std::vector<std::string> every_fourth_is_full(ConfigFields& fields, std::int64_t layers, std::int64_t interval) {
  return layer_types(fields, {"layer_types"}, layers, kLinearOrFull,
                     {.rule = Assumption::Rule::last_of_every, .number = static_cast<double>(interval)},
                     [&](std::int64_t place) { return (place + 1) % interval == 0 ? "full_attention" : "linear_attention"; });
}

// Defaults are those of qwen3_next; its successors must say all.
void read_qwen3_next(ConfigFields& fields, LayerPlan& plan) {
  const bool first = fields.model_type() == "qwen3_next";
  const auto size = [&](const char* name, std::int64_t most, std::int64_t otherwise) {
    return first ? fields.whole_or({name}, most, otherwise) : fields.whole({name}, most);
  };
  const std::int64_t layers = layer_count(fields);
  const LayerShape full = attention_shape(fields, first ? AttentionDefaults{.kv_heads = 2, .head_dim = 256} : AttentionDefaults{});
  const LayerShape delta = delta_shape({.kind = LayerKind::gated_delta_rule,
                                        .key_heads = size("linear_num_key_heads", kMostHeads, 16),
                                        .heads = size("linear_num_value_heads", kMostHeads, 32),
                                        .key_width = size("linear_key_head_dim", kMostWidth, 128),
                                        .value_width = size("linear_value_head_dim", kMostWidth, 128),
                                        .conv_width = size("linear_conv_kernel_dim", 1024, 4)});
  const std::int64_t interval = fields.has("layer_types") ? 4 : size("full_attention_interval", kMostLayers, 4);
  add_by_type(plan, every_fourth_is_full(fields, layers, interval), delta, full);
}

void read_olmo_hybrid(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields);
  const LayerShape full = attention_shape(fields);
  const std::int64_t attention_heads = fields.whole({"num_attention_heads"}, kMostHeads);
  const std::int64_t key_heads = fields.whole_or({"linear_num_key_heads"}, kMostHeads, attention_heads);
  const std::int64_t heads = fields.whole_or({"linear_num_value_heads"}, kMostHeads, attention_heads);
  std::int64_t K = fields.whole_or_none({"linear_key_head_dim"}, kMostWidth);
  if (K == 0) {
    K = fields.scaled(0.75 / static_cast<double>(key_heads), fields.whole({"hidden_size"}, kMostWidth),
                      "linear_key_head_dim, three quarters of hidden_size / linear_num_key_heads,");
    fields.assume({.field = "linear_key_head_dim", .number = static_cast<double>(K)});
  }
  const std::int64_t V = fields.whole_or({"linear_value_head_dim"}, kMostWidth, 2 * K),
                     W = fields.whole_or({"linear_conv_kernel_dim"}, 1024, 4);
  add_by_type(plan, every_fourth_is_full(fields, layers, 4), delta_shape({LayerKind::gated_delta_rule, key_heads, heads, K, V, W}), full);
}

// Lightning attention: a state [head_dim, head_dim] in every query head, decayed, without a normalizer.
void read_minimax(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields), heads = fields.whole({"num_attention_heads"}, kMostHeads);
  const LayerShape full = attention_shape(fields, {.kv_heads = 8});
  const LayerShape linear{
      .kind = LayerKind::linear_attention, .heads = heads, .key_width = full.key_width, .value_width = full.value_width};
  if (!fields.has("attn_type_list")) {
    if (fields.model_type() != "minimax" && !fields.has("layer_types")) fields.missing("attn_type_list");
    const auto types = layer_types(fields, {"layer_types"}, layers, kLinearOrFull, {.rule = Assumption::Rule::full_and_linear_in_turn},
                                   [](std::int64_t place) { return place % 2 == 0 ? "full_attention" : "linear_attention"; });
    return add_by_type(plan, types, linear, full);
  }
  const std::vector<std::int64_t> types = fields.wholes("attn_type_list", 1);
  if (static_cast<std::int64_t>(types.size()) != layers)
    fields.wrong({"attn_type_list names ", types.size(), " layers, must name ", layers});
  for (std::size_t place = 0; place < types.size(); ++place) plan.add(static_cast<std::int64_t>(place), types[place] == 1 ? full : linear);
}

// Its lists count layers from 1.
void read_kimi_linear(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields);
  const LayerShape latent = latent_shape(fields);
  const ConfigValue* object = fields.object("linear_attn_config");
  if (!object) return;
  ConfigFields linear(*object, fields.model_type() + ": linear_attn_config");
  const std::int64_t heads = linear.whole({"num_heads"}, kMostHeads), width = linear.whole({"head_dim"}, kMostWidth);
  const LayerShape kda =
      delta_shape({LayerKind::kimi_delta, heads, heads, width, width, linear.whole_or({"short_conv_kernel_size"}, 1024, 4)});
  const std::vector<std::int64_t> deltas = linear.wholes("kda_layers", layers), full = linear.wholes("full_attn_layers", layers);
  if (deltas.empty() && full.empty()) linear.missing("kda_layers");
  const auto holds = [](const std::vector<std::int64_t>& list, std::int64_t number) {
    return std::find(list.begin(), list.end(), number) != list.end();
  };
  for (std::int64_t place = 0; place < layers; ++place) {
    const bool delta = deltas.empty() ? !holds(full, place + 1) : holds(deltas, place + 1);
    if (!deltas.empty() && !full.empty() && delta == holds(full, place + 1))
      linear.wrong({"layer ", place + 1, " is in ", (delta ? "both" : "neither"), " of kda_layers and full_attn_layers"});
    plan.add(place, delta ? kda : latent);
  }
  fields.take_over(linear);
}

void read_lfm2(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields), hidden = fields.whole({"hidden_size"}, kMostWidth),
                     W = fields.whole_or({"conv_L_cache"}, 1024, 3);
  const LayerShape full = attention_shape(fields, {.kv_heads = 8});
  const LayerShape convolution{.kind = LayerKind::short_convolution, .conv_channels = hidden, .conv_width = W};
  const std::vector<std::int64_t> indices = fields.wholes("full_attn_idxs", layers - 1);
  if (!fields.has("layer_types") && indices.empty()) fields.missing("layer_types");
  const auto types = layer_types(
      fields, {"layer_types"}, layers, {"conv", "full_attention"}, {.rule = Assumption::Rule::as_full_attn_idxs},
      [&](std::int64_t place) { return std::find(indices.begin(), indices.end(), place) != indices.end() ? "full_attention" : "conv"; });
  add_by_type(plan, types, convolution, full);
}

}  // namespace

void add_hybrid_architectures(std::vector<Architecture>& list) {
  for (const char* name : {"qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"}) list.push_back({name, read_qwen3_next});
  list.push_back({"olmo_hybrid", read_olmo_hybrid});
  list.push_back({"minimax", read_minimax});
  list.push_back({"minimax_text_01", read_minimax});
  list.push_back({"kimi_linear", read_kimi_linear});
  list.push_back({"lfm2", read_lfm2});
}

}  // namespace linearmem
