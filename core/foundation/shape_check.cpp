#include "foundation/shape_check.hpp"

namespace linearmem {
namespace {

std::string axis_text(AxisName axis) {
  std::string text;
  for (int shift = 56; shift >= 0; shift -= 8)
    if (const char letter = static_cast<char>(axis >> shift & 0xff)) text += letter;
  return text;
}

// What is wrong with cu_seqlens [entries], or nothing.
std::string sequences_fault(const View<const std::int64_t, 1>& cu_seqlens, std::int64_t rows, std::int64_t tokens, std::string_view axis) {
  const std::int64_t entries = cu_seqlens.extent(0);
  if (entries < 1) return "cu_seqlens is empty; it has " + std::string(axis) + "+1 entries, at least the 0 it starts with";
  if (cu_seqlens.data() == nullptr) return "cu_seqlens points nowhere, and is not empty";
  if (rows != 1) return "cu_seqlens packs its sequences in one row: B is " + std::to_string(rows) + ", must be 1";
  if (cu_seqlens(0) != 0) return "cu_seqlens[0] is " + std::to_string(cu_seqlens(0)) + ", must be 0";
  for (std::int64_t n = 1; n < entries; ++n)
    if (cu_seqlens(n) < cu_seqlens(n - 1))
      return "cu_seqlens falls at entry " + std::to_string(n) + ": " + std::to_string(cu_seqlens(n - 1)) + " then " +
             std::to_string(cu_seqlens(n));
  if (cu_seqlens(entries - 1) != tokens)
    return "cu_seqlens ends at " + std::to_string(cu_seqlens(entries - 1)) + ", T is " + std::to_string(tokens);
  return {};
}

}  // namespace

std::vector<std::string> axis_letters(const char* axes) {
  std::vector<std::string> letters(1);
  for (const char* at = axes; *at; ++at) {
    if (*at == ' ') letters.emplace_back();
    else letters.back() += *at;
  }
  return letters;
}

std::string bracketed_axes(const char* axes) {
  std::string text = "[";
  for (const char* at = axes; *at; ++at) text += *at == ' ' ? ',' : *at;
  return text + "]";
}

ShapeCheck& ShapeCheck::fail(std::string_view sentence) {
  if (status_.ok()) status_ = Status::invalid(std::string(door_) + ": " + std::string(sentence));
  return *this;
}

ShapeCheck& ShapeCheck::missing(const char* argument, const char* axes) {
  return fail(std::string(argument) + " is missing; it is " + bracketed_axes(axes));
}

int ShapeCheck::place_of(AxisName axis, int slot) const {
  while (taken(slot) && names_[slot] != axis) slot = (slot + 1) % kAxisSlots;
  return slot;
}

std::int64_t ShapeCheck::size_of(AxisName axis) const {
  const int place = place_of(axis, axis_slot(axis));
  return taken(place) ? sizes_[place] : 0;
}

void ShapeCheck::bind_new_or_fail(AxisName axis, int slot, const char* argument, std::int64_t size) {
  const int place = place_of(axis, slot);
  if (!taken(place)) {
    taken_ |= std::uint32_t{1} << place;
    if (size < 0) fail(axis_text(axis) + " is " + std::to_string(size) + " in " + argument + ", must be at least 0");
    names_[place] = axis;
    sizes_[place] = size;
    arguments_[place] = argument;
  } else if (sizes_[place] != size) {
    fail(axis_text(axis) + " differs: " + arguments_[place] + " has " + std::to_string(sizes_[place]) + ", " + argument + " has " +
         std::to_string(size));
  }
}

inline void ShapeCheck::bind(AxisName axis, int slot, const char* argument, std::int64_t size) {
  if (taken(slot) && names_[slot] == axis && sizes_[slot] == size) return;  // most often
  bind_new_or_fail(axis, slot, argument, size);
}

ShapeCheck& ShapeCheck::define(std::string_view axis, const char* argument, std::int64_t size) {
  bind(axis_name(axis), axis_slot(axis_name(axis)), argument, size);
  return *this;
}

void ShapeCheck::check_no_elements(const char* argument, const std::int64_t* extents, int count) {
  for (int at = 0; at < count; ++at)
    if (extents[at] == 0) return;
  fail(std::string(argument) + " points nowhere, and is not empty");
}

ShapeCheck& ShapeCheck::match(const char* argument, const void* data, const std::int64_t* extents, const AxisName* axes, const int* slots, int count) {
  for (int at = 0; at < count; ++at) bind(axes[at], slots[at], argument, extents[at]);
  if (data == nullptr) check_no_elements(argument, extents, count);
  return *this;
}

ShapeCheck& ShapeCheck::multiple(const char* axis, const char* of) {
  const std::int64_t large = size(axis), small = size(of);
  const bool fits = small > 0 ? large % small == 0 : large == 0;
  return require(fits, [&] {
    return std::string(axis) + " is " + std::to_string(large) + ", not a multiple of " + of + ", which is " + std::to_string(small);
  });
}

ShapeCheck& ShapeCheck::sequences(const View<const std::int64_t, 1>& cu_seqlens, std::string_view axis) {
  if (!cu_seqlens.given()) {
    const int rows = place_of(axis_name("B"), axis_slot(axis_name("B")));
    return define(axis, taken(rows) ? arguments_[rows] : "B", size("B"));
  }
  if (const std::string fault = sequences_fault(cu_seqlens, size("B"), size("T"), axis); !fault.empty()) return fail(fault);
  return define(axis, "cu_seqlens", cu_seqlens.extent(0) - 1);
}

}  // namespace linearmem
