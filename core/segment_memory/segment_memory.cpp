// The door and its one form: a copy of rows, the oldest first, so that new_memory may stand where memory stood.
#include "linearmem/segment_memory.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"
#include "foundation/shape_check.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "segment_memory";

template <typename T>
Status check(const SegmentMemoryArguments<T>& a) {
  ShapeCheck shapes(kDoor);
  shapes.required("hidden", a.hidden, "B T D").optional("memory", a.memory, "B M D").required("new_memory", a.new_memory, "B R D");
  shapes.require(a.limit.value_or(0) >= 0, "limit is " + std::to_string(a.limit.value_or(0)) + ", must be at least 0");
  const std::int64_t rows = segment_memory_rows(shapes.size("M"), shapes.size("T"), a.limit);
  shapes.require(shapes.size("R") == rows, "R is " + std::to_string(shapes.size("R")) + ", but " + std::to_string(rows) + " rows are kept");
  if (!shapes.status().ok()) return shapes.status();
  return check_form(kDoor, a.form, 0, {Form::reference});
}

template <typename T>
Status enter(const SegmentMemoryArguments<T>& a) {
  if (Status status = check(a); !status.ok()) return status;
  const std::int64_t M = a.memory.given() ? a.memory.extent(1) : 0;
  each_index<3>(a.new_memory.extents(), [&](const Extents<3>& at) {
    const std::int64_t row = at[1] + M + a.hidden.extent(1) - a.new_memory.extent(1);
    a.new_memory[at] = row < M ? a.memory(at[0], row, at[2]) : a.hidden(at[0], row - M, at[2]);
  });
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
