// Pairs of key and value, and keys asked for again.
#include <algorithm>
#include <cmath>
#include <utility>

#include "foundation/random_math.hpp"
#include "recall_tasks/batch.hpp"

namespace linearmem {
namespace {

using tasks::ask;
using tasks::TaskCheck;
using tasks::Urn;

// Distinct keys and distinct values of a row: tokens 1 .. keys and, after them, values.
class Vocabulary {
 public:
  Vocabulary(std::int64_t keys, std::int64_t values) : key_count_(keys), keys_(keys), values_(values) {}

  void draw(Generator& generator, std::int64_t pairs) {
    keys_.draw(generator, pairs);
    values_.draw(generator, pairs);
  }
  std::int64_t key(std::int64_t i) const { return 1 + keys_[i]; }
  std::int64_t value(std::int64_t i) const { return 1 + key_count_ + values_[i]; }

 private:
  std::int64_t key_count_;
  Urn keys_, values_;
};

void write_pairs(TaskBatch& batch, std::int64_t row, const Vocabulary& words, std::int64_t pairs) {
  for (std::int64_t i = 0; i < pairs; ++i) {
    batch.tokens(row, 2 * i) = words.key(i);
    batch.tokens(row, 2 * i + 1) = words.value(i);
  }
}

// s^(power-1) for s >= 1, the same bits on every target.
double slot_weight(std::int64_t s, double power) {
  double exponent = (1 - power) * log_one_minus(1 - 1 / static_cast<double>(s));
  int halvings = 0;
  for (; exponent < -8; ++halvings) exponent /= 2;
  double weight = exp_nonpositive(exponent);
  for (; halvings > 0; --halvings) weight *= weight;
  return weight;
}

// Draws without replacement by weight: each slot waits an exponential time at its weight's rate, and the first ones are taken.
// Source: Efraimidis & Spirakis 2006.
class Slots {
 public:
  Slots(std::int64_t count, double power) : waits_(static_cast<std::size_t>(count)) {
    for (std::int64_t s = 1; s <= count; ++s) weights_.push_back(slot_weight(s, power));
  }
  std::vector<std::int64_t> draw(Generator& generator, std::int64_t count) {
    for (std::size_t s = 0; s < waits_.size(); ++s) waits_[s] = {-log_one_minus(generator.random()) / weights_[s], s};
    std::partial_sort(waits_.begin(), waits_.begin() + count, waits_.end());
    std::vector<std::int64_t> drawn;
    for (std::int64_t i = 0; i < count; ++i) drawn.push_back(static_cast<std::int64_t>(waits_[static_cast<std::size_t>(i)].second));
    generator.shuffle(drawn);  // the first drawn are the early ones
    return drawn;
  }

