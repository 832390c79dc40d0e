// The forms of adaptive computation time, and the mask they share. Arguments have been checked; o is not the memory of x.
#pragma once

#include "linearmem/depth_recurrence.hpp"

namespace linearmem::depth {

template <typename T>
bool takes_part(const AdaptiveComputationTimeArguments<T>& a, std::int64_t b, std::int64_t t) {
  return !a.mask.given() || a.mask(b, t) != 0;
}

void halting_reference(const AdaptiveComputationTimeArguments<double>& arguments);
template <typename T>
void halting_recurrent(const AdaptiveComputationTimeArguments<T>& arguments);

}  // namespace linearmem::depth
