#include "foundation/work_split.hpp"

#include <cmath>

namespace linearmem {

std::vector<std::int64_t> first_items(const Work& work, const std::vector<double>& costs) {
  const std::int64_t width = work.executor->width();
  double total = 0;
  for (double cost : costs) total += cost * static_cast<double>(work.heads);
  if (total < static_cast<double>(work.executor->least_work()) || work.heads == 0) return {};
  const double share = total / static_cast<double>(width);  // of one worker
  std::vector<std::int64_t> first;
  for (double pieces : {1.0, 2.0}) {  // pieces of at most a share; smaller ones where those few do not come out even
    first.assign(1, 0);
    for (double cost : costs) {
      const double parts = share > 0 ? std::ceil(pieces * cost / share - 1e-9) : 1;
      first.push_back(first.back() + work.heads * std::clamp(static_cast<std::int64_t>(parts), std::int64_t{1}, work.most_parts));
    }
    if (first.back() % width == 0 || first.back() >= 4 * width) break;
  }
  return first;
}

}  // namespace linearmem
