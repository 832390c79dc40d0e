// What a kNN memory belongs to. Keys of another model, tokens of another tokenizer or records of another permission domain must not
// meet in one store: every field is checked by name where a store is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "linearmem/knn_memory.hpp"

namespace linearmem {

struct KnnIdentity {
  std::string model, model_version, tokenizer;
  std::int64_t dimension = 0;  // of keys, 1 to 65536
  Metric metric = Metric::squared_l2;
  std::string domain;  // of permission: who may read one record may read all
};

// What the caller counts on. A field that is absent is not checked.
struct KnnExpectation {
  std::optional<std::string> model = {}, model_version = {}, tokenizer = {};
  std::optional<std::int64_t> dimension = {};
  std::optional<Metric> metric = {};
  std::optional<std::string> domain = {};
};

KnnExpectation expect_all(const KnnIdentity& identity);

// Errors: an empty field, one longer than 1024 bytes or with a control character, a dimension out of range.
Status check_identity(const std::string& store, const KnnIdentity& identity);

// "STORE: model differs: the store has "a", "b" is expected"
Status check_expectation(const std::string& store, const KnnIdentity& identity, const KnnExpectation& expected);

}  // namespace linearmem
