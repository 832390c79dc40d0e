// What every room's test needs: seeded numbers, outputs that start as NaN, arrays that are slices of larger ones, and the one
// measure of agreement: the largest difference relative to max(1, largest expected value).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "foundation/precision.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem::test {

class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) { return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53; }
  std::int64_t whole(std::int64_t low, std::int64_t high) {  // both ends included
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  std::mt19937_64 engine_;  // its bits are fixed by the standard; the standard's distributions are not
};

// An array in the middle of a larger one filled with NaN: a read or write past an end shows as NaN or as a changed guard.
template <typename T, int N>
class Guarded {
 public:
  explicit Guarded(const Extents<N>& extents) : extents_(extents) {
    std::int64_t count = 1;
    for (std::int64_t extent : extents) count *= extent;
    values_.assign(static_cast<std::size_t>(count + 2 * kGuard), std::numeric_limits<T>::quiet_NaN());
  }

  View<T, N> view() { return {values_.data() + kGuard, extents_}; }
  View<const T, N> view() const { return {values_.data() + kGuard, extents_}; }
  T* data() { return values_.data() + kGuard; }
  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()) - 2 * kGuard; }

  Guarded& fill(Numbers& numbers, double low, double high) {
    for (std::int64_t i = 0; i < size(); ++i) data()[i] = static_cast<T>(numbers.uniform(low, high));
    return *this;
  }
  bool guards_intact() const {
    for (std::int64_t i = 0; i < kGuard; ++i)
      if (!std::isnan(values_[i]) || !std::isnan(values_[values_.size() - 1 - i])) return false;
    return true;
  }
  bool same_bits(const Guarded& other) const {
    return values_.size() == other.values_.size() && std::memcmp(values_.data(), other.values_.data(), values_.size() * sizeof(T)) == 0;
  }

 private:
  static constexpr std::int64_t kGuard = 67;
  Extents<N> extents_;
  std::vector<T> values_;
};

// The array with its last two axes exchanged in memory and every second place left out.
template <typename T, int N>
class Turned {
 public:
  explicit Turned(const View<const T, N>& from) : Turned(from.extents()) { convert(from, view()); }
  explicit Turned(const Extents<N>& extents) : extents_(extents), strides_(packed_strides<N>(extents)) {
    strides_[N - 1] = 2 * extents[N - 2];
    strides_[N - 2] = 2;
    std::int64_t count = 1;
    for (int axis = 0; axis < N; ++axis) count *= extents[axis];
    for (int axis = 0; axis < N - 2; ++axis) strides_[axis] *= 2;
    values_.assign(static_cast<std::size_t>(2 * count), std::numeric_limits<T>::quiet_NaN());
  }
  View<T, N> view() { return {values_.data(), extents_, strides_}; }

 private:
  Extents<N> extents_, strides_;
  std::vector<T> values_;
};

// Tokens [begin, end) of an array whose second axis is time; absent stays absent.
template <typename T, int N>
View<T, N> tokens_of(const View<T, N>& view, std::int64_t begin, std::int64_t end) {
  Extents<N> extents = view.extents();
  extents[1] = end - begin;
  return view.given() ? View<T, N>(view.data() + begin * view.stride(1), extents, view.strides()) : view;
}

// NaN anywhere makes the answer NaN, so that EXPECT_LE fails.
template <typename A, typename B, int N>
double relative_difference(const View<A, N>& got, const View<B, N>& expected) {
  double largest = 1, difference = 0;
  each_index<N>(expected.extents(), [&](const Extents<N>& at) {
    const double want = static_cast<double>(expected[at]), have = static_cast<double>(got[at]);
    largest = std::max(largest, std::abs(want));
    const double gap = std::abs(have - want);
    if (!std::isnan(difference) && !(gap <= difference)) difference = gap;  // once NaN, always NaN
  });
  return difference / largest;
}

template <typename T>
constexpr double tolerance() {
  return sizeof(T) == 8 ? 1e-12 : 1e-5;
}

}  // namespace linearmem::test
