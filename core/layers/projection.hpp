// A linear projection, y = x W^T + b, with W [to, from] as checkpoints store it, kept in the panels of the matrix kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "layers/rows.hpp"
#include "linearmem/executor.hpp"

namespace linearmem::layers {

template <typename T>
class Projection {
 public:
  Projection() = default;
  Projection(std::int64_t from, std::int64_t to);

  // Row j of W, where the projection's output j comes from. Rows may be put in any order.
  void set_row(std::int64_t j, const T* weights, T bias = T{0});
  // All rows as they stand; bias: [to], or null for none.
  void set_rows(const T* weights, const T* bias);

  std::int64_t from() const { return from_; }
  std::int64_t to() const { return to_; }

  Rows<T> operator()(const Executor* executor, const Rows<T>& x) const;

 private:
  void some_panels(const Rows<T>& x, std::int64_t first, std::int64_t count, Rows<T>& out) const;

  std::int64_t from_ = 0, to_ = 0, panels_ = 0;
  std::vector<T> weights_;  // [panels][from][kPanelColumns]
  std::vector<T> bias_;     // [panels * kPanelColumns]
};

}  // namespace linearmem::layers
