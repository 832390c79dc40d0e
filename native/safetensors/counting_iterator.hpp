// Characters for nlohmann's event parser that note how many have been taken, which is where the parser stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace linearmem {

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char* begin, std::uint64_t& position) : at_(at), begin_(begin), position_(&position) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    *position_ = static_cast<std::uint64_t>(at_ - begin_);
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char* begin_;
  std::uint64_t* position_;
};

}  // namespace linearmem
