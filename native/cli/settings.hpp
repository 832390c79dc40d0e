// What follows --set, and numbers as text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem::cli {

// {"key=value", ...} as pairs. Errors: no "=", an empty key, a key set twice.
Result<std::map<std::string, std::string>> parse_settings(const std::vector<std::string>& texts);

// The same where every value is a finite number. Errors: also a value that is not one.
Result<std::map<std::string, double>> parse_number_settings(const std::vector<std::string>& texts);

// The shortest text that reads back as the same number.
std::string number_text(double value);

}  // namespace linearmem::cli
