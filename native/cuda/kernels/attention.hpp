// Softmax attention in one pass over the keys: a block answers kTileQueries queries of one head, four threads to a query; key tiles come
// through shared memory, and each query keeps its largest score m, the sum l of exp(score - m) and the weighted sum of values, which
// shrink by exp(m_old - m) when a larger score comes. Tiles begin at the sequence's first token, so that a query meets the same sums
// in any company. Weights of keys that a query does not see are marked, not multiplied.
// Sources: Milakov & Gimelshein 2018; Dao et al. 2022, "FlashAttention".
#pragma once

#include "kernels/block.hpp"

namespace linearmem::cuda {

constexpr int kTileQueries = 32, kTileKeys = 16;
constexpr int kQueryThreads = 4;  // that share a query

struct AttentionArguments {
  Array<const float, 4> q;                   // [B,T,H,K]
  Array<const float, 4> k, v;                // [B,T,H / group,K | V]
  Array<const std::uint8_t, 2> mask;         // [B,T], 0: never seen; absent: all are
  Array<const std::int64_t, 1> cu_seqlens;   // [N+1] or absent
  Array<float, 4> o;                         // [B,T,H,V]
  std::int64_t T, H, K, V, group;
  std::int64_t tiles;   // blocks per head: queries of the longest sequence / kTileQueries, rounded up
  std::int64_t window;  // at least 1, at most T
  float scale;
  bool causal;
};

// Rows of shared memory are padded so that neighbouring rows lie in other banks.
LINEARMEM_BOTH std::int64_t attention_row(std::int64_t width) { return (width + 3) / 4 * 4 + 4; }
constexpr std::int64_t attention_shared_floats(std::int64_t K, std::int64_t V) {
  return (kTileQueries + kTileKeys) * attention_row(K) + kTileKeys * attention_row(V) + kTileQueries * (kTileKeys + 1);
}

// kGroups: times 16 columns of the values at most.
template <int kGroups>
struct Attention {
  using Arguments = AttentionArguments;
  static constexpr int kMostThreads = kTileQueries * kQueryThreads;
  static constexpr int kLeastBlocks = 1;
  static constexpr int kScores = kTileKeys / kQueryThreads;  // of a thread and tile: keys part, part + 4, ...
  static constexpr float kUnseen = -1;                       // stands for the weight, which is never negative

  struct Query {
    float m = -INFINITY, l = 0;
    float score[kScores];
    float o[4 * kGroups];  // columns 4 part + 16 group ...
  };

  struct Place {
    std::int64_t n, h, first_query;  // first_query counts from the sequence's first token
    Tokens tokens;
    float *q, *k, *v, *weights;
  };

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    const Place at = place_of(block, a);
    const std::int64_t length = at.tokens.end - at.tokens.begin;
    if (at.first_query >= length) return;
    typename Block::template Registers<Query> query(block);
    typename Block::template Registers<float> across(block);
    block.each([&](int thread) {
      query[thread] = Query{};
      for (float& o : query[thread].o) o = 0;
      stage_rows(block, a.q, at, at.h, at.first_query, kTileQueries, a.K, at.q, thread, nullptr);
    });
    const std::int64_t last = least(at.first_query + kTileQueries, length), end = a.causal ? last : length;
    const std::int64_t first = a.causal && at.first_query >= a.window ? at.first_query - a.window + 1 : 0;
    for (std::int64_t s = first / kTileKeys * kTileKeys; s < end; s += kTileKeys) {
      block.each([&](int thread) {
        stage_rows(block, a.k, at, at.h / a.group, s, kTileKeys, a.K, at.k, thread, &a.mask);
        stage_rows(block, a.v, at, at.h / a.group, s, kTileKeys, a.V, at.v, thread, &a.mask);
      });
      block.each_apart([&](int thread) { across[thread] = largest_score(a, at, s, thread, query[thread]); });
      block.max_across(across, kQueryThreads);
      block.each([&](int thread) { across[thread] = weigh(at, thread, query[thread], across[thread]); });
      block.sum_across(across, kQueryThreads);
      block.each([&](int thread) {
        query[thread].l += across[thread];
        add_values(at, a.V, thread, query[thread]);
      });
    }
    block.each_apart([&](int thread) { hand_over(a, at, thread, query[thread]); });
  }

 private:
  template <typename Block>
  static LINEARMEM_DEVICE Place place_of(Block& block, const Arguments& a) {
    Place at;
    const std::int64_t head = block.index() / a.tiles;
    at.n = head / a.H;
    at.h = head % a.H;
    at.first_query = block.index() % a.tiles * kTileQueries;
    at.tokens = tokens_of(a.cu_seqlens, a.T, at.n);
    at.q = static_cast<float*>(block.shared());
    at.k = at.q + kTileQueries * attention_row(a.K);
    at.v = at.k + kTileKeys * attention_row(a.K);
    at.weights = at.v + kTileKeys * attention_row(a.V);
    return at;
  }

