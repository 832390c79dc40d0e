#include "linearmem/tensor.hpp"

#include <limits>
#include <string>

namespace linearmem {
namespace {

// 2^64 is enough to name any refused size; beyond it the count saturates.
std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

std::string shape_text(const std::int64_t* extents, int axes) {
  std::string text;
  for (int axis = 0; axis < axes; ++axis) text += (axis ? "," : "") + std::to_string(extents[axis]);
  return "[" + text + "]";
}

}  // namespace

Result<std::int64_t> checked_bytes(std::string_view what, const std::int64_t* extents, int axes, std::int64_t element_bytes) {
  bool empty = false;
  for (int axis = 0; axis < axes; ++axis) {
    if (extents[axis] < 0)
      return Status::invalid(std::string(what) + ": axis " + std::to_string(axis) + " has a negative size, " + std::to_string(extents[axis]));
    empty = empty || extents[axis] == 0;
  }
  if (empty) return std::int64_t{0};
  std::uint64_t bytes = static_cast<std::uint64_t>(element_bytes);
  for (int axis = 0; axis < axes; ++axis) bytes = saturating_product(bytes, static_cast<std::uint64_t>(extents[axis]));
  const auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (bytes > limit)
    return Status(StatusCode::out_of_memory, std::string(what) + " " + shape_text(extents, axes) + " needs " + std::to_string(bytes) +
                                                 " bytes; this target can address " + std::to_string(limit));
  return static_cast<std::int64_t>(bytes);
}

}  // namespace linearmem
