// Heads of one sequence take turns at blocks of tokens: their rows lie side by side in memory, so that what is fetched for one serves
// all, and the states of a few heads stay near while the others are at work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "foundation/ahead_rows.hpp"
#include "foundation/aligned_buffer.hpp"
#include "foundation/column_tiles.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// Of up to four [T,width] views of one head, the rows of the next `tokens` tokens after `begin` + `tokens`; and another head's state.
template <typename T>
AheadRows<T> rows_ahead(std::int64_t begin, std::int64_t tokens, const View<const T, 2>& a, const View<const T, 2>& b,
                        const View<const T, 2>& c, const View<const T, 2>& d, const View<T, 2>& next_state) {
  const bool packed = next_state.given() && next_state.stride(1) == 1 && next_state.stride(0) == next_state.extent(1);
  AheadRows<T> ahead{.rows = {}, .tokens = std::min(tokens, a.extent(0) - begin - tokens), .state = packed ? next_state.data() : nullptr};
  if (ahead.tokens == 0) return ahead;
  int n = 0;
  for (const View<const T, 2>* rows : {&a, &b, &c, &d})
    if (rows->stride(1) == 1) ahead.rows[n++] = {rows->data() + (begin + tokens) * rows->stride(0), rows->stride(0), rows->extent(1)};
  return ahead;
}

constexpr std::int64_t kFewTokens = 4;  // as many as do not pay for a copy of the state in tile order

// heads: each with a state S [K,V]. run(head, first token, tokens, state, state_stride, next state) advances a head by a block;
// state_stride is 0 where the state is in tile order, else the distance of its rows where they lie; then the state of the head whose
// turn is next comes along, absent for the last.
template <typename T, typename Heads, typename Run>
void take_turns(const Heads& heads, std::int64_t K, std::int64_t V, std::int64_t tokens, std::int64_t block, const Run& run) {
  if (tokens <= kFewTokens && V == padded_columns<T>(V)) {
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const View<T, 2> S = heads[h].S, next = h + 1 < heads.size() ? heads[h + 1].S : View<T, 2>();
      run(heads[h], 0, tokens, S.data(), S.stride(0), next);
    }
    return;
  }
  const std::int64_t size = K * padded_columns<T>(V);
  AlignedBuffer<T> states(static_cast<std::int64_t>(heads.size()) * size);
  const auto each_head = [&](const auto& visit) {
    T* state = states.data();
    for (const auto& head : heads) {
      visit(head, state);
      state += size;
    }
  };
  each_head([&](const auto& head, T* state) { load_tiles(head.S.data(), head.S.stride(0), state, K, V); });
  for (std::int64_t begin = 0; begin < tokens; begin += block)
    each_head([&](const auto& head, T* state) { run(head, begin, std::min(block, tokens - begin), state, 0, {}); });
  each_head([&](const auto& head, T* state) { store_tiles(state, head.S.data(), head.S.stride(0), K, V); });
}

}  // namespace linearmem
