// A few plain values, made one after the other: on the stack where they are few, else on the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace linearmem {

template <typename Value>
class PlainList {
  static_assert(std::is_trivially_destructible_v<Value>);
  static constexpr std::int64_t kFew = 2;

 public:
  explicit PlainList(std::int64_t most)
      : heap_(most > kFew ? ::operator new(static_cast<std::size_t>(most) * sizeof(Value)) : nullptr),
        values_(reinterpret_cast<Value*>(heap_ ? heap_ : few_)) {}
  ~PlainList() { ::operator delete(heap_); }
  PlainList(const PlainList&) = delete;
  PlainList& operator=(const PlainList&) = delete;

  void add(const Value& value) { std::construct_at(values_ + count_++, value); }
  void clear() { count_ = 0; }
  std::span<const Value> items() const { return {values_, static_cast<std::size_t>(count_)}; }

 private:
  alignas(Value) std::byte few_[kFew * sizeof(Value)];
  void* heap_;
  Value* values_;
  std::int64_t count_ = 0;
};

}  // namespace linearmem
