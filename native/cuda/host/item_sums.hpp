// Sampling on a device: waves of items, each drawn from its place in the stream, normalized, weighted in slices and joined to what came
// before. A plan says how large a wave is; everything here but the launches is ordinary arithmetic.
#pragma once

#include <span>
#include <vector>

#include "host/transfer.hpp"
#include "kernels/item_sums.hpp"
#include "kernels/normal_stream.hpp"
#include "linearmem/random.hpp"

namespace linearmem::cuda {

struct ItemSumsSizes {
  std::int64_t K, V, Q, lines, places, items;
};

struct ItemSumsPlan {
  std::int64_t tiles;   // of a wave, whole slices: so no number of waves changes a bit
  std::int64_t slices;  // of a wave, at most
  int threads;          // of a block that sums
};

// The largest wave whose numbers and sums take at most `bytes`, but one slice always goes.
ItemSumsPlan plan_item_sums(const ItemSumsSizes& sizes, std::int64_t bytes);
std::int64_t wave_bytes(const ItemSumsSizes& sizes, std::int64_t tiles);

// Items [first, first + count) of the stream, cut at the places' ends and at every kSliceItems; `items` as in ItemSumsArguments.
std::vector<Slice> slices_of(std::span<const std::int64_t> items, std::int64_t first, std::int64_t count);

// The stream's normal numbers, as the device draws them.
class NormalSource {
 public:
  static constexpr std::int64_t kBlocksAtOnce = 4096;

  // Tables and scratch come from `transfer`.
  NormalSource(Device& device, Transfer& transfer, const Pcg64::Place& place, std::int64_t blocks_at_once = kBlocksAtOnce);

  // Numbers [first, first + count) into `to` on the device; `first` does not fall from call to call.
  Status draw(std::int64_t first, std::int64_t count, double* to);

 private:
  Status read_blocks(std::int64_t blocks);
  Status draw_blocks(std::int64_t begin, std::int64_t end, NormalDrawArguments a);

  Device& device_;
  NormalStream stream_;
  std::int64_t blocks_at_once_;
  BlockExit* exits_;           // [blocks_at_once,kEntries], on the device
  BlockStart* starts_there_;   // [blocks_at_once]
  std::vector<BlockStart> starts_ = {{0, 0}};  // of blocks first_block_, first_block_ + 1, ..., the last one not read yet
  std::int64_t first_block_ = 0;
};

}  // namespace linearmem::cuda
