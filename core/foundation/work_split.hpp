// Cuts a door's work into pieces that do not depend on each other, and runs them: here, or on an executor's threads. A piece is some
// heads of one sequence; where there are too few of those to keep the executor busy, a part of one head's columns, channels or queries.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include "foundation/aligned_buffer.hpp"
#include "foundation/sequences.hpp"
#include "linearmem/executor.hpp"

namespace linearmem {

// Calls run(index) for every index in [0, count). A piece that runs out of memory stops those not yet begun; the caller then sees
// one std::bad_alloc, as without an executor.
template <typename Run>
void run_items(const Executor* executor, std::int64_t count, const Run& run) {
  if (!executor || count <= 1) {
    for (std::int64_t index = 0; index < count; ++index) run(index);
    return;
  }
  struct Shared {
    const Run& run;
    mutable std::atomic<bool> failed = false;
  };
  const Shared shared{run};
  executor->run(
      count,
      [](const void* context, std::int64_t index) noexcept {
        const auto& all = *static_cast<const Shared*>(context);
        if (all.failed.load(std::memory_order_relaxed)) return;
        try {
          all.run(index);
        } catch (...) {  // what can fail in a piece is its memory
          all.failed.store(true, std::memory_order_relaxed);
        }
      },
      &shared);
  if (shared.failed.load()) throw std::bad_alloc();
}

struct Piece {
  std::int64_t sequence, head, heads;  // heads: from `head` on; 1 where parts is above 1
  std::int64_t part, parts;            // which part of the columns, channels or queries, of how many

  // This part of an axis, cut at multiples of `grain`.
  Range of(std::int64_t extent, std::int64_t grain) const {
    const std::int64_t units = (extent + grain - 1) / grain;
    const std::int64_t first = std::min(units * part / parts * grain, extent);
    return {first, std::min(units * (part + 1) / parts * grain, extent) - first};
  }
  // The same for columns or channels next to each other in memory: no two parts write to one cache line of a packed row.
  template <typename T>
  Range columns(std::int64_t extent) const {
    return of(extent, padded_columns<T>(1));
  }
};

// What there is to cut. cost(n): multiply-adds of one head of sequence n, roughly.
struct Work {
  const Executor* executor;
  std::int64_t sequences, heads;
  std::int64_t most_parts;          // of one head of one sequence
  std::int64_t heads_together = 1;  // most heads of one piece: more than one where heads gain from taking turns
};

// Heads whose states of `count` values each a core can keep near while they take turns.
template <typename T>
std::int64_t heads_near(std::int64_t count) {
  constexpr std::int64_t kNear = (std::int64_t{1} << 20) / sizeof(T);
  return std::max<std::int64_t>(kNear / std::max<std::int64_t>(count, 1), 1);
}

// Columns or channels of one head as Piece::columns cuts them.
template <typename T>
std::int64_t most_column_parts(std::int64_t extent) {
  return std::max<std::int64_t>(padded_columns<T>(extent) / padded_columns<T>(1), 1);
}

// How many runs of heads to cut the heads of a sequence into.
std::int64_t head_runs(const Work& work);

// The first item of each sequence and, last, the number of items; an item's number within its sequence is run * parts + part.
// Empty where the work is too little to be handed out.
std::vector<std::int64_t> first_items(const Work& work, std::int64_t runs, const std::vector<double>& costs);

template <typename Cost, typename Run>
void each_piece(const Work& work, const Cost& cost, const Run& run) {
  std::vector<std::int64_t> first;
  const std::int64_t runs = head_runs(work);
  const auto head = [&](std::int64_t index) { return work.heads * index / runs; };
  if (work.executor && work.executor->width() > 1) {
    std::vector<double> costs;
    for (std::int64_t n = 0; n < work.sequences; ++n) costs.push_back(static_cast<double>(cost(n)));
    first = first_items(work, runs, costs);
  }
  if (first.empty()) {
    for (std::int64_t n = 0; n < work.sequences; ++n)
      for (std::int64_t h = 0; h < work.heads; h += work.heads_together)
        run(Piece{n, h, std::min(work.heads_together, work.heads - h), 0, 1});
    return;
  }
  run_items(work.executor, first.back(), [&](std::int64_t item) {
    const auto n = std::upper_bound(first.begin(), first.end(), item) - first.begin() - 1;
    const std::int64_t parts = (first[n + 1] - first[n]) / runs, within = item - first[n], index = within / parts;
    run(Piece{n, head(index), head(index + 1) - head(index), within % parts, parts});
  });
}

}  // namespace linearmem
