// One head of one sequence: what every form of ssd computes on. The door makes these and carries the state.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "linearmem/view.hpp"

namespace linearmem::scan {

template <typename T>
struct SsdHead {
  View<const T, 2> x;     // [T,P]
  View<const T, 1> dt;    // [T]
  T A;                    // at most 0 where growth is not allowed
  View<const T, 2> B, C;  // [T,N]
  T D;                    // 0: no skip
  bool skip;
  View<T, 2> S;  // [N,P], rows without gaps inside, packed but for the recurrent form; before the first token on entry, after the last on return
  View<T, 2> y;  // [T,P]

  std::int64_t tokens() const { return x.extent(0); }
  std::int64_t width() const { return x.extent(1); }
  std::int64_t state_size() const { return B.extent(1); }

  T output(std::int64_t t, std::int64_t p, T read) const { return skip ? read + D * x(t, p) : read; }
};

void reference(const SsdHead<double>& head);
template <typename T>
void recurrent(std::span<const SsdHead<T>> heads);  // of one sequence; alike but for their numbers
template <typename T>
void chunked(const SsdHead<T>& head, std::int64_t chunk);
template <typename T>
void explicit_sum(const SsdHead<T>& head);

}  // namespace linearmem::scan
