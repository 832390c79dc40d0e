#include "ledger/config_fields.hpp"

#include <algorithm>
#include <cmath>

namespace linearmem {

using Kind = ConfigValue::Kind;

const ConfigValue* ConfigFields::find(FieldNames names) const {
  for (const char* name : names)
    for (std::size_t i = 0; i < object_->names.size(); ++i)
      if (object_->names[i] == name && object_->items[i].kind != Kind::null) return &object_->items[i];
  return nullptr;
}

bool ConfigFields::is_null(const char* name) const {
  for (std::size_t i = 0; i < object_->names.size(); ++i)
    if (object_->names[i] == name) return object_->items[i].kind == Kind::null;
  return false;
}

bool ConfigFields::is_text(const char* name, const char* text) const {
  const ConfigValue* value = find({name});
  return value && value->kind == Kind::text && value->text == text;
}

void ConfigFields::missing(const std::string& name) {
  if (std::find(missing_.begin(), missing_.end(), name) == missing_.end()) missing_.push_back(name);
}

void ConfigFields::wrong(SentenceParts reason) {
  if (wrong_.empty()) wrong_ = sentence(reason);
}

std::int64_t ConfigFields::checked(const ConfigValue& value, const char* name, std::int64_t least, std::int64_t most) {
  if (value.kind == Kind::whole && value.whole >= least && value.whole <= most) return value.whole;
  wrong({name, " is ", in_words(value), ", must be a whole number from ", least, " to ", most});
  return 1;
}

std::int64_t ConfigFields::whole(FieldNames names, std::int64_t most) {
  if (const ConfigValue* value = find(names)) return checked(*value, *names.begin(), 1, most);
  missing(*names.begin());
  return 1;
}

std::int64_t ConfigFields::whole_or(FieldNames names, std::int64_t most, std::int64_t otherwise) {
  if (const ConfigValue* value = find(names)) return checked(*value, *names.begin(), 1, most);
  assume({.field = *names.begin(), .number = static_cast<double>(otherwise)});
  return otherwise;
}

std::int64_t ConfigFields::whole_or_none(FieldNames names, std::int64_t most) {
  const ConfigValue* value = find(names);
  return value ? checked(*value, *names.begin(), 1, most) : 0;
}

std::int64_t ConfigFields::from_zero_or(const char* name, std::int64_t most, std::int64_t otherwise) {
  if (const ConfigValue* value = find({name})) return checked(*value, name, 0, most);
  assume({.field = name, .number = static_cast<double>(otherwise)});
  return otherwise;
}

double ConfigFields::real_or(const char* name, double otherwise) {
  constexpr double kMost = 1024;
  const ConfigValue* value = find({name});
  if (!value) {
    assume({.field = name, .number = otherwise});
    return otherwise;
  }
  if ((value->kind == Kind::whole || value->kind == Kind::real) && value->real > 0 && value->real <= kMost) return value->real;
  wrong({name, " is ", in_words(*value), ", must be a number above 0 and at most 1024"});
  return 1;
}

bool ConfigFields::boolean_or(const char* name, bool otherwise) {
  const ConfigValue* value = find({name});
  if (!value) return otherwise;
  if (value->kind != Kind::boolean) wrong({name, " is ", in_words(*value), ", must be true or false"});
  return value->boolean;
}

std::string ConfigFields::text_or(const char* name, const std::string& otherwise) {
  const ConfigValue* value = find({name});
  if (!value) return otherwise;
  if (value->kind != Kind::text) wrong({name, " is ", in_words(*value), ", must be a text"});
  return value->text;
}

std::vector<std::string> ConfigFields::texts(const char* name) {
  std::vector<std::string> list;
  const ConfigValue* value = find({name});
  if (!value) return list;
  if (value->kind != Kind::list) wrong({name, " is ", in_words(*value), ", must be a list"});
  for (const ConfigValue& item : value->items) {
    if (item.kind != Kind::text) wrong({name, "[", list.size(), "] is ", in_words(item), ", must be a text"});
    list.push_back(item.text);
  }
  return list;
}

std::vector<std::int64_t> ConfigFields::wholes(const char* name, std::int64_t most) {
  std::vector<std::int64_t> list;
  const ConfigValue* value = find({name});
  if (!value) return list;
  if (value->kind != Kind::list) wrong({name, " is ", in_words(*value), ", must be a list"});
  for (const ConfigValue& item : value->items) {
    const std::string place = std::string(name) + "[" + std::to_string(list.size()) + "]";
    list.push_back(checked(item, place.c_str(), 0, most));
  }
  return list;
}

const ConfigValue* ConfigFields::object(const char* name) {
  const ConfigValue* value = find({name});
  if (!value) missing(name);
  if (value && value->kind != Kind::object) wrong({name, " is ", in_words(*value), ", must be an object"});
  return value && value->kind == Kind::object ? value : nullptr;
}

std::int64_t ConfigFields::quotient(const char* a_name, std::int64_t a, const char* b_name, std::int64_t b) {
  if (!missing_.empty() || !wrong_.empty()) return 1;
  if (a % b == 0) return a / b;
  wrong({a_name, " is ", a, ", must be a multiple of ", b_name, ", which is ", b});
  return 1;
}

std::int64_t ConfigFields::scaled(double factor, std::int64_t size, const char* what) {
  const double product = std::floor(factor * static_cast<double>(size));
  if (product >= 1 && product <= static_cast<double>(kMostWidth)) return static_cast<std::int64_t>(product);
  if (missing_.empty()) wrong({what, " comes to ", static_cast<std::int64_t>(product), ", must be from 1 to ", kMostWidth});
  return 1;
}

void ConfigFields::take_over(const ConfigFields& inner) {
  const std::string where = inner.model_type_.substr(inner.model_type_.rfind(' ') + 1) + ".";
  if (!inner.wrong_.empty()) wrong({where, inner.wrong_});
  for (const std::string& name : inner.missing_) missing(where + name);
  for (const Assumption& what : inner.assumed_) assume({what.rule, where + what.field, what.number});
}

Status ConfigFields::status() const {
  const std::string head = "config: model_type " + model_type_ + ": ";
  if (!wrong_.empty()) return Status::invalid(sentence({head, wrong_}));
  if (missing_.empty()) return {};
  std::string list;
  for (const std::string& name : missing_) list += (list.empty() ? "" : ", ") + name;
  return Status::invalid(sentence({head, list, (missing_.size() == 1 ? " is" : " are"), " missing, and would decide what is kept"}));
}

}  // namespace linearmem
