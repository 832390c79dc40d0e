// What a chunk needs that no state has a say in (chunk.hpp), for one head; every chunk at the same time. The inverse of the unit lower
// triangle I + L comes block by block of 16: those on the diagonal by forward substitution, T_ij = -T_ii sum_m L_im T_mj below them.
#pragma once

#include "kernels/chunk.hpp"

namespace linearmem::cuda {

constexpr int kTriangle = 16;                // width of a block of the triangle
constexpr int kTriangles = kChunk / kTriangle;
constexpr int kTriangleRow = kChunk + 4;     // of L and its inverse in shared memory

// Bytes of shared memory: q and k, later L, its inverse and the products on the way in their place; then gates, strengths and the factors
// that make rows of q and k unit vectors.
LINEARMEM_BOTH std::int64_t chunk_weights_rows_bytes(std::int64_t keys) {
  const std::int64_t rows = 2 * 2 * kChunk * (keys + kRowPadding);
  const std::int64_t triangles = 4 * (2 * kChunk * kTriangleRow + (kTriangles - 1) * kTriangle * kTriangle);
  return rows > triangles ? rows : triangles;
}
constexpr std::int64_t chunk_weights_shared_bytes(std::int64_t keys) { return chunk_weights_rows_bytes(keys) + 4 * (3 * kChunk + 2 * kChunk); }

struct ChunkWeights {
  using Arguments = ChunkArguments;
  static constexpr int kMostThreads = kChunkThreads;
  static constexpr int kLeastBlocks = 3;
  static constexpr int kLeastCapability = kTensorCapability;
  static constexpr int kTiles = kChunk / 8;  // of a warp's rows of a product [C,C]
  static constexpr float kLeastGate = -128;  // exp of it and of anything below is 0; keeps infinity out of the differences of sums

  struct Shared {
    BFloat *q, *k;                            // [C, keys + kRowPadding]
    float *L, *inverse, *products;            // [C,kTriangleRow] twice, [kTriangles - 1,16,16]
    float *gate, *sum, *strength, *factor;    // [C] three times, [2C]
  };

  struct Products {
    SumTile q[kTiles], k[kTiles];  // q k^T and k k^T
  };
  struct Operands {
    LeftTile q, k;
    RightTile keys[kTiles];
  };

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    const std::int64_t chunk = block.index() / a.call.H;
    const ChunkPlace at = chunk_place(a, chunk, a.sequence[chunk], block.index() % a.call.H);
    const Shared s = shared_of(block, a);
    stage(block, a, at, s);
    typename Block::template Registers<Products> products(block);
    multiply(block, a, s, products);
    block.each([](int) {});  // q and k were read; L takes their place
    weigh(block, at, s, products);
    if (!a.corrects) return;
    block.each([&](int thread) { keep_triangle(s, thread, products[thread]); });
    invert(block, s);
    block.each_apart([&](int thread) { hand_over_inverse<Block>(at, s, thread); });
  }

 private:
  template <typename Block>
  static LINEARMEM_DEVICE Shared shared_of(Block& block, const Arguments& a) {
    Shared s;
    auto* bytes = static_cast<unsigned char*>(block.shared());
    s.q = reinterpret_cast<BFloat*>(bytes);
    s.k = s.q + kChunk * (a.keys + kRowPadding);
    s.L = reinterpret_cast<float*>(bytes);
    s.inverse = s.L + kChunk * kTriangleRow;
    s.products = s.inverse + kChunk * kTriangleRow;
    s.gate = reinterpret_cast<float*>(bytes + chunk_weights_rows_bytes(a.keys));
    s.sum = s.gate + kChunk;
    s.strength = s.sum + kChunk;
    s.factor = s.strength + kChunk;
    return s;
  }

  static LINEARMEM_INLINE float raw(const Arguments& a, const ChunkPlace& at, bool key, int t, std::int64_t c) {
    const MatrixStateArguments& call = a.call;
    return key ? call.k.at(at.row, at.begin + t, at.h / call.k_group, c) : call.q.at(at.row, at.begin + t, at.h / call.q_group, c);
  }

  template <typename Block>
  static LINEARMEM_DEVICE void stage(Block& block, const Arguments& a, const ChunkPlace& at, const Shared& s) {
    block.each([&](int thread) {
      if (thread < kChunk) stage_scalars(a, at, s, thread);
      s.factor[thread] = a.call.l2norm ? factor_of(a, at, thread) : 1.0f;
    });
    block.each([&](int thread) {
      if (thread < kChunk) add_gates(s, thread);
      for (int i = thread; i < kChunk * a.keys / 2; i += kChunkThreads) {
        const int t = i / (a.keys / 2), c = i % (a.keys / 2) * 2;
        const bool seen = t < at.count, writes = !chunk_hides(a, at, t);
        stage_pair<Block>(a, at, {false, seen, s.factor[t]}, t, c, s.q, at.q);
        stage_pair<Block>(a, at, {true, writes, s.factor[kChunk + t]}, t, c, s.k, at.k);
      }
    });
    block.each_apart([&](int thread) {
      if (thread >= kChunk) return;
      const float sum = s.sum[thread], end = s.sum[kChunk - 1];
      at.numbers[kCarry * kChunk + thread] = expf(sum);
      at.numbers[kRest * kChunk + thread] = expf(end - sum) * s.strength[thread];
    });
  }

