// What a tensor's numbers are stored as and what an option takes, for --describe.
#pragma once

#include <string>

#include "linearmem/mechanisms.hpp"

namespace linearmem::cli {

inline const char* kind_text(TensorKind kind) {
  switch (kind) {
    case TensorKind::floating: return "F64 F32 BF16 F16";
    case TensorKind::integer: return "I64 I32";
    case TensorKind::boolean: return "BOOL";
  }
  return "";
}

inline std::string values_text(const OptionSpec& option) {
  switch (option.kind) {
    case OptionKind::number: return "a number";
    case OptionKind::integer: return "a whole number";
    case OptionKind::boolean: return "true or false";
    case OptionKind::text: return "words";
    case OptionKind::choice: break;
  }
  std::string text;
  for (const char* choice : option.choices) text += (text.empty() ? "" : " | ") + std::string(choice);
  return text;
}

}  // namespace linearmem::cli
