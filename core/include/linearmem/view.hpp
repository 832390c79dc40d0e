// View<T, N> borrows an N-axis array: a pointer, extents and strides, both counted in elements.
// Strides are honoured by every door. A default-constructed view means "argument not given". Indexing does not check bounds.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace linearmem {

template <int N>
using Extents = std::array<std::int64_t, N>;

// Strides of the row-major layout without gaps; the last axis has stride 1.
template <int N>
constexpr Extents<N> packed_strides(const Extents<N>& extents) {
  Extents<N> strides{};
  std::int64_t step = 1;
  for (int axis = N - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= extents[axis];
  }
  return strides;
}

template <typename T, int N>
class View {
 public:
  View() = default;
  View(T* data, const Extents<N>& extents) : View(data, extents, packed_strides<N>(extents)) {}
  View(T* data, const Extents<N>& extents, const Extents<N>& strides)
      : data_(data), extents_(extents), strides_(strides), given_(true) {}

  // A view to write through is also a view to read from.
  template <typename U>
    requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>)
  View(const View<U, N>& other)
      : data_(other.data()), extents_(other.extents()), strides_(other.strides()), given_(other.given()) {}

  bool given() const { return given_; }
  T* data() const { return data_; }
  const Extents<N>& extents() const { return extents_; }
  const Extents<N>& strides() const { return strides_; }
  std::int64_t extent(int axis) const { return extents_[axis]; }
  std::int64_t stride(int axis) const { return strides_[axis]; }

  std::int64_t size() const {
    std::int64_t count = 1;
    for (std::int64_t extent : extents_) count *= extent;
    return count;
  }

  bool packed() const { return strides_ == packed_strides<N>(extents_); }

  template <typename... Index>
  T& operator()(Index... index) const {
    static_assert(sizeof...(Index) == N, "one index per axis");
    return (*this)[Extents<N>{static_cast<std::int64_t>(index)...}];
  }
  T& operator[](const Extents<N>& index) const {
    std::int64_t offset = 0;
    for (int axis = 0; axis < N; ++axis) offset += index[axis] * strides_[axis];
    return data_[offset];
  }

 private:
  T* data_ = nullptr;
  Extents<N> extents_{};
  Extents<N> strides_{};
  bool given_ = false;
};

}  // namespace linearmem
