// What a store keeps, finds and refuses.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <thread>

#include "core/support.hpp"
#include "knn_store/stores.hpp"

namespace linearmem {
namespace {

using test::Folder;
using test::held_by;
using test::identity_of;
using test::made;
using test::opened;
using test::records_from;
using test::records_with_ids;

std::shared_ptr<const KnnSnapshot> snapshot_of(KnnStore& store) {
  auto snapshot = store.snapshot();
  EXPECT_TRUE(snapshot.ok()) << snapshot.status().message();
  return snapshot.ok() ? snapshot.value() : nullptr;
}

std::vector<std::int64_t> nearest(const KnnSnapshot& snapshot, const std::vector<float>& query, std::int64_t k) {
  const auto found = snapshot.search({.queries = View<const float, 2>(query.data(), {1, test::kWidth}), .k = k, .at_most_k = true});
  EXPECT_TRUE(found.ok()) << found.status().message();
  return found.ok() ? found.value().ids.values() : std::vector<std::int64_t>{};
}

TEST(KnnStore, KeepsWhatWasAddedAcrossOpenings) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  EXPECT_EQ(made(path)->append(records_from(0, 20)).value().back(), 19);
  EXPECT_EQ(opened(path)->append(records_from(20, 5)).value(), (std::vector<std::int64_t>{20, 21, 22, 23, 24}));
  auto expected = records_from(0, 25);
  for (std::int64_t i = 0; i < 25; ++i) expected.ids.push_back(i);
  EXPECT_EQ(held_by(opened(path, KnnAccess::read)->read_all().value()), held_by(expected));
  EXPECT_EQ(opened(path)->verify().value().records, 25);
}

TEST(KnnStore, AnEmptyStoreHasNoNeighboursAndNoDistribution) {
  const Folder folder;
  const auto store = made(folder / "notes.knn");
  const auto snapshot = snapshot_of(*store);
  EXPECT_EQ(snapshot->count(), 0);
  EXPECT_TRUE(nearest(*snapshot, {1, 2, 3}, 5).empty());
  const std::vector<float> query = {1, 2, 3};
  const auto refused = snapshot->search({.queries = View<const float, 2>(query.data(), {1, 3}), .k = 5});
  EXPECT_EQ(refused.status().message(), "knn_search: k is 5, but there are 0 records; allow at most k to take them all");
}

// The same through the scan file, through records added after it was made, and after both were folded.
TEST(KnnStore, SearchesAreExactWhateverHoldsTheKeys) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const auto store = made(path);
  ASSERT_TRUE(store->append(records_from(0, 50)).ok());
  EXPECT_EQ(nearest(*snapshot_of(*store), {48.4f, 49.4f, 50.4f}, 3), (std::vector<std::int64_t>{48, 49, 47}));
  EXPECT_EQ(store->stats().value().scan, "fresh");
  ASSERT_TRUE(store->append(records_from(50, 50)).ok());
  EXPECT_EQ(store->stats().value().scan, "stale by 1 changes");
  EXPECT_EQ(nearest(*snapshot_of(*store), {49.6f, 50.6f, 51.6f}, 4), (std::vector<std::int64_t>{50, 49, 51, 48}));
  EXPECT_EQ(store->stats().value().scan, "stale by 1 changes") << "few new records are searched beside the scan file";
  ASSERT_TRUE(store->remove(std::vector<std::int64_t>{50}).ok());
  EXPECT_EQ(nearest(*snapshot_of(*store), {49.6f, 50.6f, 51.6f}, 4), (std::vector<std::int64_t>{49, 51, 48, 52}));
  EXPECT_EQ(store->stats().value().scan, "fresh");
  std::filesystem::remove(path + ".scan");
  EXPECT_EQ(nearest(*snapshot_of(*store), {49.6f, 50.6f, 51.6f}, 4), (std::vector<std::int64_t>{49, 51, 48, 52}));
}

