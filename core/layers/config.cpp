// From a model's configuration to the options of a layer, as words.
#include "foundation/number_text.hpp"
#include "layers/kinds.hpp"
#include "ledger/config_value.hpp"

namespace linearmem {
namespace {

const ConfigValue* field(const ConfigValue& object, std::string_view name) {
  for (std::size_t i = 0; i < object.names.size(); ++i)
    if (object.names[i] == name) return &object.items[i];
  return nullptr;
}

// Null counts as not there, as it does where Hugging Face reads it.
const ConfigValue* find_option(const ConfigValue& config, const char* name) {
  const ConfigValue* text = field(config, "text_config");
  const ConfigValue* rope = field(text && text->kind == ConfigValue::Kind::object ? *text : config, "rope_parameters");
  for (const ConfigValue* object : {&config, text, rope}) {
    const ConfigValue* value = object && object->kind == ConfigValue::Kind::object ? field(*object, name) : nullptr;
    if (value && value->kind != ConfigValue::Kind::null) return value;
  }
  return nullptr;
}

bool is_number(const ConfigValue& value) { return value.kind == ConfigValue::Kind::whole || value.kind == ConfigValue::Kind::real; }

// Fields that turn positions otherwise than rope_theta alone says: refused, as the angles would be others and no weight would show it.
Status check_rope(const ConfigValue& config) {
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    const ConfigValue* rope = find_option(config, name);
    for (const char* key : {"rope_type", "type"}) {
      const ConfigValue* type = rope && rope->kind == ConfigValue::Kind::object ? field(*rope, key) : nullptr;
      if (type && type->kind != ConfigValue::Kind::null && type->text != "default")
        return Status::invalid("config: " + std::string(key) + " of " + name + " is " + in_words(*type) + "; rotary positions are not scaled here");
    }
  }
  const ConfigValue* part = find_option(config, "partial_rotary_factor");
  if (part && !(is_number(*part) && part->real == 1))
    return Status::invalid("config: partial_rotary_factor is " + in_words(*part) + "; here the whole head turns");
  return {};
}

std::string words_of(const ConfigValue& value) {
  if (value.kind == ConfigValue::Kind::whole) return std::to_string(value.whole);
  return number_text(value.real, 17);  // enough digits to read back the same number
}

Result<std::string> option_text(const char* name, const ConfigValue& value) {
  if (is_number(value)) return words_of(value);
  if (value.kind == ConfigValue::Kind::text) return value.text;
  if (value.kind == ConfigValue::Kind::boolean) return std::string(value.boolean ? "true" : "false");
  if (value.kind == ConfigValue::Kind::list && value.items.size() == 2 && is_number(value.items[0]) && is_number(value.items[1]))
    return words_of(value.items[0]) + "," + words_of(value.items[1]);
  return Status::invalid("config: " + std::string(name) + " is " + in_words(value) + ", must be a number, a text, true or false, or two numbers");
}

}  // namespace

Result<std::map<std::string, std::string>> layer_options(std::string_view kind, std::string_view config_json) {
  const auto layer = find_layer(kind);
  if (!layer.ok()) return layer.status();
  const auto config = read_config_value(config_json);
  if (!config.ok()) return config.status();
  if (config.value().kind != ConfigValue::Kind::object) return Status::invalid("config: is " + in_words(config.value()) + ", must be an object");
  if (kind == layers::kWindowAttention)
    if (Status status = check_rope(config.value()); !status.ok()) return status;
  std::map<std::string, std::string> options;
  for (const OptionSpec& spec : layer.value()->options) {
    const ConfigValue* value = find_option(config.value(), spec.name);
    if (!value) continue;
    const auto text = option_text(spec.name, *value);
    if (!text.ok()) return text.status();
    options[spec.name] = text.value();
  }
  return options;
}

}  // namespace linearmem
