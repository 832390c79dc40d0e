// From a config.json, or a list written by hand, to the layers of a model.
#include <algorithm>
#include <string>

#include "ledger/architectures.hpp"
#include "ledger/config_value.hpp"
#include "ledger/sentence.hpp"
#include "linearmem/ledger.hpp"

namespace linearmem {
namespace {

constexpr const char* kDeciding =
    "num_hidden_layers, which kind each layer is, and for each kind its heads, key and value widths, window, state size and convolution "
    "width";

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> list = [] {
    std::vector<Architecture> all;
    add_attention_architectures(all);
    add_recurrent_architectures(all);
    add_hybrid_architectures(all);
    add_mamba_hybrid_architectures(all);
    return all;
  }();
  return list;
}

const Architecture* find_architecture(const std::string& model_type) {
  for (const Architecture& architecture : architectures())
    if (model_type == architecture.model_type) return &architecture;
  return nullptr;
}

Status unknown(const std::string& model_type) {
  std::string known;
  for (const Architecture& architecture : architectures()) known += (known.empty() ? "" : ", ") + std::string(architecture.model_type);
  return Status::invalid(sentence({"config: model_type ", model_type.substr(0, 60), " is not one of ", known, ". What would decide it: ",
                                   kDeciding, "; a list {\"layers\": [{\"kind\": ..., \"layers\": ...}]} says it by hand"}));
}

// What a layer would keep as full attention: the attention that most of the model's layers are, else of the model's width.
void choose_full_attention(ConfigFields& fields, ModelLayers& model) {
  const LayerGroup* most = nullptr;
  const auto serves = [](LayerKind kind) { return kind <= LayerKind::latent_attention; };
  const auto rank = [](const LayerGroup& group) { return std::pair(group.shape.kind != LayerKind::window_attention, group.layers); };
  for (const LayerGroup& group : model.groups)
    if (serves(group.shape.kind) && (!most || rank(group) > rank(*most))) most = &group;
  if (most) {
    model.full_attention = most->shape;
    if (most->shape.kind == LayerKind::window_attention) {
      model.full_attention->kind = LayerKind::full_attention;
      model.full_attention->window = 0;
    }
    return;
  }
  const std::int64_t width = fields.whole_or_none({"hidden_size", "decoder_embed_dim"}, kMostWidth);
  if (width == 0) return;
  model.full_attention = LayerShape{.kind = LayerKind::full_attention, .heads = 1, .key_width = width, .value_width = width};
  fields.assume({.rule = Assumption::Rule::width_of_full_attention, .number = static_cast<double>(width)});
}

Result<ModelLayers> read_architecture(const ConfigValue& object, const std::string& model_type) {
  const Architecture* architecture = find_architecture(model_type);
  if (!architecture) return unknown(model_type);
  ConfigFields fields(object, model_type);
  LayerPlan plan;
  architecture->read(fields, plan);
  if (Status status = fields.status(); !status.ok()) return status;
  ModelLayers model;
  model.model_type = model_type;
  model.groups = plan.groups();
  model.mixers = plan.mixers();
  choose_full_attention(fields, model);
  if (Status status = fields.status(); !status.ok()) return status;
  model.assumed = fields.assumed();
  return model;
}

// One item of "layers".
LayerGroup read_group(ConfigFields& fields) {
  LayerGroup group{.layers = fields.whole_or({"layers"}, kMostLayers, 1), .where = fields.text_or("where", "").substr(0, 60)};
  const std::string name = fields.text_or("kind", "");
  if (name.empty()) fields.missing("kind");
  const auto kind = find_layer_kind(name);
  if (!name.empty() && !kind.ok()) fields.wrong({"kind: ", kind.status().message()});
  LayerShape& shape = group.shape;
  if (kind.ok()) shape.kind = kind.value();
  shape.heads = shape.kind == LayerKind::latent_attention ? 1 : fields.whole_or_none({"heads"}, kMostHeads);
  shape.key_heads = fields.whole_or_none({"key_heads"}, kMostHeads);
  shape.key_width = fields.whole_or_none({"key_width"}, kMostWidth);
  shape.value_width = fields.whole_or_none({"value_width"}, kMostWidth);
  shape.rope_width = fields.whole_or_none({"rope_width"}, kMostWidth);
  shape.window = fields.whole_or_none({"window"}, kMostTokens);
  shape.normalizer = fields.boolean_or("normalizer", false);
  shape.conv_channels = fields.whole_or_none({"conv_channels"}, kMostWidth);
  shape.conv_width = fields.whole_or_none({"conv_width"}, 1024);
  shape.shift_channels = fields.whole_or_none({"shift_channels"}, kMostWidth);
  return group;
}

Status refuse_unknown_names(const ConfigValue& item, const std::string& place) {
  constexpr const char* kNames[] = {"kind",       "layers", "where",      "heads",         "key_heads",  "key_width",     "value_width",
                                    "rope_width", "window", "normalizer", "conv_channels", "conv_width", "shift_channels"};
  for (const std::string& name : item.names) {
    if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) continue;
    std::string known;
    for (const char* word : kNames) known += (known.empty() ? "" : ", ") + std::string(word);
    return Status::invalid(sentence({"config: ", place, ".", name.substr(0, 60), " is not one of ", known}));
  }
  return {};
}

