// Checks that all doors of the room share. A sentence names the argument, the place and the number.
#pragma once

#include <cmath>
#include <string>

#include "foundation/finite_check.hpp"
#include "foundation/number_text.hpp"
#include "foundation/shape_check.hpp"
#include "linearmem/associative_memory.hpp"

namespace linearmem::associative {

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
