// What a memory costs, in elements and bytes: the part that grows with the prefix and the part that does not.
#pragma once

#include <cstdint>

namespace linearmem {

// An explicit history: one key [K] and one value [V] per token, layer and key head. Grows with the prefix.
struct KeyValueHistory {
  std::int64_t tokens, key_width, value_width;
  std::int64_t layers = 1, heads = 1;
  std::int64_t element_bytes = 4;

  std::int64_t bytes() const { return tokens * (key_width + value_width) * layers * heads * element_bytes; }
};

// A fixed state [K,V], with a normalizer [K] where the mechanism keeps one. The same for every prefix.
struct FixedState {
  std::int64_t key_width, value_width;
  bool normalizer = false;
  std::int64_t layers = 1, heads = 1;
  std::int64_t element_bytes = 4;

  std::int64_t elements() const { return (key_width * value_width + (normalizer ? key_width : 0)) * layers * heads; }
  std::int64_t bytes() const { return elements() * element_bytes; }
};

// One attention block of model width D (four D x D projections; a feed-forward part of width 4 D), run R rounds with the same
// parameters. Source of the shape: Vaswani et al. 2017; of the rounds: Dehghani et al. 2019, "Universal Transformers".
struct SharedDepth {
  std::int64_t width, rounds, tokens;
  std::int64_t element_bytes = 4;

  std::int64_t parameters() const { return 4 * width * width + 8 * width * width; }
  // Multiply-adds: projections and feed-forward per token and round, causal scores and sums over T (T + 1) / 2 pairs per round.
  std::int64_t operations() const { return rounds * (tokens * parameters() + tokens * (tokens + 1) * width); }
  // Each round attends to keys and values of its own, so the history grows with R, and with the prefix in the same order as one layer's.
  std::int64_t history_bytes() const { return KeyValueHistory{tokens, width, width, rounds, 1, element_bytes}.bytes(); }
};

}  // namespace linearmem
