// NumPy's stream of normal numbers (linearmem/random.hpp), bit for bit, drawn at many places at once.
//
// A 64-bit output of PCG64 can be had anywhere in the stream, but which outputs begin a draw depends on all before: most draws of the
// ziggurat take one output, 1.5 % of them two or more. So a thread reads a chunk of kChunkOutputs from every entry (how far into the chunk
// the draw that crosses its beginning reaches): where it leaves the chunk, and how many numbers it gave. Draws that began apart soon meet,
// so that all entries cost little more than one. The entries of a block's chunks are then chained, and the host chains blocks.
#pragma once

#include "foundation/random_math.hpp"
#include "kernels/block.hpp"

namespace linearmem::cuda {

constexpr int kChunkOutputs = 64;
constexpr int kChunks = 128;    // of a block, a thread for each
constexpr int kEntries = 16;    // a draw that reaches further into a chunk is refused: 1e-14 of the tail's draws would
constexpr int kNoEntry = 255;   // such a draw
constexpr std::int64_t kBlockOutputs = std::int64_t{kChunks} * kChunkOutputs;

__extension__ typedef unsigned __int128 Uint128;

// Where the stream's output number 0 is drawn from, and the ziggurat's tables [256].
struct NormalStream {
  std::uint64_t state_high, state_low, increment_high, increment_low;
  const double *width, *density;
  const std::uint64_t* inside;
  double edge, inverse_edge;
};

// PCG64, from any place on.
class Outputs {
 public:
  LINEARMEM_INLINE Outputs(const NormalStream& stream, std::uint64_t outputs_before)
      : increment_(wide(stream.increment_high, stream.increment_low)), state_(wide(stream.state_high, stream.state_low)) {
    // Brown 1994: steps of 1, 2, 4, ... as maps of the state, composed.
    Uint128 factor = kFactor, term = increment_, all_factor = 1, all_term = 0;
    for (; outputs_before != 0; outputs_before >>= 1) {
      if (outputs_before & 1) {
        all_factor *= factor;
        all_term = all_term * factor + term;
      }
      term = (factor + 1) * term;
      factor *= factor;
    }
    state_ = all_factor * state_ + all_term;
  }

  LINEARMEM_INLINE std::uint64_t next() {
    state_ = state_ * kFactor + increment_;
    const auto high = static_cast<std::uint64_t>(state_ >> 64), word = high ^ static_cast<std::uint64_t>(state_);
    const int turn = static_cast<int>(high >> 58);
    return word >> turn | word << (-turn & 63);
  }
  LINEARMEM_INLINE double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  static constexpr Uint128 kFactor = static_cast<Uint128>(2549297995355413924u) << 64 | 4865540595714422341u;
  static LINEARMEM_INLINE Uint128 wide(std::uint64_t high, std::uint64_t low) { return static_cast<Uint128>(high) << 64 | low; }

