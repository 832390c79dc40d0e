// Which tokens belong together: batch rows, or the sequences packed into one row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "linearmem/view.hpp"

namespace linearmem {

// Neighbours on an axis.
struct Range {
  std::int64_t first, count;
};

struct TokenRange {
  std::int64_t row;    // index on the B axis
  std::int64_t begin;  // first token
  std::int64_t end;    // one past the last
};

inline TokenRange sequence_range(const View<const std::int64_t, 1>& cu_seqlens, std::int64_t tokens, std::int64_t n) {
  return cu_seqlens.given() ? TokenRange{0, cu_seqlens(n), cu_seqlens(n + 1)} : TokenRange{n, 0, tokens};
}

inline std::int64_t sequence_tokens(const View<const std::int64_t, 1>& cu_seqlens, std::int64_t tokens, std::int64_t n) {
  const TokenRange range = sequence_range(cu_seqlens, tokens, n);
  return range.end - range.begin;
}

// [T,width] of one head of one sequence, out of [B,T,H,width].
template <typename T>
View<T, 2> head_rows(const View<T, 4>& view, const TokenRange& range, std::int64_t head) {
  if (!view.given()) return {};
  T* first = view.data() + range.row * view.stride(0) + range.begin * view.stride(1) + head * view.stride(2);
  return {first, {range.end - range.begin, view.extent(3)}, {view.stride(1), view.stride(3)}};
}

// [T] of one head of one sequence, out of [B,T,H].
template <typename T>
View<T, 1> head_scalars(const View<T, 3>& view, const TokenRange& range, std::int64_t head) {
  if (!view.given()) return {};
  T* first = view.data() + range.row * view.stride(0) + range.begin * view.stride(1) + head * view.stride(2);
  return {first, {range.end - range.begin}, {view.stride(1)}};
}

// [T,width] of one sequence, out of [B,T,width].
template <typename T>
View<T, 2> sequence_rows(const View<T, 3>& view, const TokenRange& range) {
  if (!view.given()) return {};
  T* first = view.data() + range.row * view.stride(0) + range.begin * view.stride(1);
  return {first, {range.end - range.begin, view.extent(2)}, {view.stride(1), view.stride(2)}};
}

// [width] of one sequence, out of [N,width].
template <typename T>
View<T, 1> sequence_vector(const View<T, 2>& view, std::int64_t n) {
  if (!view.given()) return {};
  return {view.data() + n * view.stride(0), {view.extent(1)}, {view.stride(1)}};
}

// [rows,columns] of one sequence, out of [N,rows,columns].
template <typename T>
View<T, 2> sequence_state(const View<T, 3>& view, std::int64_t n) {
  if (!view.given()) return {};
  return {view.data() + n * view.stride(0), {view.extent(1), view.extent(2)}, {view.stride(1), view.stride(2)}};
}

// [T] of one sequence, out of [B,T].
template <typename T>
View<T, 1> sequence_scalars(const View<T, 2>& view, const TokenRange& range) {
  if (!view.given()) return {};
  return {view.data() + range.row * view.stride(0) + range.begin * view.stride(1), {range.end - range.begin}, {view.stride(1)}};
}

// [width] of one head of one sequence, out of [N,H,width].
template <typename T>
View<T, 1> head_vector(const View<T, 3>& view, std::int64_t n, std::int64_t head) {
  if (!view.given()) return {};
  return {view.data() + n * view.stride(0) + head * view.stride(1), {view.extent(2)}, {view.stride(2)}};
}

// [rows,columns] of one head of one sequence, out of [N,H,rows,columns].
template <typename T>
View<T, 2> head_state(const View<T, 4>& view, std::int64_t n, std::int64_t head) {
  if (!view.given()) return {};
  T* first = view.data() + n * view.stride(0) + head * view.stride(1);
  return {first, {view.extent(2), view.extent(3)}, {view.stride(2), view.stride(3)}};
}

// Entries [first, first + count) of every row.
template <typename T>
View<T, 2> columns_of(const View<T, 2>& rows, const Range& range) {
  if (!rows.given()) return {};
  return {rows.data() + range.first * rows.stride(1), {rows.extent(0), range.count}, rows.strides()};
}

// The same of the rows, and of a vector.
template <typename T>
View<T, 2> rows_of(const View<T, 2>& rows, const Range& range) {
  if (!rows.given()) return {};
  return {rows.data() + range.first * rows.stride(0), {range.count, rows.extent(1)}, rows.strides()};
}
template <typename T>
View<T, 1> entries_of(const View<T, 1>& vector, const Range& range) {
  if (!vector.given()) return {};
  return {vector.data() + range.first * vector.stride(0), {range.count}, vector.strides()};
}

// Row t, packed.
template <typename T>
void copy_row(const View<const T, 2>& rows, std::int64_t t, T* out) {
  const std::int64_t width = rows.extent(1), stride = rows.stride(1);
  const T* from = rows.data() + t * rows.stride(0);
  if (stride == 1) {
    std::copy_n(from, width, out);
    return;
  }
  for (std::int64_t i = 0; i < width; ++i) out[i] = from[i * stride];
}

}  // namespace linearmem