  static LINEARMEM_INLINE bool hidden(const Array<const std::uint8_t, 2>* mask, const Place& at, std::int64_t s) {
    return mask && mask->given() && mask->at(at.tokens.row, at.tokens.begin + s) == 0;
  }

  // `count` rows from the sequence's token `first` on; zeros past its end, past the width and in hidden tokens.
  template <typename Block>
  static LINEARMEM_DEVICE void stage_rows(Block& block, const Array<const float, 4>& rows, const Place& at, std::int64_t head, std::int64_t first,
                                          int count, std::int64_t width, float* to, int thread, const Array<const std::uint8_t, 2>* mask) {
    const int row = static_cast<int>(attention_row(width));
    for (int i = thread; i < count * row; i += block.threads()) {
      const std::int64_t s = first + i / row;
      const int c = i % row;
      const bool inside = c < width && at.tokens.begin + s < at.tokens.end && !hidden(mask, at, s);
      to[i] = inside ? rows.at(at.tokens.row, at.tokens.begin + s, head, c) : 0.0f;
    }
  }

  static LINEARMEM_INLINE bool sees(const Arguments& a, const Place& at, std::int64_t t, std::int64_t s) {
    if (at.tokens.begin + s >= at.tokens.end || hidden(&a.mask, at, s)) return false;
    return !a.causal || (s <= t && t - s < a.window);
  }

  // The scores of a thread's keys, -infinity where unseen; the largest.
  static LINEARMEM_INLINE float largest_score(const Arguments& a, const Place& at, std::int64_t first, int thread, Query& query) {
    const int part = thread % kQueryThreads, row = static_cast<int>(attention_row(a.K));
    const float* q = at.q + thread / kQueryThreads * row;
    LINEARMEM_UNROLL
    for (int i = 0; i < kScores; ++i) query.score[i] = 0;
    for (int c = 0; c < a.K; c += 4) {
      const Four x = four_of(q + c);
      LINEARMEM_UNROLL
      for (int i = 0; i < kScores; ++i) {
        const Four y = four_of(at.k + (part + i * kQueryThreads) * row + c);
        LINEARMEM_UNROLL
        for (int j = 0; j < 4; ++j) query.score[i] = fmaf(x.at[j], y.at[j], query.score[i]);
      }
    }
    float largest = -INFINITY;
    LINEARMEM_UNROLL
    for (int i = 0; i < kScores; ++i) {
      const bool seen = sees(a, at, at.first_query + thread / kQueryThreads, first + part + i * kQueryThreads);
      query.score[i] = seen ? query.score[i] * a.scale : -INFINITY;
      largest = fmaxf(largest, query.score[i]);
    }
    return largest;
  }

  // Scores become weights in shared memory; their sum. What was summed before shrinks to the new largest score.
  static LINEARMEM_INLINE float weigh(const Place& at, int thread, Query& query, float largest) {
    const float m = fmaxf(query.m, largest), shrink = query.m == m ? 1.0f : expf(query.m - m);
    query.m = m;
    query.l *= shrink;
    LINEARMEM_UNROLL
    for (int c = 0; c < 4 * kGroups; ++c) query.o[c] *= shrink;
    float sum = 0;
    LINEARMEM_UNROLL
    for (int i = 0; i < kScores; ++i) {
      const bool seen = query.score[i] != -INFINITY;
      const float weight = seen ? expf(query.score[i] - m) : kUnseen;
      if (seen) sum += weight;
      at.weights[thread / kQueryThreads * (kTileKeys + 1) + thread % kQueryThreads + i * kQueryThreads] = weight;
    }
    return sum;
  }

  static LINEARMEM_INLINE void add_values(const Place& at, std::int64_t V, int thread, Query& query) {
    const float* weights = at.weights + thread / kQueryThreads * (kTileKeys + 1);
    const int row = static_cast<int>(attention_row(V)), first = 4 * (thread % kQueryThreads);
    for (int s = 0; s < kTileKeys; ++s) {
      const float weight = weights[s];
      if (weight < 0) continue;
      LINEARMEM_UNROLL
      for (int group = 0; group < kGroups; ++group) {
        const int column = first + 16 * group;
        if (column >= V) break;
        const Four v = four_of(at.v + s * row + column);
        LINEARMEM_UNROLL
        for (int i = 0; i < 4; ++i) query.o[4 * group + i] = fmaf(weight, v.at[i], query.o[4 * group + i]);
      }
    }
  }

  static LINEARMEM_INLINE void hand_over(const Arguments& a, const Place& at, int thread, const Query& query) {
    const std::int64_t token = at.tokens.begin + at.first_query + thread / kQueryThreads;
    if (token >= at.tokens.end) return;
    LINEARMEM_UNROLL
    for (int c = 0; c < 4 * kGroups; ++c) {
      const std::int64_t column = 4 * (thread % kQueryThreads) + 16 * (c / 4) + c % 4;
      if (column < a.V) a.o.at(at.tokens.row, token, at.h, column) = query.l == 0 ? 0.0f : query.o[c] / query.l;
    }
  }
};

}  // namespace linearmem::cuda
