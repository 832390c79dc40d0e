// Count and mean: what must be added up over the whole row, and cannot be looked up at one place of it.
#include <cmath>

#include "recall_tasks/batch.hpp"

namespace linearmem {
namespace {

// The key of each item; with `every` each key at least once.
std::vector<std::int64_t> item_keys(Generator& generator, const AggregationTask& task, bool every) {
  std::vector<std::int64_t> keys;
  for (std::int64_t i = 0; i < task.items; ++i) keys.push_back(every && i < task.keys ? i : generator.integers(0, task.keys).value());
  if (every) generator.shuffle(keys);
  return keys;
}

double nearest_even(double x) {
  const double below = std::floor(x), over = x - below;
  return over > 0.5 || (over == 0.5 && std::fmod(below, 2) != 0) ? below + 1 : below;
}

}  // namespace

Result<TaskBatch> make_task(const AggregationTask& task) {
  const bool mean = task.aggregate == Aggregate::mean;
  const char* name = mean ? "mean" : "count";
  tasks::TaskCheck check(name);
  check.at_least("rows", task.rows, 1).at_least("items", task.items, 1).at_least("keys", task.keys, 1);
  if (mean) check.at_most("keys", task.keys, "items", task.items).at_least("largest", task.largest, 0);
  if (!check.status().ok()) return check.status();
  const std::int64_t asked_from = mean ? 2 * task.items : task.items;
  auto made = tasks::blank_batch(name, task.rows, asked_from + task.keys, true);
  if (!made.ok()) return made;
  TaskBatch& batch = made.value();
  Generator generator(task.seed);
  for (std::int64_t row = 0; row < task.rows; ++row) {
    std::vector<double> count(static_cast<std::size_t>(task.keys)), sum(static_cast<std::size_t>(task.keys));
    const std::vector<std::int64_t> keys = item_keys(generator, task, mean);
    for (std::int64_t i = 0; i < task.items; ++i) {
      const auto key = static_cast<std::size_t>(keys[static_cast<std::size_t>(i)]);
      ++count[key];
      batch.tokens(row, mean ? 2 * i : i) = 1 + static_cast<std::int64_t>(key);
      if (!mean) continue;
      const std::int64_t number = generator.integers(0, task.largest, Endpoint::included).value();
      batch.tokens(row, 2 * i + 1) = 1 + task.keys + number;
      sum[key] += static_cast<double>(number);
    }
    const std::vector<std::int64_t> questions = generator.permutation(task.keys);
    for (std::int64_t i = 0; i < task.keys; ++i) {
      const auto key = static_cast<std::size_t>(questions[static_cast<std::size_t>(i)]);
      const double answer = mean ? sum[key] / count[key] : count[key];
      batch.tokens(row, asked_from + i) = 1 + static_cast<std::int64_t>(key);
      batch.answers(row, asked_from + i) = answer;
      tasks::ask(batch, row, asked_from + i, static_cast<std::int64_t>(nearest_even(answer)));
    }
  }
  return made;
}

}  // namespace linearmem
