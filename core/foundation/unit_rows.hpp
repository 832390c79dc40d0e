// Drawn rows of length 1, as keys mostly are: plain loops in float64, since the doors normalize in kernels of their own.
#pragma once

#include <cmath>
#include <cstdint>

#include "linearmem/random.hpp"

namespace linearmem {

inline double length_of(const double* row, std::int64_t width) {
  double squares = 0;
  for (std::int64_t i = 0; i < width; ++i) squares += row[i] * row[i];
  return std::sqrt(squares);
}

inline void divide_by_length(double* row, std::int64_t width) {
  const double length = length_of(row, width);
  for (std::int64_t i = 0; i < width; ++i) row[i] /= length;
}

// Rows [count,width], packed, drawn before any is normalized.
inline void draw_unit_rows(Generator& generator, double* rows, std::int64_t count, std::int64_t width) {
  generator.fill_normal({rows, static_cast<std::size_t>(count * width)});
  for (std::int64_t row = 0; row < count; ++row) divide_by_length(rows + row * width, width);
}

}  // namespace linearmem
