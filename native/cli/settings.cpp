#include "verb.hpp"

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

}  // namespace linearmem::cli
