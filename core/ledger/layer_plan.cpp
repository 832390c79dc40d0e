#include "ledger/layer_plan.hpp"

#include <algorithm>
#include <set>

namespace linearmem {
namespace {

// The first of the names that the configuration has.
const char* name_in_config(const ConfigFields& fields, FieldNames names) {
  for (const char* name : names)
    if (fields.has(name)) return name;
  return nullptr;
}

bool evenly_spaced(const std::vector<std::int64_t>& places) {
  for (std::size_t i = 2; i < places.size(); ++i)
    if (places[i] - places[i - 1] != places[1] - places[0]) return false;
  return true;
}

}  // namespace

void LayerPlan::add(std::int64_t place, const LayerShape& shape) {
  for (Entry& entry : entries_)
    if (entry.shape == shape && entry.encoder_layers == 0) return entry.places.push_back(place);
  entries_.push_back({.shape = shape, .places = {place}});
}

void LayerPlan::add_encoder(std::int64_t layers, const LayerShape& shape) {
  entries_.push_back({.shape = shape, .encoder_layers = layers});
}

std::vector<LayerGroup> LayerPlan::groups() const {
  std::vector<LayerGroup> list;
  for (const Entry& entry : entries_) {
    if (entry.encoder_layers > 0)
      list.push_back({.shape = entry.shape, .layers = entry.encoder_layers});  // its kind says where it is
    else
      list.push_back({.shape = entry.shape, .layers = static_cast<std::int64_t>(entry.places.size()), .where = places_text(entry.places)});
  }
  return list;
}

std::int64_t LayerPlan::mixers() const {
  std::set<std::int64_t> places;
  for (const Entry& entry : entries_)
    if (entry.shape.kind != LayerKind::cross_attention && entry.encoder_layers == 0)
      places.insert(entry.places.begin(), entry.places.end());
  return static_cast<std::int64_t>(places.size());
}

std::string places_text(const std::vector<std::int64_t>& places) {
  const auto number = [&](std::size_t i) { return std::to_string(places[i]); };
  if (places.size() > 6 && places[1] - places[0] > 1 && evenly_spaced(places))
    return number(0) + ", " + number(1) + ", ..., " + number(places.size() - 1);
  std::string text;
  for (std::size_t start = 0, end = 0; start < places.size(); start = end + 1) {
    for (end = start; end + 1 < places.size() && places[end + 1] == places[end] + 1;) ++end;
    text += (text.empty() ? "" : ", ") + number(start) + (end > start ? "-" + number(end) : "");
    if (text.size() > 60 && end + 1 < places.size()) return text + ", ...";
  }
  return text;
}

std::vector<std::string> layer_types(ConfigFields& fields, FieldNames names, std::int64_t layers, std::initializer_list<const char*> known,
                                     const Assumption& rule, const std::function<const char*(std::int64_t)>& otherwise) {
  const char* name = name_in_config(fields, names);
  std::vector<std::string> types;
  if (!name) {
    fields.assume({rule.rule, *names.begin(), rule.number});
    for (std::int64_t place = 0; place < layers; ++place) types.emplace_back(otherwise(place));
    return types;
  }
  types = fields.texts(name);
  if (static_cast<std::int64_t>(types.size()) != layers) fields.wrong({name, " names ", types.size(), " layers, must name ", layers});
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (std::find(known.begin(), known.end(), types[i]) != known.end()) continue;
    std::string list;
    for (const char* word : known) list += (list.empty() ? "" : ", ") + std::string(word);
    fields.wrong({name, "[", i, "] is \"", types[i].substr(0, 60), "\", must be one of ", list});
    types[i] = *known.begin();
  }
  types.resize(static_cast<std::size_t>(layers), *known.begin());
  return types;
}

std::int64_t layer_count(ConfigFields& fields) {
  return fields.whole({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, kMostLayers);
}

LayerShape attention_shape(ConfigFields& fields, const AttentionDefaults& defaults) {
  const FieldNames heads_names = {"num_attention_heads", "n_head", "n_heads"};
  const std::int64_t heads =
      defaults.heads > 0 ? fields.whole_or(heads_names, kMostHeads, defaults.heads) : fields.whole(heads_names, kMostHeads);
  const std::int64_t kv_heads = fields.whole_or({"num_key_value_heads"}, kMostHeads, defaults.kv_heads > 0 ? defaults.kv_heads : heads);
  const FieldNames width_names = {"head_dim", "attention_head_dim"};
  std::int64_t width = fields.whole_or_none(width_names, kMostWidth);
  if (width == 0 && defaults.head_dim > 0) width = fields.whole_or(width_names, kMostWidth, defaults.head_dim);
  if (width == 0) {
    const std::int64_t hidden = fields.whole({"hidden_size", "n_embd", "d_model"}, kMostWidth);
    width = fields.quotient("hidden_size", hidden, "num_attention_heads", heads);
  }
  fields.quotient("num_attention_heads", heads, "num_key_value_heads", kv_heads);
  return {.kind = kv_heads < heads ? LayerKind::grouped_query_attention : LayerKind::full_attention,
          .heads = kv_heads,
          .key_width = width,
          .value_width = width};
}

LayerShape windowed(LayerShape shape, std::int64_t window) {
  shape.kind = LayerKind::window_attention;
  shape.window = window;
  return shape;
}

LayerShape latent_shape(ConfigFields& fields) {
  return {.kind = LayerKind::latent_attention,
          .heads = 1,
          .key_width = fields.whole({"kv_lora_rank"}, kMostWidth),
          .rope_width = fields.whole({"qk_rope_head_dim"}, kMostWidth)};
}

LayerShape mamba_shape(std::int64_t channels, std::int64_t N, std::int64_t W) {
  return {.kind = LayerKind::mamba, .heads = channels, .key_width = N, .value_width = 1, .conv_channels = channels, .conv_width = W};
}

LayerShape ssd_shape(std::int64_t heads, std::int64_t P, std::int64_t groups, std::int64_t N, std::int64_t W) {
  return {.kind = LayerKind::ssd,
          .heads = heads,
          .key_heads = groups,
          .key_width = N,
          .value_width = P,
          .conv_channels = heads * P + 2 * groups * N,
          .conv_width = W};
}

LayerShape delta_shape(const DeltaSizes& sizes) {
  const std::int64_t channels =
      2 * sizes.key_heads * sizes.key_width + sizes.heads * sizes.value_width;  // the convolution is over q, k and v
  return {.kind = sizes.kind,
          .heads = sizes.heads,
          .key_heads = sizes.key_heads,
          .key_width = sizes.key_width,
          .value_width = sizes.value_width,
          .conv_channels = sizes.conv_width > 0 ? channels : 0,
          .conv_width = sizes.conv_width};
}

}  // namespace linearmem
