#include "foundation/work_split.hpp"

#include <cmath>

namespace linearmem {

std::int64_t head_runs(const Work& work) {
  const std::int64_t least = (work.heads + work.heads_together - 1) / work.heads_together;
  if (!work.executor || work.sequences == 0) return least;
  const std::int64_t wanted = (4 * work.executor->width() + work.sequences - 1) / work.sequences;  // several for each worker
  return std::clamp(wanted, least, work.heads);
}

std::vector<std::int64_t> first_items(const Work& work, std::int64_t runs, const std::vector<double>& costs_of_heads) {
  const std::int64_t width = work.executor->width();
  double total = 0;
  std::vector<double> costs = costs_of_heads;  // of a run of heads
  for (double& cost : costs) {
    total += cost * static_cast<double>(work.heads);
    cost *= static_cast<double>(work.heads) / static_cast<double>(std::max<std::int64_t>(runs, 1));
  }
  if (total < static_cast<double>(work.executor->least_work()) || work.heads == 0) return {};
  const double share = total / static_cast<double>(width);  // of one worker
  std::vector<std::int64_t> first;
  for (double pieces : {1.0, 2.0}) {  // pieces of at most a share; smaller ones where those few do not come out even
    first.assign(1, 0);
    for (double cost : costs) {
      const double parts = share > 0 ? std::ceil(pieces * cost / share - 1e-9) : 1;
      const std::int64_t most = runs < work.heads ? 1 : work.most_parts;
      first.push_back(first.back() + runs * std::clamp(static_cast<std::int64_t>(parts), std::int64_t{1}, most));
    }
    if (first.back() % width == 0 || first.back() >= 4 * width) break;
  }
  return first;
}

}  // namespace linearmem
