#include "foundation/shape_check.hpp"

namespace linearmem {

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

ShapeCheck& ShapeCheck::fail(const std::string& sentence) {
  if (status_.ok()) status_ = Status::invalid(door_ + ": " + sentence);
  return *this;
}

ShapeCheck& ShapeCheck::define(const std::string& axis, const char* argument, std::int64_t size) {
  const auto [entry, added] = axes_.try_emplace(axis, Bound{argument, size});
  if (!added && entry->second.size != size)
    return fail(axis + " differs: " + entry->second.argument + " has " + std::to_string(entry->second.size) + ", " + argument + " has " +
                std::to_string(size));
  return *this;
}

ShapeCheck& ShapeCheck::match(const char* argument, const std::int64_t* extents, int count, const char* axes) {
  const std::vector<std::string> letters = axis_letters(axes);
  for (int at = 0; at < count; ++at) define(letters[at], argument, extents[at]);
  return *this;
}

ShapeCheck& ShapeCheck::multiple(const char* axis, const char* of) {
  const std::int64_t large = size(axis), small = size(of);
  const bool fits = small > 0 ? large % small == 0 : large == 0;
  return require(fits,
                 std::string(axis) + " is " + std::to_string(large) + ", not a multiple of " + of + ", which is " + std::to_string(small));
}

ShapeCheck& ShapeCheck::sequences(const View<const std::int64_t, 1>& cu_seqlens, const std::string& axis) {
  if (!cu_seqlens.given()) return define(axis, axes_.count("B") ? axes_.at("B").argument.c_str() : "B", size("B"));
  const std::int64_t entries = cu_seqlens.extent(0), tokens = size("T");
  if (entries < 1) return fail("cu_seqlens is empty; it has " + axis + "+1 entries, at least the 0 it starts with");
  if (size("B") != 1) return fail("cu_seqlens packs its sequences in one row: B is " + std::to_string(size("B")) + ", must be 1");
  if (cu_seqlens(0) != 0) return fail("cu_seqlens[0] is " + std::to_string(cu_seqlens(0)) + ", must be 0");
  for (std::int64_t n = 1; n < entries; ++n)
    if (cu_seqlens(n) < cu_seqlens(n - 1))
      return fail("cu_seqlens falls at entry " + std::to_string(n) + ": " + std::to_string(cu_seqlens(n - 1)) + " then " +
                  std::to_string(cu_seqlens(n)));
  if (cu_seqlens(entries - 1) != tokens)
    return fail("cu_seqlens ends at " + std::to_string(cu_seqlens(entries - 1)) + ", T is " + std::to_string(tokens));
  return define(axis, "cu_seqlens", entries - 1);
}

std::int64_t ShapeCheck::size(const std::string& axis) const {
  const auto entry = axes_.find(axis);
  return entry == axes_.end() ? 0 : entry->second.size;
}

}  // namespace linearmem
