#include <cmath>

#include "foundation/number_text.hpp"
#include "linearmem/recall_tasks.hpp"

namespace linearmem {
namespace {

// What a setting's value is converted to: the type of the task's field.
class Values {
 public:
  explicit Values(const TaskSettings& settings) : settings_(settings) {}
  std::int64_t operator[](const char* name) const { return static_cast<std::int64_t>(settings_.at(name)); }
  double number(const char* name) const { return settings_.at(name); }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(settings_.at("seed")); }

 private:
  const TaskSettings& settings_;
};

Result<TaskBatch> associative_recall(const TaskSettings& settings) {
  const Values of(settings);
  return make_task(AssociativeRecallTask{of["rows"], of["pairs"], of["key_vocabulary"], of["value_vocabulary"], of.seed()});
}

Result<TaskBatch> multi_query_recall(const TaskSettings& settings) {
  const Values of(settings);
  return make_task(MultiQueryRecallTask{of["rows"], of["pairs"], of["length"], of["key_vocabulary"], of["value_vocabulary"],
                                        of.number("power"), of.seed()});
}

Result<TaskBatch> key_conflict(const TaskSettings& settings) {
  const Values of(settings);
  return make_task(KeyConflictTask{of["rows"], of["keys"], of["rewrites"], of["key_vocabulary"], of["value_vocabulary"], of.number("rho"),
                                   of["key_width"], of.seed()});
}

Result<TaskBatch> copy(const TaskSettings& settings) {
  const Values of(settings);
  return make_task(CopyTask{of["rows"], of["symbols"], of["symbols"], of["vocabulary"], of.seed()});
}

Result<TaskBatch> selective_copy(const TaskSettings& settings) {
  const Values of(settings);
  return make_task(CopyTask{of["rows"], of["symbols"], of["span"], of["vocabulary"], of.seed()});
}

Result<TaskBatch> count(const TaskSettings& settings) {
  const Values of(settings);
  return make_task(AggregationTask{Aggregate::count, of["rows"], of["items"], of["keys"], 0, of.seed()});
}

Result<TaskBatch> mean(const TaskSettings& settings) {
  const Values of(settings);
  return make_task(AggregationTask{Aggregate::mean, of["rows"], of["items"], of["keys"], of["largest"], of.seed()});
}

constexpr double kMost = 1 << 20;
const TaskSetting kRows{"rows", "rows of the batch B", 32, 1, kMost}, kSeed{"seed", "seed of default_rng", 1, 0, 4294967295.0},
    kPairs{"pairs", "pairs of key and value", 8, 1, kMost}, kKeyVocabulary{"key_vocabulary", "key tokens", 64, 1, kMost},
    kValueVocabulary{"value_vocabulary", "value tokens", 64, 1, kMost}, kSymbols{"symbols", "symbols to be copied", 16, 1, kMost},
    kVocabulary{"vocabulary", "different symbols", 16, 1, kMost}, kItems{"items", "items to be added up", 64, 1, kMost},
    kKeys{"keys", "different keys", 8, 1, kMost};

Status check(const RecallTask& task, const TaskSetting& setting, double value) {
  const std::string is = std::string(task.name) + ": " + setting.name + " is " + number_text(value, 10);
  if (!(value >= setting.minimum && value <= setting.maximum))
    return Status::invalid(is + ", must be from " + number_text(setting.minimum, 10) + " to " + number_text(setting.maximum, 10));
  if (setting.whole && value != std::floor(value)) return Status::invalid(is + ", must be a whole number");
  return {};
}

}  // namespace

const std::vector<RecallTask>& recall_tasks() {
  static const std::vector<RecallTask> list = {
      {"associative-recall", "k1 v1 .. kN vN q", {kRows, kPairs, kKeyVocabulary, kValueVocabulary, kSeed}, associative_recall},
      {"multi-query-recall",
       "k1 v1 .. kN vN 0 q 0 0 q ..",
       {kRows,
        kPairs,
        {"length", "tokens of a row T", 64, 4, kMost},
        kKeyVocabulary,
        kValueVocabulary,
        {"power", "slot s is asked with weight s^(power-1)", 0.01, 1e-3, 1, false},
        kSeed},
       multi_query_recall},
      {"key-conflict",
       "k v k' v' k v'' .. q q'",
       {kRows,
        {"keys", "keys of a row", 8, 2, kMost},
        {"rewrites", "times each key is written", 2, 1, kMost},
        kKeyVocabulary,
        kValueVocabulary,
        {"rho", "inner product of the two keys of a couple", 0.5, -1, 1, false},
        {"key_width", "width of the key vectors K", 32, 2, 4096},
        kSeed},
       key_conflict},
      {"copy", "x1 .. xn > 0 .. 0", {kRows, kSymbols, kVocabulary, kSeed}, copy},
      {"selective-copy",
       "0 x1 0 0 x2 .. > 0 .. 0",
       {kRows, kSymbols, {"span", "tokens among which the symbols stand", 64, 1, kMost}, kVocabulary, kSeed},
       selective_copy},
      {"count", "x1 .. xn q q' ..", {kRows, kItems, kKeys, kSeed}, count},
      {"mean", "k1 n1 .. kn nn q q' ..", {kRows, kItems, kKeys, {"largest", "largest number", 9, 0, kMost}, kSeed}, mean}};
  return list;
}

Result<const RecallTask*> find_recall_task(std::string_view name) {
  std::string known;
  for (const RecallTask& task : recall_tasks()) {
    if (task.name == name) return &task;
    known += (known.empty() ? "" : ", ") + std::string(task.name);
  }
  return Status::invalid("task " + std::string(name) + " is not one of " + known);
}

Result<TaskBatch> make_recall_task(std::string_view name, const TaskSettings& settings) {
  const auto found = find_recall_task(name);
  if (!found.ok()) return found.status();
  const RecallTask& task = *found.value();
  TaskSettings complete;
  std::string known;
  for (const TaskSetting& setting : task.settings) {
    complete[setting.name] = setting.default_value;
    known += (known.empty() ? "" : ", ") + std::string(setting.name);
  }
  for (const auto& [key, value] : settings) {
    if (!complete.count(key)) return Status::invalid(std::string(name) + ": setting " + key + " is not one of " + known);
    complete[key] = value;
  }
  for (const TaskSetting& setting : task.settings)
    if (Status status = check(task, setting, complete[setting.name]); !status.ok()) return status;
  return task.make(complete);
}

}  // namespace linearmem
