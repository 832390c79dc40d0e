// One kernel for every mechanism whose state is a matrix S [K,V] per head, written row times column: linear attention, the delta rule,
// SSD, with a decay per head or per key component. Per token of one head:
//
//   S'  = decay_t S_{t-1}                                     per row i of S where kByKey
//   u_t = strength_t (v_t - k_t S')  where kCorrects, else strength_t v_t
//   S_t = S' + k_t^T u_t ,  o_t = scale q_t S_t  (/ denominator_t)  (+ skip v_t)
//
// Columns of S are independent: a block takes some columns of one head of one sequence, and kParts neighbouring threads share a column,
// each with kRows of its rows in registers for the whole sequence. In one pass over a thread's rows token t is written, o_t summed, and
// k_{t+1} S_t summed for the next correction. Sums run in the same order wherever a sequence stands or is split.
#pragma once

#include "kernels/block.hpp"

namespace linearmem::cuda {

constexpr int kStagedTokens = 16;  // whose rows stand in shared memory at a time

enum class KeyFeature : int { identity, elu1, relu };

LINEARMEM_INLINE float featured(KeyFeature feature, float x) {
  if (feature == KeyFeature::elu1) return x > 0 ? x + 1.0f : expf(x);
  if (feature == KeyFeature::relu) return x < 0 ? 0.0f : x;
  return x;
}

struct MatrixStateArguments {
  Array<const float, 4> q, k;         // [B,T,H / q_group,K], [B,T,H / k_group,K]
  Array<const float, 4> v;            // [B,T,H / v_group,V]; absent: ones, V of 1
  Array<const float, 3> strength;     // [B,T,H]; absent: 1
  Array<const float, 3> gate;         // [B,T,H], natural log of the decay; absent: none
  Array<const float, 4> gate_by_key;  // [B,T,H,K], only where kByKey
  Array<const float, 1> rate;         // [H], multiplies the gate; absent: 1
  Array<const float, 1> skip;         // [H], times v is added to o; absent: nothing
  Array<const std::uint8_t, 2> mask;  // [B,T], 0: the token neither decays nor writes, whatever it holds; absent: all do
  Array<const std::int64_t, 1> cu_seqlens;       // [N+1] or absent
  Array<const std::int64_t, 1> checkpoint_rows;  // [N], the first of each sequence's rows in checkpoints
  Array<const float, 4> state;        // [N,H,K,V] or absent
  Array<const float, 3> denominators;  // [B,T,H], without eps; absent: o is not divided

  Array<float, 4> o;            // [B,T,H,V]
  Array<float, 4> reads;        // [B,T,H,V] or absent
  Array<float, 4> final_state;  // [N,H,K,V] or absent; may be state
  Array<float, 4> checkpoints;  // [M,H,K,V] or absent

  std::int64_t T, H, K, V, q_group, k_group, v_group;
  std::int64_t checkpoint_every;
  int columns;  // of a block; threads are columns x kParts
  int tiles;    // blocks per head: V / columns, rounded up
  float scale, eps;
  KeyFeature feature;
  bool l2norm;  // divides q and k by sqrt(sum x^2 + 1e-6)
  bool causal;  // false: all tokens are written before the first is read
};

// Floats of shared memory; rows are padded to the rows of the registers.
constexpr std::int64_t matrix_state_shared_floats(std::int64_t padded_rows, bool by_key, std::int64_t columns) {
  return kStagedTokens * ((by_key ? 3 : 2) * padded_rows + columns + 2);
}

template <int kParts, int kRows, bool kCorrects, bool kByKey>
struct MatrixState {
  using Arguments = MatrixStateArguments;
  static constexpr int kPadded = kParts * kRows;
  static constexpr int kMostThreads = 32 * kParts;
  static constexpr int kLeastBlocks = kParts == 4 ? 3 : 1;  // at once on a processor: leaves 168 or 255 registers to a thread
  static_assert(kRows % 4 == 0, "rows come in fours");

  struct Rows {
    float at[kRows];
  };

  // What a block works on, and its shared memory.
  struct Place {
    std::int64_t n, h, first_column;
    Tokens tokens;
    float *q, *k, *decay, *v, *strength;  // [kStagedTokens, kPadded | kPadded | kPadded or 1 | columns | 1]
  };

