// x W, token by token. Every sum runs in the order of the columns of x, so a token gives the same bits whatever stands beside it.
#pragma once

#include "foundation/precision.hpp"
#include "foundation/work_split.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem::stack {

// out[t, :] += x[t, :] W for packed rows: x [tokens,from], W [from,to], out [tokens,to].
template <typename T>
void add_product(const Executor* executor, const T* x, const T* W, std::int64_t tokens, std::int64_t from, std::int64_t to, T* out) {
  const auto cost = [&](std::int64_t) { return static_cast<double>(tokens) * static_cast<double>(from * to); };
  each_piece({executor, 1, 1, std::max<std::int64_t>(tokens, 1)}, cost, [&](const Piece& piece) {
    const Range some = piece.of(tokens, 1);
    for (std::int64_t t = some.first; t < some.first + some.count; ++t)
      for (std::int64_t i = 0; i < from; ++i)
        for (std::int64_t j = 0; j < to; ++j) out[t * to + j] += x[t * from + i] * W[i * to + j];
  });
}

// [B,T,D] by [D,H,width], and by [D,H].
template <typename T>
Tensor<T, 4> project(const Executor* executor, const Tensor<T, 3>& x, const View<const T, 3>& w) {
  const auto [B, time, D] = x.extents();
  Tensor<T, 3> W(w.extents());
  convert(w, W.view());
  Tensor<T, 4> out({B, time, w.extent(1), w.extent(2)});
  add_product(executor, x.data(), W.data(), B * time, D, w.extent(1) * w.extent(2), out.data());
  return out;
}

template <typename T>
Tensor<T, 3> project(const Executor* executor, const Tensor<T, 3>& x, const View<const T, 2>& w) {
  const auto [B, time, D] = x.extents();
  Tensor<T, 2> W(w.extents());
  convert(w, W.view());
  Tensor<T, 3> out({B, time, w.extent(1)});
  add_product(executor, x.data(), W.data(), B * time, D, w.extent(1), out.data());
  return out;
}

// x [B,T,D] += o [B,T,H,V] Wo [H,V,D].
template <typename T>
void add_projected(const Executor* executor, const Tensor<T, 4>& o, const View<const T, 3>& wo, Tensor<T, 3>& x) {
  const auto [B, time, D] = x.extents();
  Tensor<T, 3> W(wo.extents()), sum(x.extents());
  convert(wo, W.view());
  add_product(executor, o.data(), W.data(), B * time, wo.extent(0) * wo.extent(1), D, sum.data());
  for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] += sum.data()[i];
}

}  // namespace linearmem::stack
