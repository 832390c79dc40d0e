// Rounding to a narrower binary format, to nearest even, in the type T that computes:
//   unit = max(2^exponent(x), least_normal) * epsilon;   r = unit * round(x / unit);   from infinite_from on, infinity.
// Every step but the round is exact. One formula, here for single numbers and in rounding-inl.hpp for vectors.
#pragma once

#include <optional>

#include "foundation/rounding_format.hpp"
#include "linearmem/recurrent_state.hpp"

namespace linearmem {

// The format's rounding; absent where T holds no more than the format does.
template <typename T>
std::optional<Rounding<T>> rounding_to(StateType type);

template <typename T>
T rounded(const Rounding<T>& format, T x);

}  // namespace linearmem
