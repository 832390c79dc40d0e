// Scans whose channels are independent: a thread, or some neighbouring threads, carry a channel's state in registers through the whole
// sequence. Neighbouring channels lie side by side in memory, so that a warp reads whole lines.
#pragma once

#include "kernels/block.hpp"

namespace linearmem::cuda {

// h_t = a_t h_{t-1} + b_t x_t,  y_t = c_t h_t, every channel by itself. A thread is a channel.
struct ChannelScanArguments {
  Array<const float, 3> x, a, b, c;              // [B,T,D]
  Array<const float, 2> state;                   // [N,D] or absent
  Array<const std::int64_t, 1> cu_seqlens;       // [N+1] or absent
  Array<float, 3> y;                             // [B,T,D]
  Array<float, 2> final_state;                   // [N,D] or absent; may be state
  std::int64_t T, D;
  std::int64_t tiles;  // blocks per sequence: D / threads, rounded up
};

struct ChannelScan {
  using Arguments = ChannelScanArguments;
  static constexpr int kMostThreads = 128;
  static constexpr int kLeastBlocks = 1;

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    const std::int64_t n = block.index() / a.tiles, first = block.index() % a.tiles * block.threads();
    const Tokens tokens = tokens_of(a.cu_seqlens, a.T, n);
    block.each_apart([&](int thread) {
      const std::int64_t d = first + thread;
      if (d >= a.D) return;
      float h = a.state.given() ? a.state.at(n, d) : 0.0f;
      for (std::int64_t t = tokens.begin; t < tokens.end; ++t) {
        h = fmaf(a.a.at(tokens.row, t, d), h, a.b.at(tokens.row, t, d) * a.x.at(tokens.row, t, d));
        a.y.at(tokens.row, t, d) = a.c.at(tokens.row, t, d) * h;
      }
      if (a.final_state.given()) a.final_state.at(n, d) = h;
    });
  }
};

// h_t = exp(s_t A) h_{t-1} + s_t B_t u_t,  y_t = (C_t h_t + D u_t) silu(z_t),  s_t = softplus(delta_t + bias).
struct MambaScanKernelArguments {
  Array<const float, 3> u, delta;           // [B,T,D]
  Array<const float, 2> A;                  // [D,N]
  Array<const float, 3> B, C;               // [B,T,N]
  Array<const float, 1> D;                  // [D] or absent
  Array<const float, 3> z;                  // [B,T,D] or absent
  Array<const float, 1> delta_bias;         // [D] or absent
  Array<const float, 3> state;              // [Seq,D,N] or absent
  Array<const std::int64_t, 1> cu_seqlens;  // [Seq+1] or absent
  Array<float, 3> y;                        // [B,T,D]
  Array<float, 3> final_state;              // [Seq,D,N] or absent; may be state
  std::int64_t T, channels, N;
  std::int64_t tiles;  // blocks per sequence: channels / (threads / kParts), rounded up
  bool softplus;
};

// kParts neighbouring threads share a channel, each with kRows of its N numbers, in turns of one.
template <int kParts, int kRows>
struct MambaScan {
  using Arguments = MambaScanKernelArguments;
  static constexpr int kMostThreads = 128;
  static constexpr int kLeastBlocks = 1;
  static constexpr int kPadded = kParts * kRows;

  struct Rows {
    float h[kRows], A[kRows];
  };

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    const std::int64_t n = block.index() / a.tiles, first = block.index() % a.tiles * (block.threads() / kParts);
    const Tokens tokens = tokens_of(a.cu_seqlens, a.T, n);
    typename Block::template Registers<Rows> rows(block);
    typename Block::template Registers<float> output(block);
    block.each_apart([&](int thread) { load(a, n, first + thread / kParts, thread % kParts, rows[thread]); });
    for (std::int64_t t = tokens.begin; t < tokens.end; ++t) {
      block.each_apart([&](int thread) { output[thread] = step(a, tokens.row, t, first + thread / kParts, thread % kParts, rows[thread]); });
      block.sum_across(output, kParts);
      block.each_apart([&](int thread) {
        if (thread % kParts == 0) hand_over(a, tokens.row, t, first + thread / kParts, output[thread]);
      });
    }
    block.each_apart([&](int thread) { store(a, n, first + thread / kParts, thread % kParts, rows[thread]); });
  }

 private:
  static LINEARMEM_INLINE void load(const Arguments& a, std::int64_t n, std::int64_t d, int part, Rows& rows) {
    LINEARMEM_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const std::int64_t at = i * kParts + part;
      const bool inside = d < a.channels && at < a.N;
      rows.h[i] = inside && a.state.given() ? a.state.at(n, d, at) : 0.0f;
      rows.A[i] = inside ? a.A.at(d, at) : 0.0f;
    }
  }

  static LINEARMEM_INLINE float step(const Arguments& a, std::int64_t row, std::int64_t t, std::int64_t d, int part, Rows& rows) {
    if (d >= a.channels) return 0;
    float s = a.delta.at(row, t, d) + (a.delta_bias.given() ? a.delta_bias.at(d) : 0.0f);
    if (a.softplus) s = softplus(s);
    const float write = s * a.u.at(row, t, d);
    float y = 0;
    LINEARMEM_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const std::int64_t at = i * kParts + part;
      if (at >= a.N) break;
      rows.h[i] = fmaf(expf(s * rows.A[i]), rows.h[i], write * a.B.at(row, t, at));
      y = fmaf(a.C.at(row, t, at), rows.h[i], y);
    }
    return y;
  }

  static LINEARMEM_INLINE void hand_over(const Arguments& a, std::int64_t row, std::int64_t t, std::int64_t d, float y) {
    if (d >= a.channels) return;
    if (a.D.given()) y = fmaf(a.D.at(d), a.u.at(row, t, d), y);
    if (a.z.given()) y *= silu(a.z.at(row, t, d));
    a.y.at(row, t, d) = y;
  }

  static LINEARMEM_INLINE void store(const Arguments& a, std::int64_t n, std::int64_t d, int part, const Rows& rows) {
    if (!a.final_state.given() || d >= a.channels) return;
    LINEARMEM_UNROLL
    for (int i = 0; i < kRows; ++i)
      if (const std::int64_t at = i * kParts + part; at < a.N) a.final_state.at(n, d, at) = rows.h[i];
  }
};

}  // namespace linearmem::cuda
