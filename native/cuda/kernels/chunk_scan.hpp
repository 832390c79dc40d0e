// From chunk to chunk with kChunkColumns columns of S of one head (chunk.hpp), after ChunkWeights. S lies in the registers as float32 sums of
// tiles: a warp holds a quarter of its rows. Tokens are divided likewise: a warp computes e and o of 16 of the chunk's tokens.
#pragma once

#include "kernels/chunk.hpp"

namespace linearmem::cuda {

constexpr int kTokensRow = kChunk + kRowPadding;  // of e and its like in shared memory, which stand column by column

// Bytes: keys and S in bfloat16; the residual, e and what is written; numbers per token and denominators; z.
constexpr std::int64_t chunk_scan_shared_bytes(std::int64_t keys) {
  return 2 * ((kChunk + kChunkColumns) * (keys + kRowPadding) + 3 * kChunkColumns * kTokensRow) + 4 * ((kNumbersPerToken + 1) * kChunk + keys);
}

template <int kKeys, bool kCorrects>
struct ChunkScan {
  using Arguments = ChunkArguments;
  static constexpr int kMostThreads = kChunkThreads;
  static constexpr int kLeastBlocks = kKeys == 256 ? 2 : 3;
  static constexpr int kLeastCapability = kTensorCapability;
  static constexpr int kRow = kKeys + kRowPadding;
  static constexpr int kWarpKeys = kKeys / (kChunkThreads / 32);  // rows of S that a warp holds
  static constexpr int kKeyTiles = kWarpKeys / 16;
  static constexpr int kTiles = kChunkColumns / 8;

  struct State {
    SumTile at[kKeyTiles][kTiles];
  };
  // Of a warp's tokens: e, before that the residual; o.
  struct Rows {
    SumTile e[kTiles], o[kTiles];
  };
  struct Operands {
    LeftTile q, k;
    RightTile right[kTiles];
  };
  struct KeyOperands {
    LeftTile k[kKeyTiles];
    RightTile right[kTiles];
  };

  struct Place {
    std::int64_t n, h, first_column;
    Tokens tokens;
    BFloat *k, *S;                         // [C,kRow], [columns,kRow]
    BFloat *residual, *e, *written;        // [columns,kTokensRow] each
    float *numbers, *denominators, *z;     // [3,C], [C], [keys]
  };

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    const Place at = place_of(block, a);
    typename Block::template Registers<State> S(block);
    block.each([&](int thread) {
      load_state(a, at, thread, S[thread]);
      for (int i = thread; i < kKeys; i += kChunkThreads) at.z[i] = a.z.given() && i < a.call.K ? a.z.at(at.n, at.h, i) : 0.0f;
    });
    const std::int64_t length = at.tokens.end - at.tokens.begin;
    for (std::int64_t done = 0; done < length; done += kChunk) {
      take_chunk(block, a, at, chunk_place(a, a.first_chunk[at.n] + done / kChunk, at.n, at.h), S);
      keep_checkpoint(block, a, at, done + kChunk, S);
    }
    block.each_apart([&](int thread) {
      store_state(a, at, thread, S[thread], a.call.final_state, at.n);
      store_z(a, at, thread, a.final_z, at.n);
    });
  }

 private:
  template <typename Block>
  static LINEARMEM_DEVICE Place place_of(Block& block, const Arguments& a) {
    Place at;
    const std::int64_t head = block.index() / a.tiles;
    at.n = head / a.call.H;
    at.h = head % a.call.H;
    at.first_column = block.index() % a.tiles * kChunkColumns;
    at.tokens = tokens_of(a.call.cu_seqlens, a.call.T, at.n);
    at.k = static_cast<BFloat*>(block.shared());
    at.S = at.k + kChunk * kRow;
    at.residual = at.S + kChunkColumns * kRow;
    at.e = at.residual + kChunkColumns * kTokensRow;
    at.written = at.e + kChunkColumns * kTokensRow;
    at.numbers = reinterpret_cast<float*>(at.written + kChunkColumns * kTokensRow);
    at.denominators = at.numbers + kNumbersPerToken * kChunk;
    at.z = at.denominators + kChunk;
    return at;
  }

