// One query head of one sequence: what every form of softmax attention computes on. The door makes these.
#pragma once

#include <cstdint>

#include "linearmem/view.hpp"

namespace linearmem::softmax {

template <typename T>
struct Head {
  View<const T, 2> q, k;              // [T,K]
  View<const T, 2> v;                 // [T,V]
  View<const std::uint8_t, 1> mask;   // [T] or absent
  bool causal;
  std::int64_t window;  // at least 1; at least T when every earlier token is seen
  double scale;
  View<T, 2> o;               // [T,V]
  std::int64_t begin, end;    // the queries to answer

  std::int64_t tokens() const { return q.extent(0); }
  std::int64_t key_width() const { return q.extent(1); }
  std::int64_t value_width() const { return v.extent(1); }
  bool masked(std::int64_t s) const { return mask.given() && mask(s) == 0; }
  // Tokens [first_seen, end_seen) stand in the window of query t; those not masked are visible.
  std::int64_t first_seen(std::int64_t t) const { return causal && t >= window ? t - window + 1 : 0; }
  std::int64_t end_seen(std::int64_t t) const { return causal ? t + 1 : tokens(); }
  bool visible(std::int64_t t, std::int64_t s) const { return first_seen(t) <= s && s < end_seen(t) && !masked(s); }
};

void reference(const Head<double>& head);
template <typename T>
void explicit_scores(const Head<T>& head);
template <typename T>
void streaming(const Head<T>& head);

}  // namespace linearmem::softmax
