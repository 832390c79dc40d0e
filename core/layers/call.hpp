// What every layer shares of a call: checked once, its tokens packed without padding, its states lent or gathered, its results put back.
#pragma once

#include <string_view>
#include <vector>

#include "layers/rows.hpp"
#include "linearmem/layer_state.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem::layers {

// The tokens of all requests without padding, one after the other.
template <typename T>
class Call {
 public:
  // Errors: those of Layer::forward.
  static Result<Call> enter(const LayerCall<T>& call, const Layer<T>& layer);

  Rows<T> x;                           // [tokens,M]
  std::vector<std::int64_t> ends;      // [N+1], rising from 0 to tokens
  std::vector<std::int64_t> seen;      // [N]
  const LayerCall<T>* from = nullptr;  // as the caller wrote it

  std::int64_t requests() const { return static_cast<std::int64_t>(seen.size()); }
  std::int64_t tokens(std::int64_t n) const { return ends[static_cast<std::size_t>(n + 1)] - ends[static_cast<std::size_t>(n)]; }
  View<const std::int64_t, 1> cu_seqlens() const { return {ends.data(), {requests() + 1}}; }
  std::int64_t tokens() const { return ends.back(); }
  const Executor* executor() const { return from->executor; }

  bool keeps_states() const { return !from->states.empty(); }
  // Request n's row of a part; null where no states are kept.
  T* state_row(std::size_t part, std::int64_t n) const;

  // Zeros in request n's row of a part, where it begins: what an earlier request left there is neither read nor saved.
  void clear_if_begun(std::size_t part, std::int64_t n, std::int64_t elements) const;

  // [L,heads,width] of request n.
  View<T, 3> request_rows(Rows<T>& rows, std::int64_t n, std::int64_t heads) const {
    const std::int64_t width = rows.width() / heads;
    return {rows.row(ends[static_cast<std::size_t>(n)]), {tokens(n), heads, width}, {rows.stride(), width, 1}};
  }

  // name: as a published layer's variable is called. rows: [tokens, columns], seen as `shape` behind the axis of tokens.
  void show(std::string_view name, const Rows<T>& rows, std::int64_t first, std::vector<std::int64_t> shape) const;

  // y [tokens,M] to out; 0 where there is padding.
  void put(const Rows<T>& y) const;

 private:
  std::vector<std::int64_t> places_;  // [tokens], b * T + t
};

// One part of the states of all requests, [N,elements] and packed: the caller's own rows where they lie so, else a copy. Requests that begin
// start from zeros.
template <typename T>
class GatheredState {
 public:
  GatheredState(const Call<T>& call, std::size_t part, std::int64_t elements);
  T* data() { return lent_ ? lent_ : copy_.data(); }
  void put_back() const;

 private:
  const Call<T>& call_;
  std::size_t part_;
  std::int64_t elements_;
  T* lent_ = nullptr;
  std::vector<T> copy_;
};

}  // namespace linearmem::layers
