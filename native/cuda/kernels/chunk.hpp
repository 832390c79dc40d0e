// Prefill in chunks of C = 64 tokens on tensor cores, for every mechanism whose state is a matrix S [K,V] per head with one decay per head:
// linear attention, the delta rule, SSD. With a_t the product of the chunk's decays up to token t, D_ts = a_t / a_s and S the state before
// the chunk, one chunk is
//
//   e   = v - a k S - L e       L_ts = D_ts (k_t . k_s) strength_s, s < t: a triangular system;   without correction e = v
//   o   = scale (a q S + P e)   P_ts = D_ts (q_t . k_s) strength_s, s <= t
//   S   = a_C S + k^T (D_C strength e)
//
// Two kernels. ChunkWeights takes all chunks of all heads at once and leaves in scratch what needs no state: q and k as they are used, P,
// the inverse (I + L)^-1 and the numbers per token. ChunkScan goes from chunk to chunk with some columns of S, which is float32 throughout.
// Whatever is multiplied on tensor cores is rounded to bfloat16 first: q, k, P, the inverse off its diagonal, v - a k S, e, D_C strength e and,
// where it is read, S. Sums are float32.
// Source: Yang, Wang, Zhang, Shen & Kim 2024 (arXiv 2406.06484), with e in place of the written values so that reads need no division.
#pragma once

#include "kernels/matrix_state.hpp"
#include "kernels/tensor_tile.hpp"

namespace linearmem::cuda {

constexpr int kChunk = 64;            // tokens
constexpr int kChunkColumns = 32;     // of S, of a block of ChunkScan
constexpr int kChunkThreads = 128;    // four warps, each with 16 of a chunk's tokens
constexpr int kTensorCapability = 80;  // compute capability times ten from which on tensor cores take bfloat16
// Rows in shared memory are this much longer, so that neighbouring rows lie in other banks.
constexpr int kRowPadding = 8;

// Scratch in the device's memory, for every chunk of every head: [chunks,H, ...].
struct ChunkScratch {
  BFloat *q = nullptr, *k = nullptr;              // [C,keys], zeros past K and past the sequence
  BFloat *weights = nullptr, *inverse = nullptr;  // [C,C]; inverse without its diagonal, which is 1
  float* numbers = nullptr;                       // [3,C], see ChunkNumbers
};

// The numbers per token: the decay from the chunk's beginning, that to its end times the strength, the sum of the token's weights.
enum ChunkNumbers { kCarry, kRest, kWeightSum, kNumbersPerToken };

struct ChunkArguments {
  MatrixStateArguments call;  // its columns, tiles and denominators are not looked at
  ChunkScratch scratch;
  const std::int64_t* first_chunk = nullptr;  // [N], of each sequence
  const std::int64_t* sequence = nullptr;     // [chunks], whose the chunk is
  std::int64_t tiles;                         // blocks of ChunkScan per head
  int keys;                                   // K, padded: 64, 128 or 256
  bool corrects;
  // Linear attention's z, carried beside S where `counts`; o is divided by q z + eps where `divides`.
  bool counts, divides;
  Array<const float, 3> z;               // [N,H,K] or absent
  Array<float, 3> final_z, checkpoints_z;  // [N,H,K], [M,H,K] or absent
};

constexpr std::int64_t chunk_scratch_bytes(std::int64_t keys, bool corrects) {
  return 2 * (2 * kChunk * keys + (corrects ? 2 : 1) * kChunk * kChunk) + 4 * kNumbersPerToken * kChunk;
}

// One chunk of one head: its tokens, and its place in the scratch.
struct ChunkPlace {
  std::int64_t row, begin, n, h;
  int count;  // of tokens, at most C; none past it is looked at
  BFloat *q, *k, *weights, *inverse;
  float* numbers;
};

LINEARMEM_INLINE ChunkPlace chunk_place(const ChunkArguments& a, std::int64_t chunk, std::int64_t n, std::int64_t h) {
  const Tokens tokens = tokens_of(a.call.cu_seqlens, a.call.T, n);
  const std::int64_t begin = tokens.begin + (chunk - a.first_chunk[n]) * kChunk, place = chunk * a.call.H + h;
  const int count = static_cast<int>(least<std::int64_t>(kChunk, tokens.end - begin));
  return {tokens.row,
          begin,
          n,
          h,
          count,
          a.scratch.q + place * kChunk * a.keys,
          a.scratch.k + place * kChunk * a.keys,
          a.scratch.weights + place * kChunk * kChunk,
          a.corrects ? a.scratch.inverse + place * kChunk * kChunk : nullptr,
          a.scratch.numbers + place * kNumbersPerToken * kChunk};
}

LINEARMEM_INLINE bool chunk_hides(const ChunkArguments& a, const ChunkPlace& at, int t) {
  return t >= at.count || (a.call.mask.given() && a.call.mask.at(at.row, at.begin + t) == 0);
}

// The first of the 16 tokens of a thread's warp.
LINEARMEM_INLINE int warp_tokens(int thread) { return thread / 32 * 16; }

}  // namespace linearmem::cuda
