// The first number of a matrix that is not finite, as a refusal.
#pragma once

#include <cmath>
#include <string>

#include "foundation/number_text.hpp"
#include "foundation/shape_check.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

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

}  // namespace linearmem
