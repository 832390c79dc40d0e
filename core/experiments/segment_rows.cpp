// Which earlier tokens each segment can look back on: the row of every token holds its own place, and the memory is run over it.
#include <optional>

#include "experiments/lists.hpp"
#include "experiments/matrix_panel.hpp"
#include "linearmem/segment_memory.hpp"

namespace linearmem {
namespace {

// The rows after one more segment.
Status remember(const std::vector<double>& segment, std::int64_t limit, std::vector<double>& memory) {
  const auto T = static_cast<std::int64_t>(segment.size()), M = static_cast<std::int64_t>(memory.size());
  std::vector<double> kept(static_cast<std::size_t>(segment_memory_rows(M, T, limit)));
  const Status status = segment_memory(SegmentMemoryArguments<double>{.hidden = {segment.data(), {1, T, 1}},
                                                                      .memory = {memory.data(), {1, M, 1}},
                                                                      .limit = limit,
                                                                      .new_memory = {kept.data(), {1, static_cast<std::int64_t>(kept.size()), 1}}});
  memory = std::move(kept);
  return status;
}

Result<Figure> run(const Settings& settings) {
  const std::int64_t limit = whole(settings, "limit"), length = whole(settings, "length"), segments = whole(settings, "segments");
  const std::int64_t tokens = length * segments;
  constexpr double kRemembered = 1, kOwn = -0.5;
  std::vector<double> reachable(static_cast<std::size_t>(segments * tokens)), memory, segment(static_cast<std::size_t>(length));
  Series within{"window", "segment memory", {}, {}}, all{"softmax_attention", "explicit K,V", {}, {}}, alone{"causal_conv", "no memory", {}, {}};
  for (std::int64_t s = 0; s < segments; ++s) {
    const auto row = reachable.begin() + s * tokens;
    for (double place : memory) row[static_cast<std::ptrdiff_t>(place)] = kRemembered;
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t t = s * length + i;
      segment[static_cast<std::size_t>(i)] = static_cast<double>(t);
      row[t] = kOwn;
      for (Series* series : {&within, &all, &alone}) series->x.push_back(static_cast<double>(t));
      within.y.push_back(static_cast<double>(memory.size()) + static_cast<double>(i + 1));
      all.y.push_back(static_cast<double>(t + 1));
      alone.y.push_back(static_cast<double>(i + 1));
    }
    if (Status status = remember(segment, limit, memory); !status.ok()) return status;
  }
  return Figure{{matrix_panel("rows", tokens, {matrix_series("window", "segment by segment", reachable)}, 1),
                 {"reach", {"token", "", false}, {"tokens in reach", "", false}, {all, within, alone}}}};
}

}  // namespace

Experiment segment_rows_experiment() {
  return {"segment-rows",
          "What can a segment look back on?",
          "One layer; in a stack each layer looks back once more, so the reach grows with depth. What is done with the rows is not shown.",
          {{"limit", "rows the memory keeps", 3, 0, 64, 1}, {"length", "tokens of a segment", 4, 1, 16, 1}, {"segments", "segments", 6, 1, 12, 1}},
          run};
}

}  // namespace linearmem
