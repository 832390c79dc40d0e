// Attention beside Mamba-1 or Mamba-2 (SSD): in turn, in a shared block, or side by side in every layer.
#include <algorithm>
#include <string>

#include "ledger/architectures.hpp"

namespace linearmem {
namespace {

// The width of all heads of a Mamba layer together.
std::int64_t inner_width(ConfigFields& fields, const char* expand) {
  return fields.scaled(fields.real_or(expand, 2), fields.whole({"hidden_size"}, kMostWidth), "mamba_expand x hidden_size");
}

// Mamba-2 with mamba_n_heads heads; mamba_d_head is their width, or "auto".
LayerShape named_ssd(ConfigFields& fields, std::int64_t inner) {
  const std::int64_t heads = fields.whole({"mamba_n_heads"}, kMostHeads);
  const std::int64_t P = fields.quotient("the width of the Mamba layer", inner, "mamba_n_heads", heads);
  if (fields.has("mamba_d_head") && !fields.is_text("mamba_d_head", "auto"))
    if (const std::int64_t given = fields.whole({"mamba_d_head"}, kMostWidth); given != P && fields.status().ok())
      fields.wrong({"mamba_d_head is ", given, ", must be ", P, ": ", inner, " in ", heads, " heads"});
  const std::int64_t groups = fields.whole_or({"mamba_n_groups"}, kMostHeads, 1), N = fields.whole_or({"mamba_d_state"}, kMostWidth, 256);
  return ssd_shape(heads, P, groups, N, fields.whole_or({"mamba_d_conv"}, 1024, 4));
}

bool holds(const std::vector<std::int64_t>& list, std::int64_t number) { return std::find(list.begin(), list.end(), number) != list.end(); }

void read_jamba(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields), period = fields.whole_or({"attn_layer_period"}, kMostLayers, 8);
  const std::int64_t offset = fields.from_zero_or("attn_layer_offset", kMostLayers, 4);
  if (offset >= period) fields.wrong({"attn_layer_offset is ", offset, ", must be below attn_layer_period, which is ", period});
  const LayerShape attention = attention_shape(fields, {.kv_heads = 8});
  const std::int64_t channels = inner_width(fields, "mamba_expand"), N = fields.whole_or({"mamba_d_state"}, kMostWidth, 16);
  const LayerShape mamba = mamba_shape(channels, N, fields.whole_or({"mamba_d_conv"}, 1024, 4));
  for (std::int64_t place = 0; place < layers; ++place) plan.add(place, place % period == offset ? attention : mamba);
}

void read_bamba(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields);
  const LayerShape attention = attention_shape(fields, {.kv_heads = 8}), ssd = named_ssd(fields, inner_width(fields, "mamba_expand"));
  const std::vector<std::int64_t> places = fields.wholes("attn_layer_indices", layers - 1);
  if (places.empty()) fields.assume({.rule = Assumption::Rule::none, .field = "attn_layer_indices"});
  for (std::int64_t place = 0; place < layers; ++place) plan.add(place, holds(places, place) ? attention : ssd);
}

void read_granite_hybrid(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields);
  const LayerShape attention = attention_shape(fields), ssd = named_ssd(fields, inner_width(fields, "mamba_expand"));
  const auto types =
      layer_types(fields, {"layer_types", "layers_block_type"}, layers, {"mamba", "attention", "linear_attention", "full_attention"},
                  {.rule = Assumption::Rule::mamba_in_every_layer}, [](std::int64_t) { return "mamba"; });
  for (std::int64_t place = 0; place < layers; ++place) {
    const std::string& type = types[static_cast<std::size_t>(place)];
    plan.add(place, type == "attention" || type == "full_attention" ? attention : ssd);
  }
}

// Every layer has both, side by side.
void read_falcon_h1(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields);
  const LayerShape attention = attention_shape(fields, {.kv_heads = 8});
  const std::int64_t given = fields.whole_or_none({"mamba_d_ssm"}, kMostWidth);
  const LayerShape ssd = named_ssd(fields, given > 0 ? given : inner_width(fields, "mamba_expand"));
  for (std::int64_t place = 0; place < layers; ++place) plan.add(place, attention);
  for (std::int64_t place = 0; place < layers; ++place) plan.add(place, ssd);
}

