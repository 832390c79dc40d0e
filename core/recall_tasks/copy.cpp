// Copy and selective copy: symbols, a sign that the answer begins, and a blank for each symbol of the answer.
#include <algorithm>

#include "recall_tasks/batch.hpp"

namespace linearmem {

Result<TaskBatch> make_task(const CopyTask& task) {
  constexpr std::int64_t kSign = 1, kFirstSymbol = 2;
  const Status status = tasks::TaskCheck("copy")
                            .at_least("rows", task.rows, 1)
                            .at_least("symbols", task.symbols, 1)
                            .at_least("vocabulary", task.vocabulary, 1)
                            .at_most("symbols", task.symbols, "span", task.span)
                            .status();
  if (!status.ok()) return status;
  auto batch = tasks::blank_batch("copy", task.rows, task.span + 1 + task.symbols);
  if (!batch.ok()) return batch;
  Generator generator(task.seed);
  tasks::Urn places(task.span);
  std::vector<std::int64_t> at(static_cast<std::size_t>(task.symbols));
  for (std::int64_t row = 0; row < task.rows; ++row) {
    if (task.symbols < task.span) places.draw(generator, task.symbols);
    for (std::int64_t i = 0; i < task.symbols; ++i) at[static_cast<std::size_t>(i)] = task.symbols < task.span ? places[i] : i;
    std::sort(at.begin(), at.end());
    batch.value().tokens(row, task.span) = kSign;
    for (std::int64_t i = 0; i < task.symbols; ++i) {
      const std::int64_t symbol = kFirstSymbol + generator.integers(0, task.vocabulary).value();
      batch.value().tokens(row, at[static_cast<std::size_t>(i)]) = symbol;
      tasks::ask(batch.value(), row, task.span + 1 + i, symbol);
    }
  }
  return batch;
}

}  // namespace linearmem
