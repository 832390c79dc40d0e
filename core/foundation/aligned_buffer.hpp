// Scratch memory for kernels: cache-line aligned, zero-filled, freed at scope end. A little of it lies in the object itself, so that a small
// call takes nothing from the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace linearmem {

constexpr std::int64_t kCacheLine = 64;

// Columns rounded up so that a row of any vector width fits without a partial load.
template <typename T>
constexpr std::int64_t padded_columns(std::int64_t columns) {
  constexpr std::int64_t step = kCacheLine / static_cast<std::int64_t>(sizeof(T));
  return (columns + step - 1) / step * step;
}

template <typename T>
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::int64_t count) {
    if (count == 0) return;
    if (bytes(count) <= sizeof(small_)) {
      data_ = reinterpret_cast<T*>(small_);
    } else {
      // Aligned by hand: allocators take several times as long where they are asked for it.
      memory_ = ::operator new(bytes(count) + kCacheLine - 1);
      data_ = reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(memory_) + kCacheLine - 1) / kCacheLine * kCacheLine);
    }
    std::memset(data_, 0, bytes(count));
  }
  ~AlignedBuffer() { ::operator delete(memory_); }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  static std::size_t bytes(std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(T); }
  alignas(kCacheLine) std::byte small_[512];
  void* memory_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace linearmem