// Every layer is Mamba-2; a "hybrid" one runs a shared attention block before it, on the hidden vector and the embedding side by side,
// so its heads are twice as wide. Parameters are shared, K and V are not.
void read_zamba2(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields), hidden = fields.whole({"hidden_size"}, kMostWidth);
  const std::int64_t inner = fields.has("expansion_factor") ? inner_width(fields, "expansion_factor") : inner_width(fields, "mamba_expand");
  const std::int64_t width = fields.whole_or_none({"mamba_headdim"}, kMostWidth);
  const std::int64_t heads = fields.has("n_mamba_heads") || width == 0
                                 ? fields.whole({"n_mamba_heads"}, kMostHeads)
                                 : fields.quotient("mamba_expand x hidden_size", inner, "mamba_headdim", width);
  const LayerShape ssd =
      ssd_shape(heads, fields.quotient("mamba_expand x hidden_size", inner, "n_mamba_heads", heads),
                fields.whole_or({"mamba_ngroups"}, kMostHeads, 1), fields.whole_or({"mamba_d_state", "state_size"}, kMostWidth, 64),
                fields.whole_or({"mamba_d_conv", "conv_dimension"}, 1024, 4));
  const std::int64_t query_heads = fields.whole({"num_attention_heads"}, kMostHeads);
  const std::int64_t kv_heads = fields.whole_or({"num_key_value_heads"}, kMostHeads, query_heads);
  const std::int64_t head_width = fields.quotient("2 x hidden_size", 2 * hidden, "num_attention_heads", query_heads);
  const LayerShape attention{.kind = kv_heads < query_heads ? LayerKind::grouped_query_attention : LayerKind::full_attention,
                             .heads = kv_heads,
                             .key_width = head_width,
                             .value_width = head_width};
  if (!fields.has("layers_block_type")) fields.missing("layers_block_type");
  const auto types = layer_types(fields, {"layers_block_type"}, layers, {"mamba", "hybrid"}, {}, [](std::int64_t) { return "mamba"; });
  for (std::int64_t place = 0; place < layers; ++place) {
    plan.add(place, ssd);
    if (types[static_cast<std::size_t>(place)] == "hybrid") plan.add(place, attention);
  }
}

// One letter per layer: M is Mamba-2, * attention, - and E are feed-forward and keep nothing.
std::string pattern_of(ConfigFields& fields) {
  if (fields.has("hybrid_override_pattern")) return fields.text_or("hybrid_override_pattern", "");
  if (!fields.has("layers_block_type") && !fields.has("layer_types")) fields.missing("hybrid_override_pattern");
  const char* name = fields.has("layers_block_type") ? "layers_block_type" : "layer_types";
  const auto given = static_cast<std::int64_t>(fields.texts(name).size());
  std::string pattern;
  for (const std::string& type :
       layer_types(fields, {name}, given, {"mamba", "linear_attention", "attention", "full_attention", "mlp", "moe"}, {},
                   [](std::int64_t) { return "mlp"; }))
    pattern += type == "mamba" || type == "linear_attention" ? 'M' : type == "attention" || type == "full_attention" ? '*' : '-';
  return pattern;
}

void read_nemotron_h(ConfigFields& fields, LayerPlan& plan) {
  const std::string pattern = pattern_of(fields);
  const auto layers = static_cast<std::int64_t>(pattern.size());
  const std::int64_t given = fields.whole_or_none({"num_hidden_layers"}, kMostLayers);
  if (layers > kMostLayers || (given > 0 && given != layers))
    fields.wrong({"hybrid_override_pattern names ", layers, " layers, must name ", given > 0 ? given : kMostLayers});
  if (const std::size_t odd = pattern.find_first_not_of("M*-E"); odd != std::string::npos)
    fields.wrong({"hybrid_override_pattern has \"", pattern.substr(odd, 1), "\" at ", odd, ", must be of M, *, - and E"});
  const LayerShape attention = attention_shape(fields, {.kv_heads = 8, .head_dim = 128});
  const LayerShape ssd =
      ssd_shape(fields.whole_or({"mamba_num_heads"}, kMostHeads, 128), fields.whole_or({"mamba_head_dim"}, kMostWidth, 64),
                fields.whole_or({"n_groups", "mamba_n_groups"}, kMostHeads, 8), fields.whole_or({"ssm_state_size"}, kMostWidth, 128),
                fields.whole_or({"conv_kernel", "mamba_d_conv"}, 1024, 4));
  if (!fields.status().ok()) return;
  for (std::int64_t place = 0; place < layers; ++place) {
    if (pattern[static_cast<std::size_t>(place)] == '*') plan.add(place, attention);
    if (pattern[static_cast<std::size_t>(place)] == 'M') plan.add(place, ssd);
  }
}

}  // namespace

void add_mamba_hybrid_architectures(std::vector<Architecture>& list) {
  list.push_back({"jamba", read_jamba});
  list.push_back({"bamba", read_bamba});
  list.push_back({"granitemoehybrid", read_granite_hybrid});
  list.push_back({"falcon_h1", read_falcon_h1});
  list.push_back({"zamba2", read_zamba2});
  list.push_back({"nemotron_h", read_nemotron_h});
}

}  // namespace linearmem
