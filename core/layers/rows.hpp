// Packed rows of tokens in memory of their own, each on a cache line and padded with zeros to whole vectors.
#pragma once

#include <memory>

#include "foundation/aligned_buffer.hpp"
#include "linearmem/view.hpp"

namespace linearmem::layers {

template <typename T>
class Rows {
 public:
  Rows() = default;
  Rows(std::int64_t tokens, std::int64_t width)
      : tokens_(tokens), width_(width), stride_(padded_columns<T>(width)), buffer_(std::make_unique<AlignedBuffer<T>>(tokens * stride_)) {}

  std::int64_t tokens() const { return tokens_; }
  std::int64_t width() const { return width_; }
  std::int64_t stride() const { return stride_; }
  T* row(std::int64_t t) { return buffer_->data() + t * stride_; }
  const T* row(std::int64_t t) const { return buffer_->data() + t * stride_; }

  // Columns [first, first + count) as [1,tokens,count].
  View<T, 3> columns(std::int64_t first, std::int64_t count) { return {row(0) + first, {1, tokens_, count}, {tokens_ * stride_, stride_, 1}}; }
  // The same as [1,tokens,heads,width].
  View<T, 4> heads(std::int64_t first, std::int64_t heads, std::int64_t width) {
    return {row(0) + first, {1, tokens_, heads, width}, {tokens_ * stride_, stride_, width, 1}};
  }

 private:
  std::int64_t tokens_ = 0, width_ = 0, stride_ = 0;
  std::unique_ptr<AlignedBuffer<T>> buffer_;
};

}  // namespace linearmem::layers
