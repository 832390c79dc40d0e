#include "settings.hpp"

#include <charconv>
#include <cmath>

namespace linearmem::cli {

Result<std::map<std::string, std::string>> parse_settings(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return Status::invalid("--set takes key=value, got \"" + text + "\"");
    const std::string key = text.substr(0, equals);
    if (!settings.emplace(key, text.substr(equals + 1)).second) return Status::invalid("--set gives " + key + " twice");
  }
  return settings;
}

Result<std::map<std::string, double>> parse_number_settings(const std::vector<std::string>& texts) {
  const auto words = parse_settings(texts);
  if (!words.ok()) return words.status();
  std::map<std::string, double> settings;
  for (const auto& [key, text] : words.value()) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
      return Status::invalid("--set " + key + " takes a number, got \"" + text + "\"");
    settings[key] = value;
  }
  return settings;
}

std::string number_text(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return error == std::errc{} ? std::string(text, end) : "?";
}

}  // namespace linearmem::cli