  static LINEARMEM_INLINE void stage_scalars(const Arguments& a, const ChunkPlace& at, const Shared& s, int t) {
    const bool writes = !chunk_hides(a, at, t);
    const std::int64_t token = at.begin + t;
    const float rate = a.call.rate.given() ? a.call.rate.at(at.h) : 1.0f;
    const float gate = writes && a.call.gate.given() ? a.call.gate.at(at.row, token, at.h) * rate : 0.0f;
    s.gate[t] = gate < kLeastGate ? kLeastGate : gate;
    s.strength[t] = writes && a.call.strength.given() ? a.call.strength.at(at.row, token, at.h) : 1.0f;
  }

  // 1 / |x| of row t of q, or of k in the second half.
  static LINEARMEM_INLINE float factor_of(const Arguments& a, const ChunkPlace& at, int thread) {
    const int t = thread % kChunk;
    if (t >= at.count) return 1.0f;
    float squares = 0;
    for (std::int64_t c = 0; c < a.call.K; ++c) {
      const float x = raw(a, at, thread >= kChunk, t, c);
      squares = fmaf(x, x, squares);
    }
    return 1.0f / sqrtf(squares + 1e-6f);
  }

  // Every token adds for itself, in the tokens' order.
  static LINEARMEM_INLINE void add_gates(const Shared& s, int t) {
    float sum = 0;
    for (int i = 0; i <= t; ++i) sum += s.gate[i];
    s.sum[t] = sum;
  }

  struct Row {
    bool key, seen;
    float factor;
  };

  template <typename Block>
  static LINEARMEM_INLINE void stage_pair(const Arguments& a, const ChunkPlace& at, const Row& row, int t, int c, BFloat* shared, BFloat* scratch) {
    float x[2];
    LINEARMEM_UNROLL
    for (int i = 0; i < 2; ++i)
      x[i] = row.seen && c + i < a.call.K ? featured(a.call.feature, raw(a, at, row.key, t, c + i)) * row.factor : 0.0f;
    const std::uint32_t pair = Block::pair(x[0], x[1]);
    put_pair(shared + t * (a.keys + kRowPadding) + c, pair);
    put_pair(scratch + t * a.keys + c, pair);
  }

  template <typename Block>
  static LINEARMEM_DEVICE void multiply(Block& block, const Arguments& a, const Shared& s, typename Block::template Registers<Products>& products) {
    typename Block::template Registers<Operands> operands(block);
    const int stride = a.keys + kRowPadding;
    block.each_apart([&](int thread) { products[thread] = Products{}; });
    for (int c = 0; c < a.keys; c += 16) {
      block.each_apart([&](int thread) {
        Operands& to = operands[thread];
        to.q = left_tile(s.q + warp_tokens(thread) * stride + c, stride, thread);
        to.k = left_tile(s.k + warp_tokens(thread) * stride + c, stride, thread);
        LINEARMEM_UNROLL
        for (int j = 0; j < kTiles; ++j) to.keys[j] = right_tile(s.k + 8 * j * stride + c, stride, thread);
      });
      LINEARMEM_UNROLL
      for (int j = 0; j < kTiles; ++j) {
        block.multiply([&](int thread) { return Product{products[thread].q[j].at, operands[thread].q.at, operands[thread].keys[j].at}; });
        if (a.corrects)
          block.multiply([&](int thread) { return Product{products[thread].k[j].at, operands[thread].k.at, operands[thread].keys[j].at}; });
      }
    }
  }