  // What a pass over the tokens does. Where it does not write, keys and values are staged as zeros and decays as ones.
  struct Pass {
    bool writes, reads;
  };

  // Threads that share a column hold rows in turns of four, so that what they read of a staged row lies side by side.
  static LINEARMEM_INLINE int row_of(int part, int i) { return (i / 4 * kParts + part) * 4 + i % 4; }

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    const Place at = place_of(block, a);
    typename Block::template Registers<Rows> S(block);
    block.each_apart([&](int thread) { load(a, at, thread, S[thread]); });
    const bool at_once = kCorrects || a.causal;
    for (int pass = 0; pass < (at_once ? 1 : 2); ++pass) go_through(block, a, at, S, {pass == 0, at_once || pass == 1});
    block.each_apart([&](int thread) { store(a, at, thread, S[thread], a.final_state, at.n); });
  }

 private:
  template <typename Block>
  static LINEARMEM_DEVICE Place place_of(Block& block, const Arguments& a) {
    Place at;
    const std::int64_t head = block.index() / a.tiles;
    at.n = head / a.H;
    at.h = head % a.H;
    at.first_column = block.index() % a.tiles * a.columns;
    at.tokens = tokens_of(a.cu_seqlens, a.T, at.n);
    at.q = static_cast<float*>(block.shared());
    at.k = at.q + kStagedTokens * kPadded;
    at.decay = at.k + kStagedTokens * kPadded;
    at.v = at.decay + kStagedTokens * (kByKey ? kPadded : 1);
    at.strength = at.v + kStagedTokens * a.columns;
    return at;
  }

  static LINEARMEM_INLINE std::int64_t column_of(const Place& at, int thread) { return at.first_column + thread / kParts; }

  static LINEARMEM_INLINE void load(const Arguments& a, const Place& at, int thread, Rows& S) {
    const std::int64_t column = column_of(at, thread);
    const int part = thread % kParts;
    const bool inside = a.state.given() && column < a.V;
    const float* from = inside ? &a.state.at(at.n, at.h, 0, column) : nullptr;
    LINEARMEM_UNROLL
    for (int i = 0; i < kRows; ++i) S.at[i] = inside && row_of(part, i) < a.K ? from[row_of(part, i) * a.state.strides[2]] : 0.0f;
  }

  static LINEARMEM_INLINE void store(const Arguments& a, const Place& at, int thread, const Rows& S, const Array<float, 4>& to, std::int64_t n) {
    const std::int64_t column = column_of(at, thread);
    const int part = thread % kParts;
    if (!to.given() || column >= a.V) return;
    float* first = &to.at(n, at.h, 0, column);
    LINEARMEM_UNROLL
    for (int i = 0; i < kRows; ++i)
      if (row_of(part, i) < a.K) first[row_of(part, i) * to.strides[2]] = S.at[i];
  }

  template <typename Block>
  static LINEARMEM_DEVICE void go_through(Block& block, const Arguments& a, const Place& at, typename Block::template Registers<Rows>& S, Pass pass) {
    typename Block::template Registers<float> output(block), reading(block);
    for (std::int64_t begin = at.tokens.begin; begin < at.tokens.end; begin += kStagedTokens) {
      const int count = static_cast<int>(least<std::int64_t>(kStagedTokens, at.tokens.end - begin));
      stage(block, a, at, begin, count, pass);
      if (kCorrects) {
        block.each_apart([&](int thread) { reading[thread] = read_ahead(at, thread % kParts, S[thread], 0); });
        block.sum_across(reading, kParts);
      }
      for (int t = 0; t < count; ++t) {
        block.each_apart([&](int thread) { step(a, at, begin, t, count, thread, S[thread], output[thread], reading[thread]); });
        block.sum_across(output, kParts);
        if (kCorrects) block.sum_across(reading, kParts);
        block.each_apart([&](int thread) {
          if (pass.reads) hand_over(a, at, begin + t, t, thread, output[thread]);
          if (pass.writes) keep_checkpoint(a, at, begin + t + 1 - at.tokens.begin, thread, S[thread]);
        });
      }
      block.each([](int) {});  // before the next tokens take these tokens' place
    }
  }

