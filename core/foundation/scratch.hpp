// Working memory of one call, taken piece by piece from one block: on the stack where little is needed, so that a small call costs no
// allocation, else from the heap. Pieces start on cache lines and are not filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "foundation/aligned_buffer.hpp"

namespace linearmem {

class Scratch {
 public:
  // Bytes that a piece of `count` values takes.
  template <typename T>
  static constexpr std::int64_t bytes(std::int64_t count) {
    return (count * static_cast<std::int64_t>(sizeof(T)) + kCacheLine - 1) / kCacheLine * kCacheLine;
  }

  explicit Scratch(std::int64_t bytes)
      : heap_(bytes > static_cast<std::int64_t>(sizeof(small_)) ? ::operator new(static_cast<std::size_t>(bytes), std::align_val_t{kCacheLine})
                                                                : nullptr),
        next_(heap_ ? static_cast<std::byte*>(heap_) : small_) {}
  ~Scratch() {
    if (heap_) ::operator delete(heap_, std::align_val_t{kCacheLine});
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  template <typename T>
  T* take(std::int64_t count) {
    T* piece = reinterpret_cast<T*>(next_);
    next_ += bytes<T>(count);
    return piece;
  }

 private:
  alignas(kCacheLine) std::byte small_[4096];
  void* heap_;
  std::byte* next_;
};

}  // namespace linearmem
