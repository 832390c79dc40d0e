// Transformers: full, grouped-query, sliding-window and latent attention, and the encoder-decoder.
#include <string>

#include "ledger/architectures.hpp"

namespace linearmem {
namespace {

enum class Windows {
  none,         // every layer attends to everything, whatever sliding_window says
  every_layer,  // sliding_window, where it is set, holds for every layer
  switched,     // only with use_sliding_window, from layer max_window_layers on
  in_turn,      // all but each period-th layer
};

struct Family {
  const char* model_type;
  AttentionDefaults defaults = {};
  Windows windows = Windows::none;
  std::int64_t window = 0;  // the default; 0: none
  std::int64_t period = 0;
};

const std::vector<Family>& families() {
  static const std::vector<Family> list = {
      {.model_type = "llama"},
      {.model_type = "mistral", .defaults = {.kv_heads = 8}, .windows = Windows::every_layer, .window = 4096},
      {.model_type = "mixtral", .defaults = {.kv_heads = 8}, .windows = Windows::every_layer},
      {.model_type = "phi3", .windows = Windows::every_layer},
      {.model_type = "starcoder2", .defaults = {.kv_heads = 2}, .windows = Windows::every_layer},
      {.model_type = "gemma", .defaults = {.kv_heads = 16, .head_dim = 256}},
      {.model_type = "gemma2",
       .defaults = {.heads = 8, .kv_heads = 4, .head_dim = 256},
       .windows = Windows::in_turn,
       .window = 4096,
       .period = 2},
      {.model_type = "gemma3_text",
       .defaults = {.heads = 8, .kv_heads = 4, .head_dim = 256},
       .windows = Windows::in_turn,
       .window = 4096,
       .period = 6},
      {.model_type = "gpt_oss",
       .defaults = {.heads = 64, .kv_heads = 8, .head_dim = 64},
       .windows = Windows::in_turn,
       .window = 128,
       .period = 2},
      {.model_type = "olmo3", .windows = Windows::in_turn, .window = 4096, .period = 4},
      {.model_type = "cohere2", .windows = Windows::in_turn, .window = 4096, .period = 4},
      {.model_type = "qwen2", .windows = Windows::switched, .window = 4096},
      {.model_type = "qwen2_moe", .windows = Windows::switched, .window = 4096},
      {.model_type = "qwen3", .defaults = {.head_dim = 128}, .windows = Windows::switched, .window = 4096},
      {.model_type = "qwen3_moe", .windows = Windows::switched, .window = 4096},
      {.model_type = "gpt2"},
      {.model_type = "gpt_neox"},
      {.model_type = "opt"},
      {.model_type = "olmo"},
      {.model_type = "olmo2"},
      {.model_type = "granite"},
      {.model_type = "granitemoe"},
  };
  return list;
}

const Family& family_of(const std::string& model_type) {
  for (const Family& family : families())
    if (model_type == family.model_type) return family;
  return families().front();
}

// 0: no layer has a window.
std::int64_t window_of(ConfigFields& fields, const Family& family) {
  if (family.windows == Windows::none || fields.is_null("sliding_window")) return 0;
  if (family.windows == Windows::switched && !fields.boolean_or("use_sliding_window", false)) return 0;
  return family.window > 0 ? fields.whole_or({"sliding_window"}, kMostTokens, family.window)
                           : fields.whole_or_none({"sliding_window"}, kMostTokens);
}

void read_family(ConfigFields& fields, LayerPlan& plan) {
  const Family& family = family_of(fields.model_type());
  const std::int64_t layers = layer_count(fields), window = window_of(fields, family);
  const LayerShape full = attention_shape(fields, family.defaults);
  if (window == 0) {
    for (std::int64_t place = 0; place < layers; ++place) plan.add(place, full);
    return;
  }
  std::int64_t period = 1, first = 0;
  Assumption rule{.rule = Assumption::Rule::window_in_every_layer};
  if (family.windows == Windows::in_turn && !fields.has("layer_types")) {
    period = fields.whole_or({"sliding_window_pattern", "_sliding_window_pattern"}, kMostLayers, family.period);
    rule = {.rule = Assumption::Rule::last_of_every, .number = static_cast<double>(period)};
  }
  if (family.windows == Windows::switched && !fields.has("layer_types")) {
    first = fields.whole({"max_window_layers"}, kMostLayers);
    rule = {.rule = Assumption::Rule::window_from, .number = static_cast<double>(first)};
  }
  const auto by_rule = [&](std::int64_t place) {
    const bool all = family.windows == Windows::in_turn ? place % period == period - 1 : place < first;
    return all ? "full_attention" : "sliding_attention";
  };
  const auto types = layer_types(fields, {"layer_types"}, layers, {"full_attention", "sliding_attention"}, rule, by_rule);
  for (std::int64_t place = 0; place < layers; ++place)
    plan.add(place, types[static_cast<std::size_t>(place)] == "full_attention" ? full : windowed(full, window));
}

void read_latent(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t layers = layer_count(fields);
  const LayerShape latent = latent_shape(fields);
  for (std::int64_t place = 0; place < layers; ++place) plan.add(place, latent);
}

// The encoder keeps nothing once it has read; each layer of the decoder keeps its own K,V and those of the source.
void read_t5(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t heads = fields.whole({"num_heads"}, kMostHeads), width = fields.whole({"d_kv"}, kMostWidth);
  const std::int64_t encoder = fields.whole({"num_layers"}, kMostLayers),
                     decoder = fields.whole_or({"num_decoder_layers"}, kMostLayers, encoder);
  const LayerShape self{.kind = LayerKind::full_attention, .heads = heads, .key_width = width, .value_width = width};
  LayerShape cross = self, reading = self;
  cross.kind = LayerKind::cross_attention;
  reading.kind = LayerKind::encoder_attention;
  plan.add_encoder(encoder, reading);
  for (std::int64_t place = 0; place < decoder; ++place) plan.add(place, self);
  for (std::int64_t place = 0; place < decoder; ++place) plan.add(place, cross);
}

void read_bart(ConfigFields& fields, LayerPlan& plan) {
  const std::int64_t model = fields.whole({"d_model"}, kMostWidth), heads = fields.whole({"decoder_attention_heads"}, kMostHeads);
  const std::int64_t encoder = fields.whole({"encoder_layers"}, kMostLayers), decoder = fields.whole({"decoder_layers"}, kMostLayers);
  const std::int64_t width = fields.quotient("d_model", model, "decoder_attention_heads", heads);
  const LayerShape self{.kind = LayerKind::full_attention, .heads = heads, .key_width = width, .value_width = width};
  LayerShape cross = self, reading = self;
  cross.kind = LayerKind::cross_attention;
  reading.kind = LayerKind::encoder_attention;
  plan.add_encoder(encoder, reading);
  for (std::int64_t place = 0; place < decoder; ++place) plan.add(place, self);
  for (std::int64_t place = 0; place < decoder; ++place) plan.add(place, cross);
}

}  // namespace

void add_attention_architectures(std::vector<Architecture>& list) {
  for (const Family& family : families()) list.push_back({family.model_type, read_family});
  for (const char* name : {"deepseek_v2", "deepseek_v3", "kimi_k2"}) list.push_back({name, read_latent});
  for (const char* name : {"t5", "mt5", "umt5"}) list.push_back({name, read_t5});
  for (const char* name : {"bart", "mbart", "whisper"}) list.push_back({name, read_bart});
}

}  // namespace linearmem
