// The graph beside the scan file: what it finds has exact distances, it is refused when it finds too little, belongs to another generation
// or is damaged anywhere, and it goes when the store is compacted.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/support.hpp"
#include "knn_store/stores.hpp"

namespace linearmem {
namespace {

#ifdef LINEARMEM_HNSWLIB

using test::Folder;

KnnRecords scattered(std::int64_t n, std::uint64_t seed) {
  test::Numbers numbers(seed);
  KnnRecords records;
  for (std::int64_t i = 0; i < n; ++i) {
    records.tokens.push_back(i % 11);
    for (std::int64_t d = 0; d < test::kWidth; ++d) records.keys.push_back(static_cast<float>(numbers.uniform(-1, 1)));
  }
  return records;
}

Result<KnnNeighbours> search(KnnStore& store, KnnSearchBy by, const std::vector<float>& queries, std::int64_t k) {
  const auto snapshot = store.snapshot(by);
  if (!snapshot.ok()) return snapshot.status();
  return snapshot.value()->search(
      {.queries = View<const float, 2>(queries.data(), {static_cast<std::int64_t>(queries.size()) / test::kWidth, test::kWidth}), .k = k});
}

std::string refusal(KnnStore& store) { return search(store, KnnSearchBy::graph, {0, 0, 0}, 3).status().message(); }

TEST(KnnGraph, FindsMostNeighboursAndTheirExactDistances) {
  const Folder folder;
  const auto store = test::made(folder / "notes.knn");
  ASSERT_TRUE(store->append(scattered(3000, 1)).ok());
  const auto report = store->make_graph({.least_records = 1000});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_GE(report.value().recall, 0.95);
  EXPECT_EQ(report.value().queries, 200);
  EXPECT_EQ(store->stats().value().graph_recall, report.value().recall);
  ASSERT_TRUE(store->append(scattered(10, 2)).ok());  // searched beside the graph, as beside the scan file
  const std::vector<float> queries = scattered(50, 3).keys;
  const auto exact = search(*store, KnnSearchBy::scan, queries, 8), near = search(*store, KnnSearchBy::graph, queries, 8);
  ASSERT_TRUE(exact.ok() && near.ok()) << near.status().message();
  std::int64_t same = 0;
  for (std::int64_t q = 0; q < 50; ++q)
    for (std::int64_t r = 0; r < 8; ++r) {
      EXPECT_GE(near.value().distances(q, r), exact.value().distances(q, r));
      for (std::int64_t s = 0; s < 8; ++s)
        if (near.value().ids(q, r) == exact.value().ids(q, s)) {
          ++same;
          EXPECT_EQ(near.value().distances(q, r), exact.value().distances(q, s));
        }
    }
  EXPECT_GE(same, 50 * 8 * 95 / 100);
}

TEST(KnnGraph, IsRefusedBelowTheFloorAndBelowTheSizeWhereItPays) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const auto store = test::made(path);
  ASSERT_TRUE(store->append(scattered(300, 1)).ok());
  EXPECT_EQ(store->make_graph().status().message(), path + ": holds 300 records; a graph is made from 10000 on");
  const auto poor =
      store->make_graph({.links = 2, .build_effort = 2, .search_effort = 2, .least_records = 100, .least_recall = 0.999, .k = 16});
  EXPECT_NE(poor.status().message().find("of the neighbours, the least is 0.999"), std::string::npos) << poor.status().message();
  EXPECT_FALSE(std::filesystem::exists(path + ".graph"));
  EXPECT_EQ(refusal(*store), path + ".graph: is no graph; knn graph makes one");
}

TEST(KnnGraph, OfAnotherGenerationIsNotSearchedAndCompactionRemovesIt) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const auto store = test::made(path);
  ASSERT_TRUE(store->append(scattered(300, 1)).ok());
  ASSERT_TRUE(store->make_graph({.least_records = 100}).ok());
  EXPECT_EQ(refusal(*store), "");
  ASSERT_TRUE(store->remove(std::vector<std::int64_t>{7}).ok());
  EXPECT_EQ(refusal(*store), path + ".graph: is of generation 1, the scan file of 2; knn graph makes it anew");
  ASSERT_TRUE(store->compact().ok());
  EXPECT_FALSE(std::filesystem::exists(path + ".graph"));
}

// Every byte changed, and shorter lengths: an error, or the right answer.
TEST(KnnGraph, DamageAnywhereIsFound) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const auto store = test::made(path);
  ASSERT_TRUE(store->append(scattered(40, 1)).ok());
  ASSERT_TRUE(store->make_graph({.least_records = 10}).ok());
  const std::string whole = test::read_file(path + ".graph");
  const std::vector<float> queries = scattered(3, 3).keys;
  const auto right = search(*store, KnnSearchBy::graph, queries, 4);
  ASSERT_TRUE(right.ok());
  const auto look = [&](const std::string& bytes, const std::string& what) {
    test::write_file(path + ".graph", bytes);
    const auto found = search(*store, KnnSearchBy::graph, queries, 4);
    if (found.ok()) {
      EXPECT_EQ(found.value().ids.values(), right.value().ids.values()) << what;
    }
    return found.ok();
  };
  std::int64_t refused = 0;
  std::string changed = whole;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    changed[at] = static_cast<char>(~whole[at]);
    refused += !look(changed, "byte " + std::to_string(at));
    changed[at] = whole[at];
  }
  EXPECT_EQ(refused, static_cast<std::int64_t>(whole.size()));
  for (std::size_t size = 0; size < whole.size(); size += 7) EXPECT_FALSE(look(whole.substr(0, size), "cut to " + std::to_string(size)));
  EXPECT_TRUE(look(whole, "whole"));
}

#else

TEST(KnnGraph, IsSaidToBeMissingWhereItWasNotBuilt) {
  const test::Folder folder;
  const auto store = test::made(folder / "notes.knn");
  ASSERT_TRUE(store->append(test::records_from(0, 20)).ok());
  EXPECT_EQ(store->make_graph({.least_records = 10}).status().message(),
            "graph: this program was built without hnswlib (Debian package libhnswlib-dev)");
}

#endif

}  // namespace
}  // namespace linearmem