TEST(KnnStore, TiesGoToTheSmallerIdAcrossTheScanFileAndNewRecords) {
  const Folder folder;
  const auto store = made(folder / "notes.knn");
  KnnRecords same;
  for (int i = 0; i < 3; ++i) same.tokens.push_back(i), same.keys.insert(same.keys.end(), {1, 1, 1});
  ASSERT_TRUE(store->append(same).ok());
  snapshot_of(*store);
  ASSERT_TRUE(store->append(same).ok());
  EXPECT_EQ(nearest(*snapshot_of(*store), {0, 0, 0}, 4), (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(KnnStore, UpsertReplacesById) {
  const Folder folder;
  const auto store = made(folder / "notes.knn");
  ASSERT_TRUE(store->append(records_from(0, 10)).ok());
  snapshot_of(*store);
  const auto done = store->upsert(records_with_ids({3, 12, 3}, 1));
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(done.value().added, 1);
  EXPECT_EQ(done.value().replaced, 2);
  const auto held = held_by(store->read_all().value());
  EXPECT_EQ(held.size(), 11u);
  EXPECT_EQ(held.at(3), held_by(records_with_ids({3}, 1)).at(3));
  EXPECT_EQ(nearest(*snapshot_of(*store), {3.125f, 4.125f, 5.125f}, 1), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(store->append(records_from(0, 1)).value(), (std::vector<std::int64_t>{13})) << "ids are never given twice";
  EXPECT_TRUE(store->verify().ok());
}

TEST(KnnStore, AnUnknownIdChangesNothingAndIsNamed) {
  const Folder folder;
  const auto store = made(folder / "notes.knn");
  ASSERT_TRUE(store->append(records_from(0, 5)).ok());
  const auto before = store->stats().value();
  const auto nothing = store->remove(std::vector<std::int64_t>{77}).value();
  EXPECT_EQ(nothing.removed, 0);
  EXPECT_EQ(nothing.unknown, (std::vector<std::int64_t>{77}));
  EXPECT_EQ(store->stats().value().generation, before.generation);
  const auto some = store->remove(std::vector<std::int64_t>{2, 77, 2}).value();
  EXPECT_EQ(some.removed, 1);
  EXPECT_EQ(some.unknown, (std::vector<std::int64_t>{77, 2}));
}

TEST(KnnStore, RemovedAndAddedAgainLeavesTheOthers) {
  const Folder folder;
  const auto store = made(folder / "notes.knn");
  ASSERT_TRUE(store->append(records_from(0, 6)).ok());
  ASSERT_TRUE(store->remove(std::vector<std::int64_t>{2}).ok());
  ASSERT_TRUE(store->upsert(records_with_ids({2}, 0)).ok());
  auto expected = records_from(0, 6);
  for (std::int64_t i = 0; i < 6; ++i) expected.ids.push_back(i);
  EXPECT_EQ(held_by(store->read_all().value()), held_by(expected));
  EXPECT_EQ(nearest(*snapshot_of(*store), {2, 3, 4}, 3), (std::vector<std::int64_t>{2, 1, 3}));
}

TEST(KnnStore, RemovesByFilter) {
  const Folder folder;
  const auto store = made(folder / "notes.knn");
  ASSERT_TRUE(store->append(records_from(0, 40)).ok());
  EXPECT_EQ(store->remove_where({.source = "document 1"}).value(), 10);
  EXPECT_EQ(store->remove_where({.token = 3, .first_id = 20, .last_id = 31}).value(), 2);  // 24 and 31
  EXPECT_EQ(store->remove_where({.token = 99}).value(), 0);
  EXPECT_EQ(store->remove_where({}).status().message().substr((folder / "notes.knn").string().size()),
            ": the filter sets nothing; to remove every record set first_id to 0");
  EXPECT_EQ(store->remove_where({.first_id = 0}).value(), 28);
  EXPECT_EQ(store->verify().value().records, 0);
}

TEST(KnnStore, ADomainSeesItsOwnRecordsAlone) {
  const Folder folder;
  const std::string foreign = folder / "foreign.knn", own = folder / "own.knn";
  ASSERT_TRUE(KnnStore::create(foreign, identity_of("foreign")).ok());
  ASSERT_TRUE(KnnStore::create(own, identity_of("own")).ok());
  const auto write = [&](const std::string& path, const char* domain, std::int64_t first, std::int64_t n) {
    ASSERT_TRUE(KnnStore::open(path, {.domain = domain}, KnnAccess::write).value()->append(records_from(first, n)).ok());
  };
  write(foreign, "foreign", 0, 5000);
  write(own, "own", 9000, 10);
  const auto store = KnnStore::open(own, {.domain = "own"}, KnnAccess::read).value();
  EXPECT_EQ(nearest(*snapshot_of(*store), {3, 4, 5}, 5), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(store->read_all().value().tokens[0], 9000 % 7);
  EXPECT_EQ(KnnStore::open(foreign, {.domain = "own"}, KnnAccess::read).status().message(),
            foreign + ": domain differs: the store has \"foreign\", \"own\" is expected");
  // A scan file of another domain, put in place of one's own, is not searched.
  ASSERT_TRUE(KnnStore::open(foreign, {}, KnnAccess::read).value()->snapshot().ok());
  std::filesystem::copy_file(foreign + ".scan", own + ".scan", std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(snapshot_of(*KnnStore::open(own, {}, KnnAccess::read).value())->count(), 10);
}

TEST(KnnStore, ConcurrentUpsertsOfOneIdLeaveOneRecord) {
  const Folder folder;
  const auto store = made(folder / "notes.knn");
  std::vector<std::thread> threads;
  for (std::int64_t turn = 0; turn < 4; ++turn)
    threads.emplace_back([&, turn] {
      for (int i = 0; i < 5; ++i) EXPECT_TRUE(store->upsert(records_with_ids({7}, turn)).ok());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store->read_all().value().ids, (std::vector<std::int64_t>{7}));
  EXPECT_EQ(store->verify().value().generation, 20);
}

// Every snapshot is one of the states between changes: the newest id it holds tells which, and all before it are there.
TEST(KnnStore, ReadersSeeWholeChangesWhileAWriterWrites) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const auto writer = made(path);
  constexpr std::int64_t kBatches = 30, kBatch = 7;
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; ++r)
    readers.emplace_back([&] {
      const auto store = opened(path, KnnAccess::read);
      std::int64_t last = 0;
      while (!done) {
        const auto snapshot = snapshot_of(*store);
        ASSERT_TRUE(snapshot);
        EXPECT_EQ(snapshot->count() % kBatch, 0);
        EXPECT_GE(snapshot->count(), last);
        last = snapshot->count();
        const std::vector<std::int64_t> newest = last > 0 ? std::vector<std::int64_t>{last - 1} : std::vector<std::int64_t>{};
        EXPECT_EQ(nearest(*snapshot, {1e6f, 1e6f, 1e6f}, 1), newest);
      }
    });
  for (std::int64_t batch = 0; batch < kBatches; ++batch) ASSERT_TRUE(writer->append(records_from(batch * kBatch, kBatch)).ok());
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(snapshot_of(*opened(path, KnnAccess::read))->count(), kBatches * kBatch);
}

TEST(KnnStore, NothingRemovedIsLeftInTheBytesAfterCompaction) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const std::string secret = "the secret document", key_bytes("\x78\x56\x34\x12\x21\x43\x65\x07\x11\x22\x33\x44", 12);
  KnnRecords records = records_from(0, 300);
  std::vector<float> secret_key(3);
  std::memcpy(secret_key.data(), key_bytes.data(), 12);
  records.tokens.push_back(5), records.sources.push_back(secret);
  records.keys.insert(records.keys.end(), secret_key.begin(), secret_key.end());
  const auto found_in = [&] {
    std::vector<std::string> names;
    for (const std::string& name : folder.files()) {
      const std::string bytes = test::read_file(folder / name);
      if (bytes.find(secret) != std::string::npos || bytes.find(key_bytes) != std::string::npos) names.push_back(name);
    }
    return names;
  };
  const auto store = made(path);
  ASSERT_TRUE(store->append(records).ok());
  snapshot_of(*store);
  test::write_file(folder / ".notes.knn.scan.123-0.part", secret);  // of a process that was killed
  EXPECT_EQ(found_in(), (std::vector<std::string>{".notes.knn.scan.123-0.part", "notes.knn-wal", "notes.knn.scan"}))
      << "the search finds what is there";
  EXPECT_EQ(store->remove_where({.source = secret}).value(), 1);
  const Status status = store->compact();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(found_in().empty());
  EXPECT_EQ(snapshot_of(*store)->count(), 300);
  EXPECT_TRUE(found_in().empty());
  EXPECT_EQ(store->verify().value().records, 300);
}

TEST(KnnStore, ACutLogOrAnOlderCopyIsFoundOut) {
  const Folder folder;
  const std::string path = folder / "notes.knn", copy = folder / "copy";
  ASSERT_TRUE(made(path)->append(records_from(0, 3)).ok());
  std::filesystem::copy_file(path, copy);
  ASSERT_TRUE(opened(path)->append(records_from(3, 3)).ok());
  std::filesystem::copy_file(copy, path, std::filesystem::copy_options::overwrite_existing);
  const auto store = KnnStore::open(path, {}, KnnAccess::read);
  EXPECT_EQ(
      store.status().message(),
      path + ": holds generation 1, but 2 was acknowledged: its log was cut or an older copy was put in its place; restore it, or remove " +
          path + ".mark to take it as it is");
  std::filesystem::remove(path + ".mark");
  EXPECT_EQ(opened(path)->verify().value().records, 3);
}

TEST(KnnStore, ANewStoreIsNotHauntedByWhatAnOldOneLeft) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  {
    const auto old = made(path);
    ASSERT_TRUE(old->append(records_from(0, 5)).ok());
    snapshot_of(*old);
    std::filesystem::copy_file(path + "-wal", folder / "log");
  }
  std::filesystem::remove(path);
  std::filesystem::copy_file(folder / "log", path + "-wal");
  EXPECT_EQ(KnnStore::create(path, identity_of()).message(),
            path + "-wal: is left of another store, whose changes would be taken for this one's; remove it first");
  std::filesystem::remove(path + "-wal");
  const auto fresh = made(path);  // beside the old mark and scan file
  EXPECT_EQ(fresh->verify().value().records, 0);
  EXPECT_EQ(snapshot_of(*fresh)->count(), 0);
}

TEST(KnnStore, SearchesFromMemoryWhereTheScanFileCannotBeWrittenAndSaysSo) {
  const Folder folder;
  const auto store = made(folder / "notes.knn");
  ASSERT_TRUE(store->append(records_from(0, 200)).ok());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto snapshot = snapshot_of(*store);
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(snapshot);
  EXPECT_NE(snapshot->scan().find("in memory: "), std::string::npos) << snapshot->scan();
  EXPECT_EQ(nearest(*snapshot, {48.4f, 49.4f, 50.4f}, 3), (std::vector<std::int64_t>{48, 49, 47}));
  EXPECT_EQ(snapshot_of(*store)->scan(), "mapped");
}

}  // namespace
}  // namespace linearmem
