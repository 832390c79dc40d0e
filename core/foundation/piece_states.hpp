// The states [K,V] of a piece's heads, or some columns of one: where they lie while a door computes, and their way in and out.
#pragma once

#include <cstdint>
#include <optional>

#include "foundation/precision.hpp"
#include "foundation/rounding.hpp"
#include "foundation/sequences.hpp"
#include "foundation/work_split.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {

template <typename T>
class PieceStates {
 public:
  // state, final_state: [N,H,K,V] or absent. in_place: compute in final_state itself, where its rows have no gaps inside.
  // extra: room for so many more columns in each row, zeros at first; not in place.
  PieceStates(const View<const T, 4>& state, const View<T, 4>& final_state, const Piece& piece, std::int64_t K, std::int64_t V, bool in_place,
              std::int64_t extra = 0)
      : state_(state), final_state_(final_state), piece_(piece), K_(K), columns_(piece.columns<T>(V)), row_(columns_.count + extra),
        in_place_(in_place && final_state.given() && final_state.stride(3) == 1), own_({in_place_ ? 0 : piece.heads, K, row_}) {}

  const Range& columns() const { return columns_; }

  // [K,columns] of the piece's head h.
  View<T, 2> S(std::int64_t h) {
    if (in_place_) return of(final_state_, piece_.sequence, h);
    return {own_.data() + h * K_ * row_, {K_, columns_.count}, {row_, 1}};
  }

  // Into the narrower format, where there is one.
  void load(const std::optional<Rounding<T>>& rounding) {
    for (std::int64_t h = 0; h < piece_.heads; ++h) {
      const View<T, 2> S_h = S(h);
      if (state_.given()) copy_matrix(of(state_, piece_.sequence, h), S_h);
      if (state_.given() && !rounding) continue;
      for (std::int64_t i = 0; i < K_; ++i)
        for (std::int64_t j = 0; j < columns_.count; ++j) S_h(i, j) = state_.given() ? rounded(*rounding, S_h(i, j)) : T{0};
    }
  }

  // To row n of a tensor of states.
  void store(const View<T, 4>& to, std::int64_t n) {
    for (std::int64_t h = 0; to.given() && h < piece_.heads; ++h) copy_matrix(View<const T, 2>(S(h)), of(to, n, h));
  }
  void store() { store(final_state_, piece_.sequence); }

 private:
  template <typename U>
  View<U, 2> of(const View<U, 4>& states, std::int64_t n, std::int64_t h) const {
    return columns_of(head_state(states, n, piece_.head + h), columns_);
  }

  View<const T, 4> state_;
  View<T, 4> final_state_;
  Piece piece_;
  std::int64_t K_;
  Range columns_;
  std::int64_t row_;
  bool in_place_;
  Tensor<T, 3> own_;
};

}  // namespace linearmem
