// A call's tensors on the device: inputs go up where they are asked for, outputs come down all together at the end, into the caller's
// views only when everything arrived. Strides are honoured: what is not packed is packed on the way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "foundation/precision.hpp"
#include "host/device.hpp"
#include "kernels/block.hpp"
#include "linearmem/view.hpp"

namespace linearmem::cuda {

// The kernels' form of a view.
template <typename T, int N>
Array<T, N> array_of(const View<T, N>& view) {
  Array<T, N> array;
  if (!view.given()) return array;
  array.data = view.data();
  for (int axis = 0; axis < N; ++axis) array.strides[axis] = view.stride(axis);
  return array;
}

class Transfer {
 public:
  explicit Transfer(Device& device) : device_(device) {}
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    if (!held_.empty()) static_cast<void>(device_.finish());  // a call that failed half way may have launches under way
    for (void* memory : held_) device_.release(memory);
  }

  // A packed copy on the device; absent stays absent.
  template <typename T, int N>
  View<const T, N> up(const View<const T, N>& host) {
    if (!host.given()) return {};
    T* to = room<T>(host.size());
    if (!status_.ok()) return {};
    std::vector<T> packed;
    const T* from = host.data();
    if (!host.packed()) {
      packed.resize(static_cast<std::size_t>(host.size()));
      convert(host, View<T, N>(packed.data(), host.extents()));
      from = packed.data();
    }
    keep(device_.upload(from, to, bytes<T>(host.size())));
    return {to, host.extents()};
  }

  // Room on the device for an output, which reaches the host's view at down().
  template <typename T, int N>
  View<T, N> out(const View<T, N>& host) {
    if (!host.given()) return {};
    T* from = room<T>(host.size());
    if (!status_.ok()) return {};
    arrivals_.push_back({from, bytes<T>(host.size()), {}, [host](const void* packed) {
                           convert(View<const T, N>(static_cast<const T*>(packed), host.extents()), host);
                         }});
    return {from, host.extents()};
  }

  // Scratch of `count` elements.
  template <typename T>
  T* room(std::int64_t count) {
    if (!status_.ok()) return nullptr;
    auto memory = device_.allocate(std::max<std::int64_t>(bytes<T>(count), 1));
    if (!memory.ok()) {
      keep(memory.status());
      return nullptr;
    }
    held_.push_back(memory.value());
    return static_cast<T*>(memory.value());
  }

  void keep(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  const Status& status() const { return status_; }

  // Waits, fetches every output, then writes them.
  Status down() {
    if (status_.ok()) keep(device_.finish());
    for (Arrival& arrival : arrivals_) {
      if (!status_.ok()) break;
      arrival.packed.resize(static_cast<std::size_t>(arrival.bytes));
      keep(device_.download(arrival.from, arrival.packed.data(), arrival.bytes));
    }
    if (status_.ok())
      for (const Arrival& arrival : arrivals_) arrival.deliver(arrival.packed.data());
    return status_;
  }

 private:
  template <typename T>
  static std::int64_t bytes(std::int64_t count) {
    return count * static_cast<std::int64_t>(sizeof(T));
  }

  struct Arrival {
    const void* from;
    std::int64_t bytes;
    std::vector<std::byte> packed;
    std::function<void(const void* packed)> deliver;
  };

  Device& device_;
  Status status_;
  std::vector<void*> held_;
  std::vector<Arrival> arrivals_;
};

}  // namespace linearmem::cuda
