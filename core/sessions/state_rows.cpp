#include "sessions/state_rows.hpp"

#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "foundation/aligned_buffer.hpp"
#include "linearmem/session.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

Status too_large(std::string_view what) { return {StatusCode::out_of_memory, "sessions: " + std::string(what) + " cannot be addressed"}; }

Result<std::int64_t> checked_sum(std::int64_t a, std::int64_t b, std::string_view what) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum > std::numeric_limits<std::ptrdiff_t>::max()) return too_large(what);
  return sum;
}

}  // namespace

Result<std::int64_t> bytes_per_request(std::span<const LayerStateLayout> layouts) {
  std::int64_t sum = 0;
  for (const LayerStateLayout& layout : layouts)
    for (const StatePart& part : layout.parts) {
      const auto bytes = checked_bytes("sessions: " + layout.layer + " " + part.name, part.shape.data(), static_cast<int>(part.shape.size()),
                                       dtype_bytes(part.dtype));
      if (!bytes.ok()) return bytes.status();
      const auto more = checked_sum(sum, bytes.value(), "the state of one request");
      if (!more.ok()) return more.status();
      sum = more.value();
    }
  return sum;
}

namespace sessions {

Result<StateRows> StateRows::create(std::span<const LayerStateLayout> layouts, std::int64_t rows) {
  const auto row_bytes = bytes_per_request(layouts);
  if (!row_bytes.ok()) return row_bytes.status();
  const std::int64_t extents[] = {rows, row_bytes.value()};
  const auto all = checked_bytes("sessions: states [rows,bytes]", extents, 2, 1);
  if (!all.ok()) return all.status();
  StateRows made;
  std::int64_t part_count = 0;
  for (const LayerStateLayout& layout : layouts) part_count += static_cast<std::int64_t>(layout.parts.size());
  const auto total = checked_sum(all.value(), (part_count + 1) * kCacheLine, "the states and the gaps between them");
  if (!total.ok()) return total.status();
  made.memory_bytes_ = total.value();
  made.memory_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(total.value())]);  // not filled: a row is when it is first taken
  if (!made.memory_)
    return Status(StatusCode::out_of_memory, "sessions: " + std::to_string(rows) + " rows of " + std::to_string(row_bytes.value()) +
                                                 " bytes are more than there is memory for");
  auto at = reinterpret_cast<std::uintptr_t>(made.memory_.get());
  for (const LayerStateLayout& layout : layouts)
    for (const StatePart& part : layout.parts) {
      at = (at + kCacheLine - 1) / kCacheLine * kCacheLine;
      made.parts_.push_back({reinterpret_cast<std::byte*>(at), part.bytes()});
      at += static_cast<std::uintptr_t>(rows * part.bytes());
    }
  made.holders_.assign(static_cast<std::size_t>(rows), 0);
  for (std::int64_t row = rows; row-- > 0;) made.free_.push_back(row);
  return made;
}

std::int64_t StateRows::held_bytes() const {
  return memory_bytes_ + static_cast<std::int64_t>((holders_.capacity() + free_.capacity()) * sizeof(std::int64_t) + parts_.capacity() * sizeof(RowPart));
}

std::span<std::byte> StateRows::bytes(std::size_t part, std::int64_t row) const {
  return {parts_[part].data + row * parts_[part].bytes, static_cast<std::size_t>(parts_[part].bytes)};
}

std::int64_t StateRows::take() {
  const std::int64_t row = free_.back();
  free_.pop_back();
  holders_[static_cast<std::size_t>(row)] = 1;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const std::span<std::byte> bytes = this->bytes(part, row);
    if (!bytes.empty()) std::memset(bytes.data(), 0, bytes.size());
  }
  return row;
}

std::int64_t StateRows::share(std::int64_t row) {
  if (row != kNoRow) ++holders_[static_cast<std::size_t>(row)];
  return row;
}

void StateRows::release(std::int64_t row) {
  if (row != kNoRow && --holders_[static_cast<std::size_t>(row)] == 0) free_.push_back(row);
}

std::int64_t StateRows::own(std::int64_t row) {
  if (row == kNoRow) return take();
  if (holders_[static_cast<std::size_t>(row)] == 1) return row;
  const std::int64_t copy = free_.back();
  free_.pop_back();
  holders_[static_cast<std::size_t>(copy)] = 1;
  --holders_[static_cast<std::size_t>(row)];
  for (std::size_t part = 0; part < parts_.size(); ++part)
    if (const std::span<std::byte> from = bytes(part, row); !from.empty()) std::memcpy(bytes(part, copy).data(), from.data(), from.size());
  return copy;
}

}  // namespace sessions
}  // namespace linearmem
