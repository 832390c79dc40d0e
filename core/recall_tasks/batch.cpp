#include "recall_tasks/batch.hpp"

#include <cstring>
#include <numeric>
#include <utility>

namespace linearmem {
namespace tasks {

TaskCheck& TaskCheck::require(bool condition, const std::string& sentence) {
  if (status_.ok() && !condition) status_ = Status::invalid(std::string(task_) + ": " + sentence);
  return *this;
}

TaskCheck& TaskCheck::at_least(const char* name, std::int64_t value, std::int64_t least) {
  return require(value >= least, std::string(name) + " is " + std::to_string(value) + ", must be at least " + std::to_string(least));
}

TaskCheck& TaskCheck::at_most(const char* name, std::int64_t value, const char* limit_name, std::int64_t limit) {
  return require(value <= limit,
                 std::string(name) + " is " + std::to_string(value) + ", but " + limit_name + " is " + std::to_string(limit));
}

Result<TaskBatch> blank_batch(const char* task, std::int64_t rows, std::int64_t length, bool with_answers) {
  const Extents<2> extents{rows, length};
  if (auto bytes = checked_bytes(task, extents.data(), 2, 8); !bytes.ok()) return bytes.status();
  TaskBatch batch{.tokens = Tensor<std::int64_t, 2>(extents),
                  .labels = Tensor<std::int64_t, 2>(extents, kNoLabel),
                  .mask = Tensor<std::uint8_t, 2>(extents)};
  if (with_answers) batch.answers = Tensor<double, 2>(extents);
  return batch;
}

void ask(TaskBatch& batch, std::int64_t row, std::int64_t at, std::int64_t label) {
  batch.labels(row, at) = label;
  batch.mask(row, at) = 1;
}

Urn::Urn(std::int64_t size) : numbers_(static_cast<std::size_t>(size)) { std::iota(numbers_.begin(), numbers_.end(), 0); }

void Urn::draw(Generator& generator, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(numbers_.size());
  for (std::int64_t i = 0; i < count; ++i)
    std::swap(numbers_[static_cast<std::size_t>(i)], numbers_[static_cast<std::size_t>(generator.integers(i, size).value())]);
}

}  // namespace tasks

namespace {

class Fnv1a {
 public:
  template <typename T>
  void add(const std::vector<T>& values) {
    for (const T& value : values) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof value);  // the low bytes: every target is little endian, as the files are
      for (std::size_t byte = 0; byte < sizeof value; ++byte) hash_ = (hash_ ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3u;
    }
  }
  std::string hexadecimal() const {
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[hash_ >> shift & 15];
    return text;
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace

std::string task_digest(const TaskBatch& batch) {
  Fnv1a hash;
  hash.add(batch.tokens.values());
  hash.add(batch.labels.values());
  hash.add(batch.mask.values());
  hash.add(batch.answers.values());
  hash.add(batch.key_vectors.values());
  return hash.hexadecimal();
}

}  // namespace linearmem
