// A configuration as a tree, and its reader: JSON as RFC 8259 has it, and the Infinity and NaN that Python writes into it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem {

struct ConfigValue {
  enum class Kind { null, boolean, whole, real, text, list, object };

  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t whole = 0;  // Kind::whole: written without point and exponent, and within 64 bits
  double real = 0;         // of whole numbers too
  std::string text = {};
  std::vector<ConfigValue> items = {};  // of a list, or an object's values
  std::vector<std::string> names = {};  // of an object's values
};

inline constexpr std::size_t kMostConfigBytes = std::size_t{4} << 20;
inline constexpr int kMostConfigDepth = 32;
inline constexpr int kMostConfigValues = 200000;

// "an object", "the text \"auto\"", "2.5": for errors.
std::string in_words(const ConfigValue& value);

// Errors: "config: offset 17: ...": not JSON, a name given twice, more than the limits above.
Result<ConfigValue> read_config_value(std::string_view json);

}  // namespace linearmem
