// The ways a room's numbers can be had: each form, and the chunked one at several chunk sizes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "core/support.hpp"
#include "linearmem/form.hpp"

namespace linearmem::test {

struct Way {
  Form form;
  std::int64_t chunk = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Way& way) {
  return out << form_name(way.form) << (way.chunk > 0 ? " " + std::to_string(way.chunk) : "");
}

// automatic, the given forms, and the chunked one at each chunk size (0: the door's own).
inline std::vector<Way> ways(std::initializer_list<Form> forms, std::initializer_list<std::int64_t> chunks = {}) {
  std::vector<Way> all = {{Form::automatic}};
  for (Form form : forms) all.push_back({form});
  for (std::int64_t chunk : chunks) all.push_back({Form::chunked, chunk});
  return all;
}

// The numbers one call gave, row-major, against what they should be.
template <typename T>
double worst(const std::vector<T>& got, const std::vector<double>& expected) {
  if (got.size() != expected.size()) return std::numeric_limits<double>::infinity();
  const std::int64_t count = static_cast<std::int64_t>(got.size());
  return relative_difference(View<const T, 1>(got.data(), {count}), View<const double, 1>(expected.data(), {count}));
}

}  // namespace linearmem::test
