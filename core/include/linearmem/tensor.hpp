// Tensor<T, N> owns a packed N-axis array; view() lends it. Zero-filled when made.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// Bytes of an array, or an error with the exact count when it cannot be addressed on this target.
Result<std::int64_t> checked_bytes(std::string_view what, const std::int64_t* extents, int axes, std::int64_t element_bytes);

template <typename T, int N>
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const Extents<N>& extents, T fill = T{}) : extents_(extents), values_(count(extents), fill) {}
  Tensor(const Extents<N>& extents, std::vector<T> values) : extents_(extents), values_(std::move(values)) {}

  // Refuses, with the byte count, what the target cannot address; use it for sizes that come from outside.
  static Result<Tensor> create(std::string_view what, const Extents<N>& extents) {
    auto bytes = checked_bytes(what, extents.data(), N, sizeof(T));
    if (!bytes.ok()) return bytes.status();
    return Tensor(extents);
  }

  const Extents<N>& extents() const { return extents_; }
  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  std::vector<T>& values() { return values_; }
  const std::vector<T>& values() const { return values_; }

  View<T, N> view() { return {values_.data(), extents_}; }
  View<const T, N> view() const { return {values_.data(), extents_}; }

  template <typename... Index>
  T& operator()(Index... index) { return view()(index...); }
  template <typename... Index>
  const T& operator()(Index... index) const { return view()(index...); }

 private:
  static std::size_t count(const Extents<N>& extents) {
    std::int64_t product = 1;
    for (std::int64_t extent : extents) product *= extent;
    return static_cast<std::size_t>(product);
  }

  Extents<N> extents_{};
  std::vector<T> values_;
};

}  // namespace linearmem
