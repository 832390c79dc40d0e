// Checks that all doors of the room share. A sentence names the argument, the place and the number.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

#include "foundation/shape_check.hpp"
#include "linearmem/associative_memory.hpp"

namespace linearmem::associative {

inline std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// The first number of a matrix that is not finite, as a refusal.
template <typename T>
void check_finite(ShapeCheck& shapes, const char* argument, const View<T, 2>& view) {
  for (std::int64_t i = 0; i < view.extent(0); ++i)
    for (std::int64_t j = 0; j < view.extent(1); ++j)
      if (!std::isfinite(view(i, j))) {
        shapes.require(false, std::string(argument) + "[" + std::to_string(i) + "," + std::to_string(j) + "] is " +
                                  number_text(static_cast<double>(view(i, j))) + "; every number must be finite");
        return;
      }
}

void check_rule(ShapeCheck& shapes, const ResponseRule& rule);

// Copies float64 results out, or says which one `to` cannot hold.
template <typename T>
Status deliver(const char* door, const char* argument, const View<const double, 2>& from, const View<T, 2>& to) {
  for (std::int64_t i = 0; i < from.extent(0); ++i)
    for (std::int64_t j = 0; j < from.extent(1); ++j)
      if (!std::isfinite(static_cast<T>(from(i, j))))
        return Status::invalid(std::string(door) + ": " + argument + "[" + std::to_string(i) + "," + std::to_string(j) + "] is " +
                               number_text(from(i, j)) + ", past what " + (sizeof(T) == 4 ? "float32" : "float64") + " holds");
  for (std::int64_t i = 0; i < from.extent(0); ++i)
    for (std::int64_t j = 0; j < from.extent(1); ++j) to(i, j) = static_cast<T>(from(i, j));
  return {};
}

}  // namespace linearmem::associative
