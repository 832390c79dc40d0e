// What all tasks share: the empty batch, checks of their numbers, draws without replacement.
#pragma once

#include <string>
#include <vector>

#include "linearmem/random.hpp"
#include "linearmem/recall_tasks.hpp"

namespace linearmem::tasks {

// The first thing wrong with a task's numbers, as a sentence.
class TaskCheck {
 public:
  explicit TaskCheck(const char* task) : task_(task) {}

  TaskCheck& at_least(const char* name, std::int64_t value, std::int64_t least);
  TaskCheck& at_most(const char* name, std::int64_t value, const char* limit_name,
                     std::int64_t limit);  // "pairs is 9, but key_vocabulary is 8"
  TaskCheck& require(bool condition, const std::string& sentence);
  const Status& status() const { return status_; }

 private:
  const char* task_;
  Status status_;
};

// Blank tokens, no labels; also answers where `with_answers`. Errors: sizes that cannot be addressed.
Result<TaskBatch> blank_batch(const char* task, std::int64_t rows, std::int64_t length, bool with_answers = false);

void ask(TaskBatch& batch, std::int64_t row, std::int64_t at, std::int64_t label);  // the label of tokens(row, at)

// Numbers 0 .. size-1, drawn without replacement within a draw.
class Urn {
 public:
  explicit Urn(std::int64_t size);
  // The first `count` of numbers() are drawn; a Fisher-Yates shuffle that stops there.
  void draw(Generator& generator, std::int64_t count);
  std::int64_t operator[](std::int64_t i) const { return numbers_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<std::int64_t> numbers_;
};

}  // namespace linearmem::tasks
