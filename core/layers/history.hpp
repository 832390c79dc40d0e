// Causal softmax attention of new tokens over themselves and over the keys and values that are kept of earlier ones.
#pragma once

#include <cstdint>

#include "linearmem/executor.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem::layers {

// One request. Token i of it, counted from its first, stands in row i mod `rows` of what is kept.
template <typename T>
struct Attention {
  View<const T, 3> q;  // [L,H,K], L new tokens
  View<const T, 3> k;  // [L,Hk,K]; query head h uses key head h / (H/Hk)
  View<const T, 3> v;  // [L,Hk,V]
  const T* kept_keys = nullptr;    // [rows,Hk,K]
  const T* kept_values = nullptr;  // [rows,Hk,V]
  std::int64_t rows = 0;
  std::int64_t seen = 0;    // tokens before the new ones
  std::int64_t window = 0;  // tokens that a query sees, its own included
  const Executor* executor = nullptr;
  View<T, 3> o;  // [L,H,V]
};

template <typename T>
Status attend(const Attention<T>& attention);

// Puts the new rows [L,Hk,width], of which the newest `rows` fit, where later calls find them.
template <typename T>
void keep(const View<const T, 3>& fresh, std::int64_t seen, std::int64_t rows, T* kept);

}  // namespace linearmem::layers
