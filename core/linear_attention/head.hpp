// One query head of one sequence: what every form of linear attention computes on. The door makes these and carries the state.
// The normalizer is treated as one more value column in which every token holds 1: with S and z side by side, [K,V+1], a read
// gives the numerators and, last, the denominator.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "foundation/gates.hpp"
#include "foundation/rounding.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/view.hpp"

namespace linearmem::linear {

template <typename T>
struct Head {
  View<const T, 2> q, k;             // [T,K]
  View<const T, 2> v;                // [T,V]
  View<const T, 2> gates;            // [T,1] or [T,K], log decays; or absent
  View<const std::uint8_t, 1> mask;  // [T] or absent
  Feature feature;
  double eps;
  bool normalize, causal;
  View<T, 2> S;  // [K,V], rows without gaps inside; before the first token on entry, after the last on return
  View<T, 1> z;  // [K]; but for the recurrent form it is the column behind the last of S
  View<T, 2> o;  // [T,V]
  bool counted;  // z is wanted: by normalized reads, or after the last token
  std::optional<Rounding<T>> rounding = {};  // the narrower format the state is kept in; it comes in it

  std::int64_t tokens() const { return q.extent(0); }
  std::int64_t key_width() const { return q.extent(1); }
  std::int64_t value_width() const { return v.extent(1); }
  std::int64_t gate_width() const { return gates.given() ? gates.extent(1) : 0; }
  View<T, 2> both() const { return {S.data(), {key_width(), value_width() + 1}, {S.stride(0), 1}}; }  // [K,V+1], packed: S and z
  bool masked(std::int64_t s) const { return mask.given() && mask(s) == 0; }
};

template <typename T>
T feature_of(Feature feature, T x) {
  if (feature == Feature::elu1) return x > 0 ? x + 1 : std::exp(x);
  if (feature == Feature::relu) return x < 0 ? T{0} : x;  // in this order NaN stays NaN
  return x;
}

template <typename T>
void feature_row(const View<const T, 2>& rows, std::int64_t t, Feature feature, T* out) {
  for (std::int64_t i = 0; i < rows.extent(1); ++i) out[i] = feature_of(feature, rows(t, i));
}

// The value row of token t and its 1.
template <typename T>
void value_row(const Head<T>& head, std::int64_t t, T* out) {
  copy_row(head.v, t, out);
  out[head.value_width()] = 1;
}

// row: what query t reads, V numerators and the denominator.
template <typename T>
void store_output(const Head<T>& head, std::int64_t t, const T* row) {
  const std::int64_t V = head.value_width();
  const T denominator = row[V] + static_cast<T>(head.eps);
  for (std::int64_t j = 0; j < V; ++j) head.o(t, j) = !head.normalize ? row[j] : denominator == 0 ? T{0} : row[j] / denominator;
}

void reference(const Head<double>& head);
template <typename T>
void explicit_sum(const Head<T>& head);
template <typename T>
void recurrent(std::span<const Head<T>> heads);  // of one sequence; alike but for their numbers
template <typename T>
void chunked(const Head<T>& head, std::int64_t chunk);

}  // namespace linearmem::linear