  // Four of the rows of token t that follow row_of(part, 4 group).
  static LINEARMEM_INLINE Four staged(const float* rows, int t, int part, int group) {
    return four_of(rows + t * kPadded + row_of(part, 4 * group));
  }

  // k_t, decayed where each component has its own decay: what S meets when token t is measured before S is decayed.
  static LINEARMEM_INLINE Four key_ahead(const Place& at, int t, int part, int group) {
    Four key = staged(at.k, t, part, group);
    if (!kByKey) return key;
    const Four decay = staged(at.decay, t, part, group);
    LINEARMEM_UNROLL
    for (int i = 0; i < 4; ++i) key.at[i] *= decay.at[i];
    return key;
  }

  // k_t S', a thread's part of it.
  static LINEARMEM_INLINE float read_ahead(const Place& at, int part, const Rows& S, int t) {
    float sum = 0;
    LINEARMEM_UNROLL
    for (int group = 0; group < kRows / 4; ++group) {
      const Four key = key_ahead(at, t, part, group);
      LINEARMEM_UNROLL
      for (int i = 0; i < 4; ++i) sum = fmaf(key.at[i], S.at[4 * group + i], sum);
    }
    return kByKey ? sum : sum * at.decay[t];
  }

  // Token t of the staged ones: in comes k_t S' of the whole column, out go this thread's parts of o_t and k_{t+1} S'.
  static LINEARMEM_INLINE void step(const Arguments& a, const Place& at, std::int64_t begin, int t, int count, int thread, Rows& S, float& output,
                                    float& reading) {
    const int part = thread % kParts, column = thread / kParts, next = t + 1 < count ? t + 1 : t;
    float u = at.v[t * a.columns + column];
    if (kCorrects) {
      if (a.reads.given() && part == 0 && at.first_column + column < a.V)
        a.reads.at(at.tokens.row, begin + t, at.h, at.first_column + column) = reading;
      u = u - reading;
    }
    u *= at.strength[t];
    float o = 0, r = 0;
    LINEARMEM_UNROLL
    for (int group = 0; group < kRows / 4; ++group) {
      float* rows = S.at + 4 * group;
      write(at, t, part, group, u, rows);
      const Four q = staged(at.q, t, part, group);
      LINEARMEM_UNROLL
      for (int i = 0; i < 4; ++i) o = fmaf(q.at[i], rows[i], o);
      if (!kCorrects) continue;
      const Four ahead = key_ahead(at, next, part, group);
      LINEARMEM_UNROLL
      for (int i = 0; i < 4; ++i) r = fmaf(ahead.at[i], rows[i], r);
    }
    output = o;
    reading = kByKey ? r : r * at.decay[next];
  }

  // After `done` tokens of the sequence.
  static LINEARMEM_INLINE void keep_checkpoint(const Arguments& a, const Place& at, std::int64_t done, int thread, const Rows& S) {
    if (!a.checkpoints.given() || done % a.checkpoint_every != 0) return;
    store(a, at, thread, S, a.checkpoints, a.checkpoint_rows.at(at.n) + done / a.checkpoint_every - 1);
  }

  // Four rows of S, decayed and written.
  static LINEARMEM_INLINE void write(const Place& at, int t, int part, int group, float u, float* rows) {
    const Four key = staged(at.k, t, part, group), decay = kByKey ? staged(at.decay, t, part, group) : Four{};
    LINEARMEM_UNROLL
    for (int i = 0; i < 4; ++i) rows[i] = fmaf(key.at[i], u, (kByKey ? decay.at[i] : at.decay[t]) * rows[i]);
  }

  static LINEARMEM_INLINE void hand_over(const Arguments& a, const Place& at, std::int64_t token, int t, int thread, float sum) {
    const std::int64_t column = column_of(at, thread);
    if (thread % kParts != 0 || column >= a.V) return;
    if (a.denominators.given()) {
      const float denominator = a.denominators.at(at.tokens.row, token, at.h) + a.eps;
      sum = denominator == 0 ? 0.0f : sum / denominator;
    }
    if (a.skip.given()) sum += a.skip.at(at.h) * at.v[t * a.columns + thread / kParts];
    a.o.at(at.tokens.row, token, at.h, column) = sum;
  }

