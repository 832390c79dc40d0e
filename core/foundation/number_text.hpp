// A number in a sentence of refusal.
#pragma once

#include <cstdio>
#include <string>

namespace linearmem {

inline std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace linearmem
