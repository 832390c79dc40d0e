// Between the rows of a [T,width] view, whatever its strides, and packed rows in a buffer, a given stride apart.
#pragma once

#include <algorithm>
#include <cstdint>

#include "linearmem/view.hpp"

namespace linearmem {

template <typename T>
void pack_rows(const View<const T, 2>& rows, std::int64_t begin, std::int64_t count, T* to, std::int64_t stride) {
  const std::int64_t width = rows.extent(1), step = rows.stride(1);
  for (std::int64_t t = 0; t < count; ++t) {
    const T* from = rows.data() + (begin + t) * rows.stride(0);
    if (step == 1) {
      std::copy_n(from, width, to + t * stride);
    } else {
      for (std::int64_t j = 0; j < width; ++j) to[t * stride + j] = from[j * step];
    }
  }
}

template <typename T>
void unpack_rows(const T* from, std::int64_t stride, const View<T, 2>& rows, std::int64_t begin, std::int64_t count) {
  const std::int64_t width = rows.extent(1), step = rows.stride(1);
  for (std::int64_t t = 0; t < count; ++t) {
    T* to = rows.data() + (begin + t) * rows.stride(0);
    if (step == 1) {
      std::copy_n(from + t * stride, width, to);
    } else {
      for (std::int64_t j = 0; j < width; ++j) to[j * step] = from[t * stride + j];
    }
  }
}

}  // namespace linearmem
