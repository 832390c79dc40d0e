// softplus and silu for forms that go value by value; activation-inl.hpp has them over vectors.
#pragma once

#include <cmath>

namespace linearmem {

// log(1 + exp(x)), without overflow and to full relative precision: x for large x, exp(x) for very negative x.
template <typename T>
T softplus(T x) {
  return x > T{0} ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

// x / (1 + exp(-x)).
template <typename T>
T silu(T x) {
  return x / (T{1} + std::exp(-x));
}

}  // namespace linearmem
