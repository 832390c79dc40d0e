// Collects the axes of a door's arguments by letter and keeps the first disagreement as one clear sentence:
// "delta_rule: K differs: q has 64, k has 33".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// "B T Hv V" as {"B", "T", "Hv", "V"} and as "[B,T,Hv,V]".
std::vector<std::string> axis_letters(const char* axes);
std::string bracketed_axes(const char* axes);

class ShapeCheck {
 public:
  explicit ShapeCheck(std::string_view door) : door_(door) {}

  // axes: one letter group per axis, "B T Hv V". The first argument to name an axis fixes its size.
  template <typename T, int N>
  ShapeCheck& required(const char* argument, const View<T, N>& view, const char* axes) {
    if (!view.given()) return fail(std::string(argument) + " is missing; it is " + bracketed_axes(axes));
    return match(argument, view.extents().data(), N, axes);
  }
  template <typename T, int N>
  ShapeCheck& optional(const char* argument, const View<T, N>& view, const char* axes) {
    return view.given() ? match(argument, view.extents().data(), N, axes) : *this;
  }

  ShapeCheck& define(const std::string& axis, const char* argument, std::int64_t size);
  ShapeCheck& multiple(const char* axis, const char* of);  // "Hv is 5, not a multiple of H, which is 2"
  // Rises from 0 to T, one entry more than there are sequences; defines their axis. When absent, that is B.
  ShapeCheck& sequences(const View<const std::int64_t, 1>& cu_seqlens, const std::string& axis = "N");
  ShapeCheck& require(bool condition, const std::string& sentence) { return condition ? *this : fail(sentence); }

  std::int64_t size(const std::string& axis) const;
  const Status& status() const { return status_; }

 private:
  struct Bound {
    std::string argument;
    std::int64_t size;
  };

  ShapeCheck& match(const char* argument, const std::int64_t* extents, int count, const char* axes);
  ShapeCheck& fail(const std::string& sentence);

  std::string door_;
  std::map<std::string, Bound> axes_;
  Status status_;
};

}  // namespace linearmem