Result<ModelLayers> read_layer_list(const ConfigValue& object, const ConfigValue& list) {
  if (list.items.empty()) return Status::invalid("config: layers is empty, must list at least one layer");
  ConfigFields whole(object, "of a list of layers");
  ModelLayers model;
  model.model_type = "layers";
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const std::string place = "layers[" + std::to_string(i) + "]";
    if (list.items[i].kind != ConfigValue::Kind::object)
      return Status::invalid(sentence({"config: ", place, " is ", in_words(list.items[i]), ", must be an object"}));
    if (Status status = refuse_unknown_names(list.items[i], place); !status.ok()) return status;
    ConfigFields fields(list.items[i], "of " + place);
    model.groups.push_back(read_group(fields));
    if (Status status = fields.status(); !status.ok()) return status;
    if (const auto elements = layer_elements(model.groups.back().shape); !elements.ok())
      return Status::invalid(sentence({"config: ", place, ": ", elements.status().message()}));
    const LayerKind kind = model.groups.back().shape.kind;
    if (kind != LayerKind::cross_attention && kind != LayerKind::encoder_attention) model.mixers += model.groups.back().layers;
  }
  choose_full_attention(whole, model);
  if (Status status = whole.status(); !status.ok()) return status;
  model.assumed = whole.assumed();
  return model;
}

const ConfigValue* member(const ConfigValue& object, const char* name) {
  for (std::size_t i = 0; i < object.names.size(); ++i)
    if (object.names[i] == name) return &object.items[i];
  return nullptr;
}

}  // namespace

Result<ModelLayers> read_model_config(std::string_view json) {
  const auto read = read_config_value(json);
  if (!read.ok()) return read.status();
  const ConfigValue& object = read.value();
  if (object.kind != ConfigValue::Kind::object)
    return Status::invalid(sentence({"config: it is ", in_words(object), ", must be an object"}));
  const ConfigValue* type = member(object, "model_type");
  const ConfigValue* layers = member(object, "layers");
  if (!type && layers && layers->kind == ConfigValue::Kind::list) return read_layer_list(object, *layers);
  if (!type) return Status::invalid(sentence({"config: model_type is missing. What would decide it: ", kDeciding}));
  if (type->kind != ConfigValue::Kind::text)
    return Status::invalid(sentence({"config: model_type is ", in_words(*type), ", must be a text"}));
  // A model of several senses: its language model has a configuration of its own within.
  const ConfigValue* language = member(object, "text_config");
  if (!find_architecture(type->text) && language && language->kind == ConfigValue::Kind::object) {
    const ConfigValue* inner = member(*language, "model_type");
    return read_architecture(*language, inner && inner->kind == ConfigValue::Kind::text ? inner->text : type->text + "_text");
  }
  return read_architecture(object, type->text);
}

Result<ModelLayers> find_model(std::string_view name) {
  std::string known;
  for (const NamedModel& named : named_models()) {
    known += (known.empty() ? "" : ", ") + std::string(named.name);
    if (name != named.name) continue;
    auto model = read_model_config(named.config);
    if (model.ok()) model.value().name = named.name;
    return model;
  }
  return Status::invalid(sentence({"model ", name.substr(0, 60), " is not one of ", known}));
}

}  // namespace linearmem
