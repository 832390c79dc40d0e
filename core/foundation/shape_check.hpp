// Collects the axes of a door's arguments by letter and keeps the first disagreement as one clear sentence:
// "delta_rule: K differs: q has 64, k has 33". Nothing is allocated or put into words unless there is one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// "B T Hv V" as {"B", "T", "Hv", "V"} and as "[B,T,Hv,V]".
std::vector<std::string> axis_letters(const char* axes);
std::string bracketed_axes(const char* axes);

// The name of an axis, at most eight characters, as one number.
using AxisName = std::uint64_t;

constexpr AxisName axis_name(std::string_view text) {
  AxisName name = 0;
  for (char letter : text) name = name << 8 | static_cast<unsigned char>(letter);
  return name;
}

// Where a table of names looks for one first.
constexpr int kAxisSlots = 32;
constexpr int axis_slot(AxisName name) { return static_cast<int>(name * 0x9e3779b97f4a7c15u >> 59); }

// Clang 14 (Emscripten 3.1.6) leaves the temporary of an immediate constructor unwritten where a reference is bound to it.
#if defined(__clang__) && __clang_major__ < 15
#define LINEARMEM_CONSTEVAL constexpr
#else
#define LINEARMEM_CONSTEVAL consteval
#endif

// The axes of one argument, "B T Hv V", taken apart by the compiler, which refuses another number of them than N.
template <int N>
struct Axes {
  const char* text;
  AxisName names[N] = {};
  int slots[N] = {};

  LINEARMEM_CONSTEVAL Axes(const char* axes) : text(axes) {
    int axis = 0, letters = 0;
    for (const char* at = axes; *at; ++at) {
      const bool next = *at == ' ';
      axis += next;
      letters = next ? 0 : letters + 1;
      if (letters > 8) throw "an axis has a name of more than eight characters";
      if (!next) names[axis] = names[axis] << 8 | static_cast<unsigned char>(*at);
    }
    if (axis != N - 1) throw "an argument has another number of axes";
    for (axis = 0; axis < N; ++axis) slots[axis] = axis_slot(names[axis]);
  }
};

class ShapeCheck {
 public:
  // door and the names of arguments are kept as they are: string literals.
  explicit ShapeCheck(const char* door) : door_(door) {}

  // axes: one letter group per axis, "B T Hv V". The first argument to name an axis fixes its size. Data is null only where there are no elements.
  template <typename T, int N>
  ShapeCheck& required(const char* argument, const View<T, N>& view, const std::type_identity_t<Axes<N>>& axes) {
    return view.given() ? match(argument, view.data(), view.extents().data(), axes.names, axes.slots, N) : missing(argument, axes.text);
  }
  template <typename T, int N>
  ShapeCheck& optional(const char* argument, const View<T, N>& view, const std::type_identity_t<Axes<N>>& axes) {
    return view.given() ? match(argument, view.data(), view.extents().data(), axes.names, axes.slots, N) : *this;
  }

  ShapeCheck& define(std::string_view axis, const char* argument, std::int64_t size);
  ShapeCheck& multiple(const char* axis, const char* of);  // "Hv is 5, not a multiple of H, which is 2"
  // Rises from 0 to T, one entry more than there are sequences; defines their axis. When absent, that is B.
  ShapeCheck& sequences(const View<const std::int64_t, 1>& cu_seqlens, std::string_view axis = "N");
  // sentence: a text, or what makes one when it is wanted.
  ShapeCheck& require(bool condition, std::string_view sentence) { return condition ? *this : fail(sentence); }
  template <typename Sentence>
    requires(std::is_invocable_v<const Sentence&>)
  ShapeCheck& require(bool condition, const Sentence& sentence) {
    return condition ? *this : fail(sentence());
  }

  std::int64_t size(std::string_view axis) const { return size_of(axis_name(axis)); }  // 0 where it has no name yet
  const Status& status() const { return status_; }

 private:
  int place_of(AxisName axis, int slot) const;  // where it stands or could
  std::int64_t size_of(AxisName axis) const;
  void bind(AxisName axis, int slot, const char* argument, std::int64_t size);
  ShapeCheck& match(const char* argument, const void* data, const std::int64_t* extents, const AxisName* axes, const int* slots, int count);
  void check_no_elements(const char* argument, const std::int64_t* extents, int count);
  ShapeCheck& missing(const char* argument, const char* axes);
  void bind_new_or_fail(AxisName axis, int slot, const char* argument, std::int64_t size);
  ShapeCheck& fail(std::string_view sentence);

  const char* door_;
  bool taken(int slot) const { return (taken_ >> slot & 1) != 0; }

  // A table with open addressing; no door names so many axes that it is full. Slots hold something where they are taken: clearing
  // the table would take longer than all checks of a small call.
  std::uint32_t taken_ = 0;
  AxisName names_[kAxisSlots];
  std::int64_t sizes_[kAxisSlots];
  const char* arguments_[kAxisSlots];  // that fixed the sizes
  Status status_;
};

}  // namespace linearmem
