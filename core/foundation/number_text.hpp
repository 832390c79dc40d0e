// A number in a sentence, with a point whatever the locale of the program around has.
#pragma once

#include <clocale>
#include <cstdio>
#include <string>

namespace linearmem {

inline std::string number_text(double value, int digits = 6) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  std::string words = text;
  const std::string point = std::localeconv()->decimal_point;
  if (const std::size_t at = words.find(point); at != std::string::npos) words.replace(at, point.size(), ".");
  return words;
}

}  // namespace linearmem
