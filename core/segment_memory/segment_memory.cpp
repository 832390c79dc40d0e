// The door and its one form: a copy of rows, the oldest first, so that new_memory may stand where memory stood.
#include "linearmem/segment_memory.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "foundation/form_check.hpp"
#include "foundation/shape_check.hpp"
#include "foundation/work_split.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "segment_memory";

template <typename T>
Status check(const SegmentMemoryArguments<T>& a) {
  ShapeCheck shapes(kDoor);
  shapes.required("hidden", a.hidden, "B T D").optional("memory", a.memory, "B M D").required("new_memory", a.new_memory, "B R D");
  shapes.require(a.limit.value_or(0) >= 0, [&] { return "limit is " + std::to_string(*a.limit) + ", must be at least 0"; });
  const std::int64_t rows = segment_memory_rows(shapes.size("M"), shapes.size("T"), a.limit);
  shapes.require(shapes.size("R") == rows,
                 [&] { return "R is " + std::to_string(shapes.size("R")) + ", but " + std::to_string(rows) + " rows are kept"; });
  if (!shapes.status().ok()) return shapes.status();
  return check_form(kDoor, a.form, 0, {Form::reference});
}

template <typename T>
void keep(const SegmentMemoryArguments<T>& a, std::int64_t b) {
  const std::int64_t M = a.memory.given() ? a.memory.extent(1) : 0, R = a.new_memory.extent(1), D = a.new_memory.extent(2);
  for (std::int64_t r = 0; r < R; ++r) {
    const std::int64_t row = r + M + a.hidden.extent(1) - R;
    for (std::int64_t d = 0; d < D; ++d) a.new_memory(b, r, d) = row < M ? a.memory(b, row, d) : a.hidden(b, row - M, d);
  }
}

template <typename T>
Status enter(const SegmentMemoryArguments<T>& a) {
  if (Status status = check(a); !status.ok()) return status;
  const auto cost = [&](std::int64_t) { return a.new_memory.extent(1) * a.new_memory.extent(2); };
  each_piece({a.executor, a.new_memory.extent(0), 1, 1}, cost, [&](const Piece& piece) { keep(a, piece.sequence); });
  return {};
}

}  // namespace

std::int64_t segment_memory_rows(std::int64_t memory_rows, std::int64_t hidden_rows, std::optional<std::int64_t> limit) {
  const std::int64_t most = std::max<std::int64_t>(limit.value_or(std::numeric_limits<std::int64_t>::max()), 0);
  return hidden_rows >= most ? most : hidden_rows + std::min(memory_rows, most - hidden_rows);
}

Status segment_memory(const SegmentMemoryArguments<float>& arguments) { return enter(arguments); }
Status segment_memory(const SegmentMemoryArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
