// One sequence: what every form of the convolution computes on. The door makes these and carries the inputs kept.
#pragma once

#include <cstdint>

#include "linearmem/causal_conv.hpp"
#include "linearmem/view.hpp"

namespace linearmem::conv {

template <typename T>
struct Sequence {
  View<const T, 2> x;       // [T,D]
  View<const T, 2> weight;  // [D,W]
  View<const T, 1> bias;    // [D] or absent
  Activation activation;
  View<T, 2> kept;  // [D,W-1], packed; before the first token on entry, after the last on return
  View<T, 2> y;     // [T,D]

  std::int64_t tokens() const { return x.extent(0); }
  std::int64_t channels() const { return x.extent(1); }
  std::int64_t width() const { return weight.extent(1); }
};

void reference(const Sequence<double>& sequence);
template <typename T>
void recurrent(const Sequence<T>& sequence);

}  // namespace linearmem::conv