  Uint128 increment_, state_;
};

// One turn of the ziggurat: how many outputs it took, and the number it gave, if any.
struct Draw {
  double value;
  int taken;
  bool given;
};

LINEARMEM_INLINE Draw draw_tail(const NormalStream& stream, Outputs& outputs, bool negative) {
  for (int taken = 3;; taken += 2) {
    const double x = -stream.inverse_edge * log_one_minus(outputs.uniform());
    const double y = -log_one_minus(outputs.uniform());
    if (y + y > x * x) return {negative ? -(stream.edge + x) : stream.edge + x, taken, true};
  }
}

LINEARMEM_INLINE Draw draw_normal(const NormalStream& stream, Outputs& outputs) {
  const std::uint64_t word = outputs.next(), place = word >> 9 & 0xfffffffffffff;
  const int layer = static_cast<int>(word & 0xff);
  const double size = static_cast<double>(place) * stream.width[layer], x = word >> 8 & 1 ? -size : size;
  if (place < stream.inside[layer]) return {x, 1, true};
  if (layer == 0) return draw_tail(stream, outputs, (place >> 8 & 1) != 0);
  const double floor = stream.density[layer];
  const double height = (stream.density[layer - 1] - floor) * outputs.uniform() + floor;
  return {x, 2, height < exp_nonpositive(-0.5 * x * x)};
}

// What becomes of a chunk from each entry.
struct ChunkExit {
  std::uint8_t entry;  // into the next chunk, or kNoEntry
  std::uint8_t given;
};

// The chunks of a block: `exits` [kChunks,kEntries] of shared memory.
LINEARMEM_INLINE void read_chunk(const NormalStream& stream, std::int64_t chunk, ChunkExit* exits) {
  const std::uint64_t begin = static_cast<std::uint64_t>(chunk) * kChunkOutputs;
  std::uint64_t begun = 0, gave = 0;  // outputs where a draw from entry 0 begins, and those whose draw gives a number
  int at = 0;
  for (Outputs outputs(stream, begin); at < kChunkOutputs;) {
    const Draw draw = draw_normal(stream, outputs);
    begun |= std::uint64_t{1} << at;
    gave |= static_cast<std::uint64_t>(draw.given) << at;
    at += draw.taken;
  }
  const int last = at - kChunkOutputs;
  for (int entry = 0; entry < kEntries; ++entry) {
    int given = 0;
    at = entry;
    if ((begun >> at & 1) == 0)
      for (Outputs outputs(stream, begin + static_cast<std::uint64_t>(entry)); at < kChunkOutputs && (begun >> at & 1) == 0;) {
        const Draw draw = draw_normal(stream, outputs);
        given += draw.given ? 1 : 0;
        at += draw.taken;
      }
    const bool met = at < kChunkOutputs;
    if (met) given += count_bits(gave >> at);
    const int left = met ? last : at - kChunkOutputs;
    exits[entry] = {static_cast<std::uint8_t>(left < kEntries ? left : kNoEntry), static_cast<std::uint8_t>(given)};
  }
}

constexpr std::int64_t chunk_exits_bytes() { return std::int64_t{kChunks} * kEntries * static_cast<std::int64_t>(sizeof(ChunkExit)); }

// The same of a whole block.
struct BlockExit {
  std::int32_t entry, given;  // entry: into the next block, or kNoEntry
};

struct NormalExitsArguments {
  NormalStream stream;
  BlockExit* exits = nullptr;  // [blocks,kEntries]
  std::int64_t first_block;    // of the stream
};

struct NormalExits {
  using Arguments = NormalExitsArguments;
  static constexpr int kMostThreads = kChunks;
  static constexpr int kLeastBlocks = 1;

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    auto* chunks = static_cast<ChunkExit*>(block.shared());
    const std::int64_t first = (a.first_block + block.index()) * kChunks;
    block.each([&](int thread) { read_chunk(a.stream, first + thread, chunks + thread * kEntries); });
    block.each_apart([&](int thread) {
      if (thread >= kEntries) return;
      BlockExit exit = {thread, 0};
      for (int chunk = 0; chunk < kChunks && exit.entry != kNoEntry; ++chunk) {
        const ChunkExit next = chunks[chunk * kEntries + exit.entry];
        exit = {next.entry, exit.given + next.given};
      }
      a.exits[block.index() * kEntries + thread] = exit;
    });
  }
};

struct BlockStart {
  std::int64_t given;  // numbers of the stream before the block
  std::int64_t entry;
};

struct NormalDrawArguments {
  NormalStream stream;
  const BlockStart* starts = nullptr;  // [blocks]
  double* numbers = nullptr;           // [count], numbers [first, first + count) of the stream
  std::int64_t first_block, first, count;
};

struct NormalDraw {
  using Arguments = NormalDrawArguments;
  static constexpr int kMostThreads = kChunks;
  static constexpr int kLeastBlocks = 1;

  static constexpr std::int64_t shared_bytes() { return chunk_exits_bytes() + kChunks * static_cast<std::int64_t>(sizeof(BlockExit)); }

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    auto* chunks = static_cast<ChunkExit*>(block.shared());
    auto* starts = reinterpret_cast<BlockExit*>(chunks + kChunks * kEntries);  // where each chunk starts, and numbers of the block before it
    const std::int64_t first = (a.first_block + block.index()) * kChunks;
    block.each([&](int thread) { read_chunk(a.stream, first + thread, chunks + thread * kEntries); });
    block.each([&](int thread) {
      if (thread != 0) return;
      BlockExit start = {static_cast<std::int32_t>(a.starts[block.index()].entry), 0};
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        starts[chunk] = start;
        if (start.entry == kNoEntry) continue;  // the host refused it
        const ChunkExit next = chunks[chunk * kEntries + start.entry];
        start = {next.entry, start.given + next.given};
      }
    });
    block.each_apart([&](int thread) {
      hand_over(a, (first + thread) * kChunkOutputs, starts[thread].entry, a.starts[block.index()].given + starts[thread].given - a.first);
    });
  }

 private:
  // The numbers of a chunk that begins at output `begin`; the first of them goes to place `to`.
  static LINEARMEM_INLINE void hand_over(const Arguments& a, std::int64_t begin, int entry, std::int64_t to) {
    if (entry == kNoEntry || to >= a.count) return;
    Outputs outputs(a.stream, static_cast<std::uint64_t>(begin + entry));
    for (int at = entry; at < kChunkOutputs;) {
      const Draw draw = draw_normal(a.stream, outputs);
      at += draw.taken;
      if (!draw.given) continue;
      if (to >= 0 && to < a.count) a.numbers[to] = draw.value;
      ++to;
    }
  }
};

}  // namespace linearmem::cuda
