#include <algorithm>

#include "foundation/random_ziggurat.hpp"
#include "host/item_sums.hpp"
#include "kernels/kernels.hpp"

namespace linearmem::cuda {

NormalSource::NormalSource(Device& device, Transfer& transfer, const Pcg64::Place& place, std::int64_t blocks_at_once)
    : device_(device), stream_{place.state_high, place.state_low, place.increment_high, place.increment_low, nullptr, nullptr, nullptr,
                               ziggurat_edge, ziggurat_inverse_edge},
      blocks_at_once_(blocks_at_once), exits_(transfer.room<BlockExit>(blocks_at_once * kEntries)),
      starts_there_(transfer.room<BlockStart>(blocks_at_once)) {
  stream_.width = transfer.up(View<const double, 1>(ziggurat_width, {256})).data();
  stream_.density = transfer.up(View<const double, 1>(ziggurat_density, {256})).data();
  stream_.inside = transfer.up(View<const std::uint64_t, 1>(ziggurat_inside, {256})).data();
}

// Where the next blocks start, by what each gives from the entry that the one before leaves it.
Status NormalSource::read_blocks(std::int64_t blocks) {
  const NormalExitsArguments a{stream_, exits_, first_block_ + static_cast<std::int64_t>(starts_.size()) - 1};
  std::vector<BlockExit> exits(static_cast<std::size_t>(blocks * kEntries));
  Status status = device_.launch({kernel_number<NormalExits>(), blocks, kChunks, chunk_exits_bytes(), &a});
  if (status.ok()) status = device_.finish();
  if (status.ok()) status = device_.download(exits_, exits.data(), static_cast<std::int64_t>(exits.size() * sizeof(BlockExit)));
  for (std::int64_t block = 0; status.ok() && block < blocks; ++block) {
    const BlockStart start = starts_.back();
    const BlockExit exit = exits[static_cast<std::size_t>(block * kEntries + start.entry)];
    if (exit.entry == kNoEntry)
      status = Status::unavailable("interference_sampler: backend cuda follows a draw of the random stream over " + std::to_string(kEntries) +
                                   " outputs at most past a chunk, and one goes further: sample this seed on the processor");
    starts_.push_back({start.given + exit.given, exit.entry});
  }
  return status;
}

// Blocks [begin, end) of starts_.
Status NormalSource::draw_blocks(std::int64_t begin, std::int64_t end, NormalDrawArguments a) {
  for (; begin < end; begin += blocks_at_once_) {
    const std::int64_t blocks = std::min(blocks_at_once_, end - begin);
    a.first_block = first_block_ + begin;
    Status status = device_.finish();  // the starts before are in use until then
    if (status.ok())
      status = device_.upload(starts_.data() + begin, starts_there_, blocks * static_cast<std::int64_t>(sizeof(BlockStart)));
    if (status.ok()) status = device_.launch({kernel_number<NormalDraw>(), blocks, kChunks, NormalDraw::shared_bytes(), &a});
    if (!status.ok()) return status;
  }
  return {};
}

Status NormalSource::draw(std::int64_t first, std::int64_t count, double* to) {
  while (starts_.back().given < first + count) {
    const double more = static_cast<double>(first + count - starts_.back().given) * 1.02 / static_cast<double>(kBlockOutputs);
    if (Status status = read_blocks(std::min(blocks_at_once_, static_cast<std::int64_t>(more) + 1)); !status.ok()) return status;
  }
  const auto after = [&](std::int64_t number) {  // the first block that starts at `number` or later
    return std::lower_bound(starts_.begin(), starts_.end(), number, [](const BlockStart& start, std::int64_t n) { return start.given < n; });
  };
  const auto passed = std::max<std::int64_t>(after(first + 1) - starts_.begin() - 1, 0);
  starts_.erase(starts_.begin(), starts_.begin() + passed);
  first_block_ += passed;
  return draw_blocks(0, after(first + count) - starts_.begin(), {stream_, starts_there_, to, 0, first, count});
}

}  // namespace linearmem::cuda
