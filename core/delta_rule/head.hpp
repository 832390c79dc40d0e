// One value head of one sequence: what every form of the delta rule computes on. The door makes these and carries the state.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "foundation/gates.hpp"
#include "foundation/rounding.hpp"
#include "linearmem/view.hpp"

namespace linearmem::delta {

constexpr double kNormEpsilon = 1e-6;  // inside the root

template <typename T>
struct Head {
  View<const T, 2> q, k;  // [T,K]
  View<const T, 2> v;     // [T,V]
  View<const T, 1> beta;  // [T]
  View<const T, 2> gates;  // [T,1] or [T,K], log decays; or absent
  double scale;
  bool l2norm;
  View<T, 2> S;      // [K,V], rows without gaps inside, packed but for the recurrent form; before the first token on entry, after the last on return
  View<T, 2> o;      // [T,V]
  View<T, 2> reads;  // [T,V] or absent
  std::optional<Rounding<T>> rounding = {};  // the narrower format S is kept in; S comes in it

  std::int64_t tokens() const { return q.extent(0); }
  std::int64_t key_width() const { return q.extent(1); }
  std::int64_t value_width() const { return v.extent(1); }
  T decay(std::int64_t t, std::int64_t i) const { return std::exp(log_decay(gates, t, i)); }
};

// Copies one key or query into a packed row, as the equations use it: L2-normalized when asked for, then scaled.
template <typename T>
void prepare_row(const View<const T, 2>& rows, std::int64_t t, bool l2norm, double scale, T* out) {
  const std::int64_t width = rows.extent(1);
  double factor = scale;
  copy_row(rows, t, out);
  if (l2norm) {
    double squares = 0;
    for (std::int64_t i = 0; i < width; ++i) squares += static_cast<double>(out[i]) * static_cast<double>(out[i]);
    factor /= std::sqrt(squares + kNormEpsilon);
  }
  if (factor == 1.0) return;
  for (std::int64_t i = 0; i < width; ++i) out[i] = static_cast<T>(static_cast<double>(out[i]) * factor);
}

// The keys (scale 1) or queries of tokens [begin, end), one packed row each.
template <typename T>
std::vector<T> prepare_rows(const View<const T, 2>& rows, std::int64_t begin, std::int64_t end, bool l2norm, double scale) {
  const std::int64_t width = rows.extent(1);
  std::vector<T> packed(static_cast<std::size_t>((end - begin) * width));
  for (std::int64_t t = begin; t < end; ++t) prepare_row(rows, t, l2norm, scale, packed.data() + (t - begin) * width);
  return packed;
}

void reference(const Head<double>& head);
template <typename T>
void recurrent(std::span<const Head<T>> heads);  // of one sequence; alike but for their numbers
template <typename T>
void chunked(const Head<T>& head, std::int64_t chunk);
template <typename T>
void explicit_sum(const Head<T>& head);

}  // namespace linearmem::delta
