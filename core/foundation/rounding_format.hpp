// A narrower binary format as the rounding of rounding.hpp sees it. No code: kernels include it too.
#pragma once

namespace linearmem {

template <typename T>
struct Rounding {
  T epsilon;        // the format's step at 1
  T least_normal;   // below it the format's steps stay as they are there
  T infinite_from;  // the format's largest number and half a step
  T whole;          // adding and subtracting it leaves the nearest whole number, ties to even
};

}  // namespace linearmem
