// The norms of the layers, each over rows of `width` values in place.
//   rms         x / sqrt(mean(x^2) + eps) w                  (Zhang & Sennrich 2019)
//   layer norm  (x - mean) / sqrt(var + eps) w + b           (Ba, Kiros & Hinton 2016)
#pragma once

#include <cmath>
#include <cstdint>

#include "foundation/activation.hpp"
#include "layers/rows.hpp"

namespace linearmem::layers {

template <typename T>
void rms_norm(T* row, std::int64_t width, const T* weight, double eps) {
  T square = 0;
  for (std::int64_t i = 0; i < width; ++i) square += row[i] * row[i];
  const T factor = T{1} / std::sqrt(square / static_cast<T>(width) + static_cast<T>(eps));
  for (std::int64_t i = 0; i < width; ++i) row[i] = row[i] * factor * weight[i];
}

template <typename T>
void multiply_silu(T* row, const T* gate, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) row[i] *= silu(gate[i]);
}

template <typename T>
void layer_norm(Rows<T>& x, const T* weight, const T* bias, double eps) {
  const std::int64_t width = x.width();
  for (std::int64_t t = 0; t < x.tokens(); ++t) {
    T* row = x.row(t);
    T sum = 0, square = 0;
    for (std::int64_t i = 0; i < width; ++i) sum += row[i];
    const T mean = sum / static_cast<T>(width);
    for (std::int64_t i = 0; i < width; ++i) square += (row[i] - mean) * (row[i] - mean);
    const T factor = T{1} / std::sqrt(square / static_cast<T>(width) + static_cast<T>(eps));
    for (std::int64_t i = 0; i < width; ++i) row[i] = (row[i] - mean) * factor * weight[i] + bias[i];
  }
}

}  // namespace linearmem::layers
