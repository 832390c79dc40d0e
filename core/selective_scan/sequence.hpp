// One sequence of the elementwise scan: what every form of it computes on. The door makes these and carries the state.
#pragma once

#include <cstdint>

#include "linearmem/view.hpp"

namespace linearmem::scan {

template <typename T>
struct Sequence {
  View<const T, 2> x, a, b, c;  // [T,D]
  View<T, 1> h;                 // [D], packed; before the first token on entry, after the last on return
  View<T, 2> y;                 // [T,D]

  std::int64_t tokens() const { return x.extent(0); }
  std::int64_t channels() const { return x.extent(1); }
};

void reference(const Sequence<double>& sequence);
template <typename T>
void recurrent(const Sequence<T>& sequence);
template <typename T>
void chunked(const Sequence<T>& sequence, std::int64_t chunk);
template <typename T>
void explicit_sum(const Sequence<T>& sequence);
template <typename T>
void parallel_scan(const Sequence<T>& sequence);

}  // namespace linearmem::scan
