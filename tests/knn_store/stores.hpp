// Small stores for tests: an identity, records that tell where they come from, and what a store holds as a map.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "cli/command.hpp"
#include "knn_store.hpp"

namespace linearmem::test {

constexpr std::int64_t kWidth = 3;

inline KnnIdentity identity_of(const std::string& domain = "notes") {
  return {
      .model = "ngram", .model_version = "1", .tokenizer = "words", .dimension = kWidth, .metric = Metric::squared_l2, .domain = domain};
}

// n records from `first` on; `turn` makes other keys and tokens of the same ids.
inline KnnRecords records_from(std::int64_t first, std::int64_t n, std::int64_t turn = 0) {
  KnnRecords records;
  for (std::int64_t i = first; i < first + n; ++i) {
    records.tokens.push_back(100 * turn + i % 7);
    records.sources.push_back("document " + std::to_string(i / 10));
    for (std::int64_t d = 0; d < kWidth; ++d) records.keys.push_back(static_cast<float>(i + d) + static_cast<float>(turn) / 8);
  }
  return records;
}

inline KnnRecords records_with_ids(const std::vector<std::int64_t>& ids, std::int64_t turn) {
  KnnRecords records;
  for (std::int64_t id : ids) {
    const KnnRecords one = records_from(id, 1, turn);
    records.tokens.push_back(one.tokens[0]);
    records.sources.push_back(one.sources[0]);
    records.keys.insert(records.keys.end(), one.keys.begin(), one.keys.end());
  }
  records.ids = ids;
  return records;
}

using Held = std::map<std::int64_t, std::tuple<std::int64_t, std::string, std::vector<float>>>;

inline Held held_by(const KnnRecords& records) {
  Held held;
  for (std::size_t i = 0; i < records.tokens.size(); ++i)
    held[records.ids[i]] = {records.tokens[i],
                            records.sources.empty() ? "" : records.sources[i],
                            {records.keys.begin() + static_cast<std::ptrdiff_t>(i) * kWidth,
                             records.keys.begin() + static_cast<std::ptrdiff_t>(i + 1) * kWidth}};
  return held;
}

inline std::unique_ptr<KnnStore> opened(const std::string& path, KnnAccess access = KnnAccess::write, const KnnStoreOptions& options = {}) {
  auto store = KnnStore::open(path, expect_all(identity_of()), access, options);
  EXPECT_TRUE(store.ok()) << store.status().message();
  return store.ok() ? std::move(store).value() : nullptr;
}

inline std::unique_ptr<KnnStore> made(const std::string& path) {
  const Status status = KnnStore::create(path, identity_of());
  EXPECT_TRUE(status.ok()) << status.message();
  return opened(path);
}

}  // namespace linearmem::test