  static LINEARMEM_INLINE int key_of(int thread, int tile, int i) { return thread / 32 * kWarpKeys + 16 * tile + sum_row(thread, i); }
  static LINEARMEM_INLINE int column_of(int thread, int tile, int i) { return 8 * tile + sum_column(thread, i); }
  static LINEARMEM_INLINE int token_of(int thread, int i) { return warp_tokens(thread) + sum_row(thread, i); }

  static LINEARMEM_INLINE void load_state(const Arguments& a, const Place& at, int thread, State& S) {
    LINEARMEM_UNROLL
    for (int m = 0; m < kKeyTiles; ++m) {
      LINEARMEM_UNROLL
      for (int j = 0; j < kTiles; ++j) {
        LINEARMEM_UNROLL
        for (int i = 0; i < 4; ++i) {
          const std::int64_t key = key_of(thread, m, i), column = at.first_column + column_of(thread, j, i);
          const bool inside = a.call.state.given() && key < a.call.K && column < a.call.V;
          S.at[m][j].at[i] = inside ? a.call.state.at(at.n, at.h, key, column) : 0.0f;
        }
      }
    }
  }

  static LINEARMEM_INLINE void store_state(const Arguments& a, const Place& at, int thread, const State& S, const Array<float, 4>& to, std::int64_t n) {
    if (!to.given()) return;
    LINEARMEM_UNROLL
    for (int m = 0; m < kKeyTiles; ++m) {
      LINEARMEM_UNROLL
      for (int j = 0; j < kTiles; ++j) {
        LINEARMEM_UNROLL
        for (int i = 0; i < 4; ++i) {
          const std::int64_t key = key_of(thread, m, i), column = at.first_column + column_of(thread, j, i);
          if (key < a.call.K && column < a.call.V) to.at(n, at.h, key, column) = S.at[m][j].at[i];
        }
      }
    }
  }

  static LINEARMEM_INLINE void store_z(const Arguments& a, const Place& at, int thread, const Array<float, 3>& to, std::int64_t n) {
    if (!to.given() || at.first_column != 0) return;
    for (int i = thread; i < a.call.K; i += kChunkThreads) to.at(n, at.h, i) = at.z[i];
  }

  // After `done` tokens of the sequence, where that many are not more than it has.
  template <typename Block>
  static LINEARMEM_DEVICE void keep_checkpoint(Block& block, const Arguments& a, const Place& at, std::int64_t done,
                                               typename Block::template Registers<State>& S) {
    const std::int64_t every = a.call.checkpoint_every;
    if (every == 0 || done % every != 0 || done > at.tokens.end - at.tokens.begin) return;
    const std::int64_t row = a.call.checkpoint_rows.at(at.n) + done / every - 1;
    block.each_apart([&](int thread) {
      store_state(a, at, thread, S[thread], a.call.checkpoints, row);
      store_z(a, at, thread, a.checkpoints_z, row);
    });
  }

  template <typename Block>
  static LINEARMEM_DEVICE void take_chunk(Block& block, const Arguments& a, const Place& at, const ChunkPlace& chunk,
                                          typename Block::template Registers<State>& S) {
    typename Block::template Registers<Rows> rows(block);
    block.each([&](int thread) { stage<Block>(at, chunk, thread, S[thread]); });
    read_state(block, at, chunk, rows);
    typename Block::template Registers<float> counted(block);
    if (a.counts) block.each_apart([&](int thread) { counted[thread] = count(at, chunk, thread); });
    if (a.counts) block.sum_across(counted, 2);
    if (kCorrects) solve(block, a, at, chunk, rows);
    block.each([&](int thread) {
      if (!kCorrects) take_values(a, at, chunk, thread, rows[thread]);
      put_errors<Block>(at, thread, rows[thread]);
      if (a.counts && thread % 2 == 0)
        at.denominators[thread / 2] =
            fmaf(at.numbers[kCarry * kChunk + thread / 2], counted[thread], at.numbers[kWeightSum * kChunk + thread / 2]) + a.call.eps;
    });
    write(block, at, chunk, rows, S);
    block.each([&](int thread) {  // and wait: the next chunk takes this one's place
      hand_over(a, at, chunk, thread, rows[thread]);
      if (a.counts) count_keys(at, thread);
    });
  }