  static LINEARMEM_INLINE bool hidden(const Arguments& a, const Place& at, std::int64_t token) {
    return a.mask.given() && a.mask.at(at.tokens.row, token) == 0;
  }

  // Rows and numbers of tokens [begin, begin + count) into shared memory, as the equations use them: zeros past K, and in the keys,
  // values and gates of a hidden token.
  template <typename Block>
  static LINEARMEM_DEVICE void stage(Block& block, const Arguments& a, const Place& at, std::int64_t begin, int count, Pass pass) {
    const std::int64_t row = at.tokens.row;
    block.each([&](int thread) {
      for (int i = thread; i < count * kPadded; i += block.threads()) {
        const int t = i / kPadded, c = i % kPadded;
        const bool writes = pass.writes && c < a.K && !hidden(a, at, begin + t);
        at.q[i] = pass.reads && c < a.K ? featured(a.feature, a.q.at(row, begin + t, at.h / a.q_group, c)) : 0.0f;
        at.k[i] = writes ? featured(a.feature, a.k.at(row, begin + t, at.h / a.k_group, c)) : 0.0f;
        if (kByKey) at.decay[i] = writes ? expf(a.gate_by_key.at(row, begin + t, at.h, c)) : 1.0f;
      }
      for (int i = thread; i < count * a.columns; i += block.threads()) stage_value(a, at, begin, i, pass.writes);
      for (int t = thread; t < count; t += block.threads()) stage_scalars(a, at, begin, t, pass.writes);
    });
    if (a.l2norm) normalize(block, a, at, count);
    if (a.scale != 1.0f)
      block.each([&](int thread) {
        for (int i = thread; i < count * kPadded; i += block.threads()) at.q[i] *= a.scale;
      });
  }

  static LINEARMEM_INLINE void stage_value(const Arguments& a, const Place& at, std::int64_t begin, int i, bool writes) {
    const int t = i / a.columns;
    const std::int64_t column = at.first_column + i % a.columns;
    const bool seen = writes && column < a.V && !hidden(a, at, begin + t);
    at.v[i] = !seen ? 0.0f : a.v.given() ? a.v.at(at.tokens.row, begin + t, at.h / a.v_group, column) : 1.0f;
  }

  static LINEARMEM_INLINE void stage_scalars(const Arguments& a, const Place& at, std::int64_t begin, int t, bool writes) {
    const std::int64_t row = at.tokens.row;
    const bool seen = writes && !hidden(a, at, begin + t);
    at.strength[t] = seen && a.strength.given() ? a.strength.at(row, begin + t, at.h) : 1.0f;
    if (kByKey) return;
    const float rate = a.rate.given() ? a.rate.at(at.h) : 1.0f;
    at.decay[t] = seen && a.gate.given() ? expf(a.gate.at(row, begin + t, at.h) * rate) : 1.0f;
  }

  // Row after row of q, then of k; kParts threads share one.
  template <typename Block>
  static LINEARMEM_DEVICE void normalize(Block& block, const Arguments& a, const Place& at, int count) {
    typename Block::template Registers<float> squares(block);
    for (int first = 0; first < 2 * count; first += a.columns) {
      const auto row_at = [&](int thread) {
        const int r = first + thread / kParts;
        return r < count ? at.q + r * kPadded : r < 2 * count ? at.k + (r - count) * kPadded : nullptr;
      };
      block.each_apart([&](int thread) {
        const float* row = row_at(thread);
        float sum = 0;
        for (int i = 0; row && i < kRows; ++i) {
          const float x = row[row_of(thread % kParts, i)];
          sum = fmaf(x, x, sum);
        }
        squares[thread] = sum;
      });
      block.sum_across(squares, kParts);
      block.each([&](int thread) {
        float* row = row_at(thread);
        const float factor = 1.0f / sqrtf(squares[thread] + 1e-6f);
        for (int i = 0; row && i < kRows; ++i) row[row_of(thread % kParts, i)] *= factor;
      });
    }
  }
};

}  // namespace linearmem::cuda