 private:
  std::vector<double> weights_;
  std::vector<std::pair<double, std::size_t>> waits_;
};

// Unit rows; of each couple of rows the second has inner product rho with the first.
Tensor<double, 2> couples(Generator& generator, std::int64_t rows, std::int64_t K, double rho) {
  Tensor<double, 2> vectors({rows, K}, generator.normal_vector(static_cast<std::size_t>(rows * K)));
  const auto product = [&](std::int64_t a, std::int64_t b) {
    double sum = 0;
    for (std::int64_t c = 0; c < K; ++c) sum += vectors(a, c) * vectors(b, c);
    return sum;
  };
  const auto scale = [&](std::int64_t row) {
    const double length = std::sqrt(product(row, row));
    for (std::int64_t c = 0; c < K; ++c) vectors(row, c) /= length;
  };
  for (std::int64_t row = 0; row + 1 < rows; row += 2) {
    scale(row);
    const double along = product(row, row + 1);
    for (std::int64_t c = 0; c < K; ++c) vectors(row + 1, c) -= along * vectors(row, c);
    scale(row + 1);
    for (std::int64_t c = 0; c < K; ++c) vectors(row + 1, c) = rho * vectors(row, c) + std::sqrt(1 - rho * rho) * vectors(row + 1, c);
  }
  return vectors;
}

Status check(const KeyConflictTask& task) {
  return TaskCheck("key_conflict")
      .at_least("rows", task.rows, 1)
      .at_least("keys", task.keys, 2)
      .at_least("rewrites", task.rewrites, 1)
      .at_least("key_width", task.key_width, 2)
      .require(task.keys % 2 == 0, "keys is " + std::to_string(task.keys) + ", must be even: keys come in couples")
      .require(task.key_vocabulary % 2 == 0,
               "key_vocabulary is " + std::to_string(task.key_vocabulary) + ", must be even: keys come in couples")
      .at_most("keys", task.keys, "key_vocabulary", task.key_vocabulary)
      .require(task.rewrites <= task.value_vocabulary / task.keys,
               std::to_string(task.keys) + " keys written " + std::to_string(task.rewrites) +
                   " times need as many values, but value_vocabulary is " + std::to_string(task.value_vocabulary))
      .require(task.rho >= -1 && task.rho <= 1, "rho is " + std::to_string(task.rho) + ", must be from -1 to 1")
      .status();
}

}  // namespace

Result<TaskBatch> make_task(const AssociativeRecallTask& task) {
  const Status status = TaskCheck("associative_recall")
                            .at_least("rows", task.rows, 1)
                            .at_least("pairs", task.pairs, 1)
                            .at_most("pairs", task.pairs, "key_vocabulary", task.key_vocabulary)
                            .at_most("pairs", task.pairs, "value_vocabulary", task.value_vocabulary)
                            .status();
  if (!status.ok()) return status;
  auto batch = tasks::blank_batch("associative_recall", task.rows, 2 * task.pairs + 1);
  if (!batch.ok()) return batch;
  Generator generator(task.seed);
  Vocabulary words(task.key_vocabulary, task.value_vocabulary);
  for (std::int64_t row = 0; row < task.rows; ++row) {
    words.draw(generator, task.pairs);
    write_pairs(batch.value(), row, words, task.pairs);
    const std::int64_t asked = generator.integers(0, task.pairs).value();
    batch.value().tokens(row, 2 * task.pairs) = words.key(asked);
    ask(batch.value(), row, 2 * task.pairs, words.value(asked));
  }
  return batch;
}

Result<TaskBatch> make_task(const MultiQueryRecallTask& task) {
  const Status status =
      TaskCheck("multi_query_recall")
          .at_least("rows", task.rows, 1)
          .at_least("pairs", task.pairs, 1)
          .at_most("pairs", task.pairs, "key_vocabulary", task.key_vocabulary)
          .at_most("pairs", task.pairs, "value_vocabulary", task.value_vocabulary)
          .require(task.length / 4 >= task.pairs, "length is " + std::to_string(task.length) + ", but " + std::to_string(task.pairs) +
                                                      " pairs and the slots for their questions take " + std::to_string(4 * task.pairs))
          .require(task.power > 0 && task.power <= 1, "power is " + std::to_string(task.power) + ", must be above 0 and at most 1")
          .status();
  if (!status.ok()) return status;
  auto batch = tasks::blank_batch("multi_query_recall", task.rows, task.length);
  if (!batch.ok()) return batch;
  Generator generator(task.seed);
  Vocabulary words(task.key_vocabulary, task.value_vocabulary);
  Slots slots((task.length - 2 * task.pairs) / 2, task.power);
  for (std::int64_t row = 0; row < task.rows; ++row) {
    words.draw(generator, task.pairs);
    write_pairs(batch.value(), row, words, task.pairs);
    const std::vector<std::int64_t> drawn = slots.draw(generator, task.pairs);
    for (std::int64_t i = 0; i < task.pairs; ++i) {
      const std::int64_t at = 2 * task.pairs + 2 * drawn[static_cast<std::size_t>(i)];
      batch.value().tokens(row, at) = words.key(i);
      ask(batch.value(), row, at, words.value(i));
    }
  }
  return batch;
}

Result<TaskBatch> make_task(const KeyConflictTask& task) {
  if (Status status = check(task); !status.ok()) return status;
  const std::int64_t writes = task.keys * task.rewrites;
  auto made = tasks::blank_batch("key_conflict", task.rows, 2 * writes + task.keys);
  if (!made.ok()) return made;
  TaskBatch& batch = made.value();
  const Extents<2> vectors{task.key_vocabulary, task.key_width};
  if (auto bytes = checked_bytes("key_conflict", vectors.data(), 2, 8); !bytes.ok()) return bytes.status();
  Generator generator(task.seed);
  batch.key_vectors = couples(generator, task.key_vocabulary, task.key_width, task.rho);
  Urn couple(task.key_vocabulary / 2), value(task.value_vocabulary);
  for (std::int64_t row = 0; row < task.rows; ++row) {
    couple.draw(generator, task.keys / 2);
    value.draw(generator, writes);
    const auto key = [&](std::int64_t i) { return 1 + 2 * couple[i / 2] + i % 2; };
    const std::vector<std::int64_t> order = generator.permutation(writes), questions = generator.permutation(task.keys);
    std::vector<std::int64_t> newest(static_cast<std::size_t>(task.keys));
    for (std::int64_t at = 0; at < writes; ++at) {
      const std::int64_t i = order[static_cast<std::size_t>(at)] % task.keys;
      batch.tokens(row, 2 * at) = key(i);
      newest[static_cast<std::size_t>(i)] = batch.tokens(row, 2 * at + 1) = 1 + task.key_vocabulary + value[at];
    }
    for (std::int64_t at = 0; at < task.keys; ++at) {
      const std::int64_t i = questions[static_cast<std::size_t>(at)];
      batch.tokens(row, 2 * writes + at) = key(i);
      ask(batch, row, 2 * writes + at, newest[static_cast<std::size_t>(i)]);
    }
  }
  return made;
}

}  // namespace linearmem
