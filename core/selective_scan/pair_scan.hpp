// A work-efficient parallel scan over the steps h -> a h + u. A step is the pair (a, u); first (a, u), then (a', u') is one step,
// (a' a, a' u + u'). All prefixes are composed in at most 2 T compositions and 2 log2 T rounds, those of one round independent.
// Source: Brent & Kung 1982 and Blelloch 1990, the up-sweep and the down-sweep; any number of tokens, no padding.
#pragma once

#include <cstdint>

namespace linearmem::scan {

// row becomes what `before` and then row do.
template <typename T>
void compose(const T* a_before, const T* u_before, T* a, T* u, std::int64_t width) {
  for (std::int64_t j = 0; j < width; ++j) {
    u[j] = a[j] * u_before[j] + u[j];
    a[j] = a[j] * a_before[j];
  }
}

// a, u [tokens,width]: row t becomes the composition of rows 0 to t. With the first state inside u_0 = a_0 h_0 + ..., u is h.
template <typename T>
void scan_pairs(T* a, T* u, std::int64_t tokens, std::int64_t width) {
  const auto join = [&](std::int64_t before, std::int64_t at) {
    compose(a + before * width, u + before * width, a + at * width, u + at * width, width);
  };
  std::int64_t reach = 1;
  for (; reach < tokens; reach *= 2)  // up: rows 2 reach - 1, 4 reach - 1, ... hold the steps of a whole subtree
    for (std::int64_t at = 2 * reach - 1; at < tokens; at += 2 * reach) join(at - reach, at);
  for (reach /= 2; reach >= 1; reach /= 2)  // down: each right subtree's left half takes what stands before it
    for (std::int64_t at = 3 * reach - 1; at < tokens; at += 2 * reach) join(at - reach, at);
}

}  // namespace linearmem::scan
