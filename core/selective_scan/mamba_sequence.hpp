// One sequence of the Mamba scan: what every form of it computes on. The door makes these and carries the state.
#pragma once

#include <cstdint>

#include "foundation/activation.hpp"
#include "linearmem/view.hpp"

namespace linearmem::scan {

template <typename T>
struct MambaSequence {
  View<const T, 2> u, delta;  // [T,D]
  View<const T, 2> A;         // [D,N]
  View<const T, 2> B, C;      // [T,N]
  View<const T, 1> D;           // [D] or absent
  View<const T, 2> z;           // [T,D] or absent
  View<const T, 1> delta_bias;  // [D] or absent
  bool with_softplus;
  View<T, 2> h;  // [D,N], packed; before the first token on entry, after the last on return
  View<T, 2> y;  // [T,D]

  std::int64_t tokens() const { return u.extent(0); }
  std::int64_t channels() const { return u.extent(1); }
  std::int64_t state_size() const { return A.extent(1); }

  T step(std::int64_t t, std::int64_t d) const {
    const T sum = delta_bias.given() ? delta(t, d) + delta_bias(d) : delta(t, d);
    return with_softplus ? softplus(sum) : sum;
  }
  // What the state reads becomes the output: the skip is added, the gate multiplies.
  T output(std::int64_t t, std::int64_t d, T read) const {
    const T sum = D.given() ? read + D(d) * u(t, d) : read;
    return z.given() ? sum * silu(z(t, d)) : sum;
  }
};

void reference(const MambaSequence<double>& sequence);
template <typename T>
void recurrent(const MambaSequence<T>& sequence);
template <typename T>
void chunked(const MambaSequence<T>& sequence, std::int64_t chunk);
template <typename T>
void explicit_sum(const MambaSequence<T>& sequence);
template <typename T>
void parallel_scan(const MambaSequence<T>& sequence);

}  // namespace linearmem::scan
