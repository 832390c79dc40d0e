// One layer of the stack, between its projections in and out: what each kind of memory computes on.
#pragma once

#include "linearmem/hybrid.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem::stack {

// Entry `at` of the first axis; absent stays absent.
template <typename T, int N>
View<T, N - 1> entry(const View<T, N>& view, std::int64_t at) {
  if (!view.given()) return {};
  Extents<N - 1> extents, strides;
  for (int axis = 1; axis < N; ++axis) {
    extents[axis - 1] = view.extent(axis);
    strides[axis - 1] = view.stride(axis);
  }
  return {view.data() + at * view.stride(0), extents, strides};
}

template <typename T>
struct Layer {
  const HybridArguments<T>& a;  // checked
  std::int64_t index;           // among the layers of its kind
  const Tensor<T, 3>& x;        // [B,T,D]
  Tensor<T, 4> q, k, v;         // [B,T,H,K], [B,T,H,K], [B,T,H,V]
  Tensor<T, 4> o;               // [B,T,H,V], to be filled
};

// How many rows of the window state sequence n brings and this window can still see.
template <typename T>
std::int64_t rows_seen(const HybridArguments<T>& a, std::int64_t n) {
  return a.window_count.given() ? hybrid_window_rows(a.window_count(n), 0, a.window) : 0;
}

template <typename T>
Status window_layer(Layer<T>& layer, std::int64_t N);
template <typename T>
Status delta_layer(Layer<T>& layer);
template <typename T>
Status linear_layer(Layer<T>& layer);

}  // namespace linearmem::stack