  // Keys and numbers out of the scratch, S as it is read: rounded, column by column.
  template <typename Block>
  static LINEARMEM_INLINE void stage(const Place& at, const ChunkPlace& chunk, int thread, const State& S) {
    for (int i = thread; i < kChunk * kKeys / 8; i += kChunkThreads) {
      const int t = i / (kKeys / 8), c = i % (kKeys / 8) * 8;
      copy_eight(chunk.k + t * kKeys + c, at.k + t * kRow + c);
    }
    for (int i = thread; i < kNumbersPerToken * kChunk; i += kChunkThreads) at.numbers[i] = chunk.numbers[i];
    LINEARMEM_UNROLL
    for (int m = 0; m < kKeyTiles; ++m) {
      LINEARMEM_UNROLL
      for (int j = 0; j < kTiles; ++j) put_tile<Block>(at.S, kRow, key_of(thread, m, 0), column_of(thread, j, 0), S.at[m][j]);
    }
  }

  // A thread's part of a tile, rounded, into memory where columns are `stride` apart.
  template <typename Block>
  static LINEARMEM_INLINE void put_tile(BFloat* to, int stride, int row, int column, const SumTile& tile) {
    LINEARMEM_UNROLL
    for (int i = 0; i < 4; i += 2) {
      const std::uint32_t pair = Block::pair(tile.at[i], tile.at[i + 1]);
      BFloat* place = to + column * stride + row + i / 2 * 8;
      place[0] = static_cast<BFloat>(pair);
      place[stride] = static_cast<BFloat>(pair >> 16);
    }
  }

  // k S and q S of the chunk's tokens, S from before it.
  template <typename Block>
  static LINEARMEM_DEVICE void read_state(Block& block, const Place& at, const ChunkPlace& chunk, typename Block::template Registers<Rows>& rows) {
    typename Block::template Registers<Operands> operands(block);
    block.each_apart([&](int thread) { rows[thread] = Rows{}; });
    LINEARMEM_ROLLED
    for (int c = 0; c < kKeys; c += 16) {
      block.each_apart([&](int thread) {
        Operands& to = operands[thread];
        to.q = left_tile(chunk.q + warp_tokens(thread) * kKeys + c, kKeys, thread);
        if (kCorrects) to.k = left_tile(at.k + warp_tokens(thread) * kRow + c, kRow, thread);
        LINEARMEM_UNROLL
        for (int j = 0; j < kTiles; ++j) to.right[j] = right_tile(at.S + 8 * j * kRow + c, kRow, thread);
      });
      LINEARMEM_UNROLL
      for (int j = 0; j < kTiles; ++j) {
        block.multiply([&](int thread) { return Product{rows[thread].o[j].at, operands[thread].q.at, operands[thread].right[j].at}; });
        if (kCorrects)
          block.multiply([&](int thread) { return Product{rows[thread].e[j].at, operands[thread].k.at, operands[thread].right[j].at}; });
      }
    }
    block.each_apart([&](int thread) {
      LINEARMEM_UNROLL
      for (int j = 0; j < kTiles; ++j) {
        LINEARMEM_UNROLL
        for (int i = 0; i < 4; ++i) {
          const float carry = at.numbers[kCarry * kChunk + token_of(thread, i)];
          rows[thread].o[j].at[i] *= carry;
          if (kCorrects) rows[thread].e[j].at[i] *= carry;
        }
      }
    });
  }

