// Fields of a configuration, typed and within limits. The first thing wrong is kept, all that is missing is collected; a reader asks
// for what it needs and looks at status() once, at the end. Until then a field that is not there reads as 1.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "ledger/config_value.hpp"
#include "ledger/sentence.hpp"
#include "linearmem/ledger.hpp"

namespace linearmem {

inline constexpr std::int64_t kMostLayers = 10000;
inline constexpr std::int64_t kMostHeads = std::int64_t{1} << 20;
inline constexpr std::int64_t kMostWidth = std::int64_t{1} << 24;
inline constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;

using FieldNames = std::initializer_list<const char*>;  // the same field in several dialects; the first is the one errors name

class ConfigFields {
 public:
  // `object` outlives this.
  ConfigFields(const ConfigValue& object, std::string model_type) : object_(&object), model_type_(std::move(model_type)) {}

  const std::string& model_type() const { return model_type_; }

  // Null counts as not there, as it does where Hugging Face reads it.
  bool has(const char* name) const { return find({name}) != nullptr; }
  bool is_null(const char* name) const;  // written, as null
  bool is_text(const char* name, const char* text) const;
  std::int64_t whole(FieldNames names, std::int64_t most);                             // 1 to most; missing: collected
  std::int64_t whole_or(FieldNames names, std::int64_t most, std::int64_t otherwise);  // missing: assumed, and said so
  std::int64_t whole_or_none(FieldNames names, std::int64_t most);                     // missing: 0, which is said nowhere
  std::int64_t from_zero_or(const char* name, std::int64_t most, std::int64_t otherwise);
  double real_or(const char* name, double otherwise);  // above 0, at most 1024
  bool boolean_or(const char* name, bool otherwise);
  std::string text_or(const char* name, const std::string& otherwise);
  std::vector<std::string> texts(const char* name);                       // a list of texts; missing: empty
  std::vector<std::int64_t> wholes(const char* name, std::int64_t most);  // a list of numbers from 0 to most; missing: empty
  const ConfigValue* object(const char* name);                            // missing: collected

  // a / b, which must leave no rest.
  std::int64_t quotient(const char* a_name, std::int64_t a, const char* b_name, std::int64_t b);
  // Whole part of factor * size.
  std::int64_t scaled(double factor, std::int64_t size, const char* what);

  void missing(const std::string& name);
  void wrong(SentenceParts reason);  // "head_dim is ..., must be ..."
  // What was found out about an object within this one.
  void take_over(const ConfigFields& inner);
  void assume(Assumption what) { assumed_.push_back(std::move(what)); }

  const std::vector<Assumption>& assumed() const { return assumed_; }
  Status status() const;

 private:
  const ConfigValue* find(FieldNames names) const;
  std::int64_t checked(const ConfigValue& value, const char* name, std::int64_t least, std::int64_t most);

  const ConfigValue* object_;
  std::string model_type_;
  std::string wrong_;
  std::vector<std::string> missing_;
  std::vector<Assumption> assumed_;
};

}  // namespace linearmem
