#include "mechanisms/option_text.hpp"

#include <clocale>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace linearmem {
namespace {

constexpr const char* kNotSet = "none";

// The whole text, in the C locale's notation, finite. Hexadecimal, "inf" and "nan" are refused with the rest.
std::optional<double> parse_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string::npos) return std::nullopt;
  std::string local = text;  // strtod wants the point of the program's locale
  if (const std::size_t at = local.find('.'); at != std::string::npos) local.replace(at, 1, std::localeconv()->decimal_point);
  char* end = nullptr;
  const double value = std::strtod(local.c_str(), &end);
  if (end != local.c_str() + local.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(const std::string& text) {
  const bool negative = !text.empty() && text[0] == '-';
  const std::string digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  std::int64_t value = 0;
  for (char digit : digits) {
    const std::int64_t step = negative ? '0' - digit : digit - '0';
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value) || __builtin_add_overflow(value, step, &value)) return std::nullopt;
  }
  return value;
}

std::string wanted(const OptionSpec& spec) {
  switch (spec.kind) {
    case OptionKind::number: return "a number";
    case OptionKind::integer: return "a whole number";
    case OptionKind::boolean: return "true or false";
    case OptionKind::text: return "words";
    case OptionKind::choice: break;
  }
  std::string text = "one of";
  for (const char* choice : spec.choices) text += (choice == spec.choices.front() ? " " : ", ") + std::string(choice);
  return text;
}

bool fits(const OptionSpec& spec, const std::string& text) {
  switch (spec.kind) {
    case OptionKind::number: return parse_number(text).has_value();
    case OptionKind::integer: return parse_integer(text).has_value();
    case OptionKind::boolean: return text == "true" || text == "false";
    case OptionKind::text: return true;
    case OptionKind::choice: break;
  }
  for (const char* choice : spec.choices)
    if (text == choice) return true;
  return false;
}

const std::string& text_of(const RunSettings& settings, const char* name) { return settings.options.at(name); }

}  // namespace

Status check_option(const OptionSpec& spec, const std::string& text) {
  const bool may_be_unset = spec.default_text == std::string_view(kNotSet);
  if ((may_be_unset && text == kNotSet) || fits(spec, text)) return {};
  return Status::invalid("takes " + wanted(spec) + (may_be_unset ? " or none" : "") + ", got \"" + text + "\"");
}

std::optional<double> option_number(const RunSettings& settings, const char* name) { return parse_number(text_of(settings, name)); }

std::optional<std::int64_t> option_integer(const RunSettings& settings, const char* name) { return parse_integer(text_of(settings, name)); }

bool option_boolean(const RunSettings& settings, const char* name) { return text_of(settings, name) == "true"; }

std::string option_choice(const RunSettings& settings, const char* name) { return text_of(settings, name); }

}  // namespace linearmem
