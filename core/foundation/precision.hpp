// Between float32 arguments and the float64 reference: widen every input, narrow every output.
#pragma once

#include <algorithm>

#include "linearmem/tensor.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// Calls visit(index) for every element, row-major.
template <int N, typename Visit>
void each_index(const Extents<N>& extents, Visit visit) {
  for (std::int64_t extent : extents)
    if (extent == 0) return;
  Extents<N> index{};
  while (true) {
    visit(index);
    int axis = N - 1;
    while (axis >= 0 && ++index[axis] == extents[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}

template <typename From, typename To, int N>
void convert(const View<From, N>& from, const View<To, N>& to) {
  if (from.packed() && to.packed()) {
    const std::int64_t count = from.size();
    for (std::int64_t i = 0; i < count; ++i) to.data()[i] = static_cast<To>(from.data()[i]);
    return;
  }
  each_index<N>(from.extents(), [&](const Extents<N>& index) { to[index] = static_cast<To>(from[index]); });
}

// The same numbers elsewhere, or where they are.
template <typename T>
void copy_matrix(const View<const T, 2>& from, const View<T, 2>& to) {
  if (from.data() == to.data() && from.stride(0) == to.stride(0) && from.stride(1) == to.stride(1)) return;
  if (from.stride(1) != 1 || to.stride(1) != 1) return convert(from, to);
  for (std::int64_t i = 0; i < from.extent(0); ++i)
    std::copy_n(from.data() + i * from.stride(0), from.extent(1), to.data() + i * to.stride(0));
}

// An input in float64; absent stays absent.
template <int N>
class Widened {
 public:
  explicit Widened(const View<const float, N>& from) : values_(from.extents()), given_(from.given()) {
    if (given_) convert(from, values_.view());
  }
  View<const double, N> view() const { return given_ ? values_.view() : View<const double, N>{}; }

 private:
  Tensor<double, N> values_;
  bool given_;
};

// An output in float64 whose values reach the float32 view when narrow() is called.
template <int N>
class Narrowing {
 public:
  explicit Narrowing(const View<float, N>& to) : to_(to), values_(to.extents()) {}
  View<double, N> view() { return to_.given() ? values_.view() : View<double, N>{}; }
  void narrow() const {
    if (to_.given()) convert(values_.view(), to_);
  }

 private:
  View<float, N> to_;
  Tensor<double, N> values_;
};

}  // namespace linearmem