  // Products become weights: decays and strengths come in, what lies above the diagonal goes. P goes to the scratch, with the sums of its
  // rows, which four neighbours share; L stays in the registers.
  template <typename Block>
  static LINEARMEM_DEVICE void weigh(Block& block, const ChunkPlace& at, const Shared& s,
                                     typename Block::template Registers<Products>& products) {
    typename Block::template Registers<float> upper(block), lower(block);
    block.each_apart([&](int thread) {
      Products& p = products[thread];
      upper[thread] = lower[thread] = 0;
      LINEARMEM_UNROLL
      for (int j = 0; j < kTiles; ++j) {
        LINEARMEM_UNROLL
        for (int i = 0; i < 4; i += 2) {
          const int t = warp_tokens(thread) + sum_row(thread, i), c = 8 * j + sum_column(thread, i);
          LINEARMEM_UNROLL
          for (int half = 0; half < 2; ++half) {
            const int column = c + half;
            const float factor = column <= t ? expf(s.sum[t] - s.sum[column]) * s.strength[column] : 0.0f;
            p.q[j].at[i + half] = column <= t ? p.q[j].at[i + half] * factor : 0.0f;
            p.k[j].at[i + half] = column < t ? p.k[j].at[i + half] * factor : 0.0f;
          }
          const std::uint32_t pair = Block::pair(p.q[j].at[i], p.q[j].at[i + 1]);
          put_pair(at.weights + t * kChunk + c, pair);
          float& sum = i == 0 ? upper[thread] : lower[thread];
          sum += widened(pair & 0xffffu) + widened(pair >> 16);
        }
      }
    });
    block.sum_across(upper, 4);
    block.sum_across(lower, 4);
    block.each_apart([&](int thread) {
      if (thread % 4 != 0) return;
      float* sums = at.numbers + kWeightSum * kChunk + warp_tokens(thread);
      sums[sum_row(thread, 0)] = upper[thread];
      sums[sum_row(thread, 2)] = lower[thread];
    });
  }

  static LINEARMEM_INLINE void keep_triangle(const Shared& s, int thread, const Products& p) {
    LINEARMEM_UNROLL
    for (int j = 0; j < kTiles; ++j) {
      LINEARMEM_UNROLL
      for (int i = 0; i < 4; ++i)
        s.L[(warp_tokens(thread) + sum_row(thread, i)) * kTriangleRow + 8 * j + sum_column(thread, i)] = p.k[j].at[i];
    }
  }

  template <typename Block>
  static LINEARMEM_DEVICE void invert(Block& block, const Shared& s) {
    block.each([&](int thread) {
      if (thread < kChunk) substitute(s, thread / kTriangle * kTriangle, thread % kTriangle);
    });
    for (int distance = 1; distance < kTriangles; ++distance) {
      const int count = (kTriangles - distance) * kTriangle * kTriangle;
      block.each([&](int thread) {
        for (int i = thread; i < count; i += kChunkThreads) s.products[i] = below_diagonal(s, distance, i);
      });
      block.each([&](int thread) {
        for (int i = thread; i < count; i += kChunkThreads) finish_block(s, distance, i);
      });
    }
  }

  // Column c of the inverse of the triangle that begins at token `first`.
  static LINEARMEM_INLINE void substitute(const Shared& s, int first, int c) {
    float x[kTriangle];
    LINEARMEM_UNROLL
    for (int i = 0; i < kTriangle; ++i) {
      const float* row = s.L + (first + i) * kTriangleRow + first;
      float sum = 0;
      LINEARMEM_UNROLL
      for (int m = 0; m < i; ++m) sum = fmaf(row[m], x[m], sum);
      x[i] = i < c ? 0.0f : i == c ? 1.0f : -sum;
      s.inverse[(first + i) * kTriangleRow + first + c] = x[i];
    }
  }

  // Number `i` of the blocks `distance` below the diagonal: which block column, and where in the block.
  struct Entry {
    int j, row, column;
  };
  static LINEARMEM_INLINE Entry entry_of(int i) {
    return {i / (kTriangle * kTriangle), i / kTriangle % kTriangle, i % kTriangle};
  }

  static LINEARMEM_INLINE float below_diagonal(const Shared& s, int distance, int i) {
    const Entry e = entry_of(i);
    const float* row = s.L + ((e.j + distance) * kTriangle + e.row) * kTriangleRow;
    float sum = 0;
    for (int m = e.j * kTriangle; m < (e.j + distance) * kTriangle; ++m)
      sum = fmaf(row[m], s.inverse[m * kTriangleRow + e.j * kTriangle + e.column], sum);
    return sum;
  }

  static LINEARMEM_INLINE void finish_block(const Shared& s, int distance, int i) {
    const Entry e = entry_of(i);
    const int first = (e.j + distance) * kTriangle;
    const float* row = s.inverse + (first + e.row) * kTriangleRow + first;
    float sum = 0;
    for (int m = 0; m < kTriangle; ++m) sum = fmaf(row[m], s.products[i - e.row * kTriangle - e.column + m * kTriangle + e.column], sum);
    s.inverse[(first + e.row) * kTriangleRow + e.j * kTriangle + e.column] = -sum;
  }

  template <typename Block>
  static LINEARMEM_INLINE void hand_over_inverse(const ChunkPlace& at, const Shared& s, int thread) {
    for (int i = thread; i < kChunk * kChunk / 2; i += kChunkThreads) {
      const int t = i / (kChunk / 2), c = i % (kChunk / 2) * 2;
      const float* row = s.inverse + t * kTriangleRow + c;
      put_pair(at.inverse + t * kChunk + c, Block::pair(c < t ? row[0] : 0.0f, c + 1 < t ? row[1] : 0.0f));
    }
  }
};

}  // namespace linearmem::cuda