  static LINEARMEM_INLINE float value(const Arguments& a, const ChunkPlace& chunk, int t, std::int64_t column) {
    if (column >= a.call.V || chunk_hides(a, chunk, t)) return 0.0f;
    return a.call.v.at(chunk.row, chunk.begin + t, chunk.h / a.call.v_group, column);
  }

  static LINEARMEM_INLINE void take_values(const Arguments& a, const Place& at, const ChunkPlace& chunk, int thread, Rows& rows) {
    LINEARMEM_UNROLL
    for (int j = 0; j < kTiles; ++j) {
      LINEARMEM_UNROLL
      for (int i = 0; i < 4; ++i) {
        const float v = value(a, chunk, token_of(thread, i), at.first_column + column_of(thread, j, i));
        rows.e[j].at[i] = kCorrects ? v - rows.e[j].at[i] : v;
      }
    }
  }

  // e = (I + L)^-1 (v - a k S): the residual itself and, on tensor cores, what the inverse has below its diagonal. Hands over reads, v - e.
  template <typename Block>
  static LINEARMEM_DEVICE void solve(Block& block, const Arguments& a, const Place& at, const ChunkPlace& chunk,
                                     typename Block::template Registers<Rows>& rows) {
    block.each([&](int thread) {
      take_values(a, at, chunk, thread, rows[thread]);
      LINEARMEM_UNROLL
      for (int j = 0; j < kTiles; ++j)
        put_tile<Block>(at.residual, kTokensRow, token_of(thread, 0), column_of(thread, j, 0), rows[thread].e[j]);
    });
    multiply_tokens(block, chunk.inverse, at.residual, rows, [](Rows& r, int j) { return r.e[j].at; });
    if (!a.call.reads.given()) return;
    block.each_apart([&](int thread) {
      LINEARMEM_UNROLL
      for (int j = 0; j < kTiles; ++j) {
        LINEARMEM_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int t = token_of(thread, i);
          const std::int64_t column = at.first_column + column_of(thread, j, i);
          if (t < chunk.count && column < a.call.V)
            a.call.reads.at(chunk.row, chunk.begin + t, chunk.h, column) = value(a, chunk, t, column) - rows[thread].e[j].at[i];
        }
      }
    });
  }

  // sums += matrix [C,C] right, of a warp's tokens; right stands column by column.
  template <typename Block, typename Sums>
  static LINEARMEM_DEVICE void multiply_tokens(Block& block, const BFloat* matrix, const BFloat* right, typename Block::template Registers<Rows>& rows,
                                               Sums sums) {
    typename Block::template Registers<Operands> operands(block);
    LINEARMEM_UNROLL_TWICE
    for (int s = 0; s < kChunk; s += 16) {
      block.each_apart([&](int thread) {
        operands[thread].q = left_tile(matrix + warp_tokens(thread) * kChunk + s, kChunk, thread);
        LINEARMEM_UNROLL
        for (int j = 0; j < kTiles; ++j) operands[thread].right[j] = right_tile(right + 8 * j * kTokensRow + s, kTokensRow, thread);
      });
      LINEARMEM_UNROLL
      for (int j = 0; j < kTiles; ++j)
        block.multiply([&](int thread) { return Product{sums(rows[thread], j), operands[thread].q.at, operands[thread].right[j].at}; });
    }
  }

  // e, and e times strength and the decay to the chunk's end.
  template <typename Block>
  static LINEARMEM_INLINE void put_errors(const Place& at, int thread, const Rows& rows) {
    LINEARMEM_UNROLL
    for (int j = 0; j < kTiles; ++j) {
      SumTile written;
      LINEARMEM_UNROLL
      for (int i = 0; i < 4; ++i) written.at[i] = at.numbers[kRest * kChunk + token_of(thread, i)] * rows.e[j].at[i];
      put_tile<Block>(at.e, kTokensRow, token_of(thread, 0), column_of(thread, j, 0), rows.e[j]);
      put_tile<Block>(at.written, kTokensRow, token_of(thread, 0), column_of(thread, j, 0), written);
    }
  }

  // o += P e and S = a_C S + k^T (...).
  template <typename Block>
  static LINEARMEM_DEVICE void write(Block& block, const Place& at, const ChunkPlace& chunk, typename Block::template Registers<Rows>& rows,
                                     typename Block::template Registers<State>& S) {
    multiply_tokens(block, chunk.weights, at.e, rows, [](Rows& r, int j) { return r.o[j].at; });
    block.each_apart([&](int thread) {
      const float decay = at.numbers[kCarry * kChunk + kChunk - 1];
      LINEARMEM_UNROLL
      for (int m = 0; m < kKeyTiles; ++m) {
        LINEARMEM_UNROLL
        for (int j = 0; j < kTiles; ++j) {
          LINEARMEM_UNROLL
          for (int i = 0; i < 4; ++i) S[thread].at[m][j].at[i] *= decay;
        }
      }
    });
    typename Block::template Registers<KeyOperands> operands(block);
    LINEARMEM_UNROLL_TWICE
    for (int s = 0; s < kChunk; s += 16) {
      block.each_apart([&](int thread) {
        KeyOperands& to = operands[thread];
        LINEARMEM_UNROLL
        for (int m = 0; m < kKeyTiles; ++m) to.k[m] = turned_left_tile(at.k + s * kRow + thread / 32 * kWarpKeys + 16 * m, kRow, thread);
        LINEARMEM_UNROLL
        for (int j = 0; j < kTiles; ++j) to.right[j] = right_tile(at.written + 8 * j * kTokensRow + s, kTokensRow, thread);
      });
      LINEARMEM_UNROLL
      for (int m = 0; m < kKeyTiles; ++m) {
        LINEARMEM_UNROLL
        for (int j = 0; j < kTiles; ++j)
          block.multiply([&](int thread) { return Product{S[thread].at[m][j].at, operands[thread].k[m].at, operands[thread].right[j].at}; });
      }
    }
  }

  // Half of q_t z; two neighbours share a token.
  static LINEARMEM_INLINE float count(const Place& at, const ChunkPlace& chunk, int thread) {
    const BFloat* q = chunk.q + thread / 2 * kKeys;
    float sum = 0;
    for (int i = thread % 2; i < kKeys; i += 2) sum = fmaf(widened(q[i]), at.z[i], sum);
    return sum;
  }

  static LINEARMEM_INLINE void count_keys(const Place& at, int thread) {
    for (int i = thread; i < kKeys; i += kChunkThreads) {
      float z = at.numbers[kCarry * kChunk + kChunk - 1] * at.z[i];
      for (int t = 0; t < kChunk; ++t) z = fmaf(at.numbers[kRest * kChunk + t], widened(at.k[t * kRow + i]), z);
      at.z[i] = z;
    }
  }

  static LINEARMEM_INLINE void hand_over(const Arguments& a, const Place& at, const ChunkPlace& chunk, int thread, const Rows& rows) {
    LINEARMEM_UNROLL
    for (int j = 0; j < kTiles; ++j) {
      LINEARMEM_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int t = token_of(thread, i);
        const std::int64_t column = at.first_column + column_of(thread, j, i);
        if (t >= chunk.count || column >= a.call.V) continue;
        float o = rows.o[j].at[i] * a.call.scale;
        if (a.divides) o = at.denominators[t] == 0 ? 0.0f : o / at.denominators[t];
        if (a.call.skip.given()) o += a.call.skip.at(chunk.h) * value(a, chunk, t, column);
        a.call.o.at(chunk.row, chunk.begin + t, chunk.h, column) = o;
      }
    }
  }
};

}  // namespace linearmem::cuda
