// Every state that a crash may leave: whatever of the writes since the last sync has reached the disk, the store opens, holds every
// change that was acknowledged, and none in part. Without the sync of each change the same states lose some, so the rig can tell.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>
#include <random>
#include <set>

#include "knn_store/recording_vfs.hpp"
#include "knn_store/stores.hpp"

namespace linearmem {
namespace {

using test::DiskState;
using test::Folder;
using test::Held;
using test::held_by;
using test::RecordingVfs;
using test::records_from;
using test::records_with_ids;

constexpr std::int64_t kLogPages = 12;  // small, so that the log is folded again and again

// The changes a store goes through, and what it holds after each.
struct Change {
  const char* name;
  std::function<Status(KnnStore&)> make;
};

const std::vector<Change>& changes() {
  static const std::vector<Change> all = [] {
    const auto ok = [](const auto& result) { return result.status(); };
    std::vector<Change> list;
    for (std::int64_t i = 0; i < 6; ++i)
      list.push_back({"append", [=](KnnStore& store) { return ok(store.append(records_from(100 * i, 100))); }});
    list.push_back({"upsert", [=](KnnStore& store) { return ok(store.upsert(records_with_ids({3, 170, 600}, 1))); }});
    list.push_back({"remove", [=](KnnStore& store) { return ok(store.remove(std::vector<std::int64_t>{4, 600})); }});
    list.push_back({"remove by source", [=](KnnStore& store) { return ok(store.remove_where({.source = "document 1"})); }});
    list.push_back({"compact", [](KnnStore& store) { return store.compact(); }});
    for (std::int64_t i = 6; i < 10; ++i)
      list.push_back({"append", [=](KnnStore& store) { return ok(store.append(records_from(100 * i, 100))); }});
    return list;
  }();
  return all;
}

struct Recording {
  DiskState before;
  std::vector<test::Step> steps;
  std::vector<std::size_t> begun, acknowledged;  // by change: how many steps there were
  std::vector<Held> held;                        // before the first change, after the first, ...
};

DiskState disk_of(const std::string& path) {
  DiskState disk;
  for (const char* end : {"", "-wal"})
    if (std::filesystem::exists(path + end)) disk[path + end] = test::read_file(path + end);
  return disk;
}

Recording record(const std::string& path, bool synced) {
  Recording recording;
  RecordingVfs::instance().start();
  EXPECT_TRUE(KnnStore::create(path, test::identity_of()).ok());
  recording.before = disk_of(path);
  recording.held.push_back({});
  {
    const auto store = test::opened(path, KnnAccess::write, {.vfs = RecordingVfs::kName, .synced = synced, .log_pages = kLogPages});
    for (const Change& change : changes()) {
      recording.begun.push_back(RecordingVfs::instance().steps().size());
      const Status status = change.make(*store);
      EXPECT_TRUE(status.ok()) << change.name << ": " << status.message();
      recording.acknowledged.push_back(RecordingVfs::instance().steps().size());
      recording.held.push_back(held_by(store->read_all().value()));
    }
  }
  recording.steps = RecordingVfs::instance().steps();
  return recording;
}

// Changes that must be there after so many steps, and that may.
struct Bounds {
  std::size_t least = 0, most = 0;
};

Bounds bounds_of(const Recording& recording, std::size_t count) {
  Bounds bounds;
  for (std::size_t i = 0; i < recording.begun.size(); ++i) {
    if (recording.acknowledged[i] <= count) bounds.least = i + 1;
    if (recording.begun[i] < count) bounds.most = i + 1;
  }
  return bounds;
}

// One crash state put on disk and opened: empty, or what is wrong with it.
std::string fault_of(const Recording& recording, const DiskState& disk, const Bounds& bounds, const std::string& path) {
  for (const char* end : {"", "-wal", "-shm", ".mark", ".scan"}) std::filesystem::remove(path + end);
  for (const auto& [file, bytes] : disk) test::write_file(file, bytes);
  RecordingVfs::instance().start();  // its syncs cost nothing
  auto store = KnnStore::open(path, expect_all(test::identity_of()), KnnAccess::read, {.vfs = RecordingVfs::kName});
  if (!store.ok()) return "does not open: " + store.status().message();
  if (const auto verified = store.value()->verify(); !verified.ok()) return "is corrupt: " + verified.status().message();
  const Held held = held_by(store.value()->read_all().value());
  for (std::size_t i = bounds.least; i <= std::max(bounds.least, bounds.most); ++i)
    if (held == recording.held[i]) return "";
  for (std::size_t i = 0; i < bounds.least; ++i)
    if (held == recording.held[i]) return "lost acknowledged changes: holds " + std::to_string(i) + " of " + std::to_string(bounds.least);
  return "holds a change in part";
}

class Rig {
 public:
  Rig(const Recording& recording, std::string path) : recording_(recording), path_(std::move(path)) {}

  // Looks at nothing more once it has found a fault.
  void stop_at_a_fault() { stops_ = true; }

  // At every step every choice among the writes that no sync has made certain, or 200 drawn ones where there are more than eight of them;
  // and the last write torn at each sector.
  void look_everywhere() {
    for (std::size_t count = 0; count <= recording_.steps.size(); ++count) {
      const std::vector<std::size_t> open = test::uncertain(recording_.steps, count);
      const bool all = open.size() <= 8;
      for (std::uint64_t choice = 0; choice < (all ? std::uint64_t{1} << open.size() : 202); ++choice) {
        const std::uint64_t bits = all || choice == 0 ? choice : choice == 1 ? ~std::uint64_t{0} : draw_();
        std::vector<bool> reached(count);
        for (std::size_t i = 0; i < open.size(); ++i) reached[open[i]] = (bits >> (i % 64) & 1) != 0;
        look(count, recording_.steps, [&](std::size_t step) { return reached[step]; }, "writes chosen by " + std::to_string(bits));
      }
      if (count > 0) tear(count);
    }
  }

  std::size_t states() const { return seen_.size(); }
  std::int64_t faults = 0;
  std::string first;

 private:
  void tear(std::size_t count) {
    constexpr std::size_t kSector = 512;
    const std::size_t size = recording_.steps[count - 1].bytes.size();
    std::vector<test::Step> torn(recording_.steps.begin(), recording_.steps.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t kept = size / kSector * kSector; kept >= kSector; kept -= kSector) {
      torn.back().bytes.resize(kept);
      if (kept < size)
        look(
            count, torn, [](std::size_t) { return true; }, "the last write torn at " + std::to_string(kept));
    }
  }

  // Each state of the disk once, for each number of changes that must be on it.
  void look(std::size_t count, const std::vector<test::Step>& steps, const std::function<bool(std::size_t)>& reached,
            const std::string& what) {
    if (stops_ && faults > 0) return;
    const DiskState disk = test::disk_after(recording_.before, steps, count, reached);
    const Bounds bounds = bounds_of(recording_, count);
    std::string state = std::to_string(bounds.least) + " " + std::to_string(bounds.most);
    for (const auto& [file, bytes] : disk) state += "|" + file + "|" + bytes;
    if (!seen_.insert(std::hash<std::string>()(state)).second) return;
    const std::string fault = fault_of(recording_, disk, bounds, path_);
    if (!fault.empty() && faults++ == 0) first = "after step " + std::to_string(count) + ", " + what + ": " + fault;
  }

  const Recording& recording_;
  std::string path_;
  std::set<std::size_t> seen_;
  std::mt19937_64 draw_{11};
  bool stops_ = false;
};

TEST(KnnCrashStates, NothingAcknowledgedIsLostAndNothingIsHalf) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const Recording recording = record(path, true);
  Rig rig(recording, path);
  rig.look_everywhere();
  EXPECT_EQ(rig.faults, 0) << rig.first;
  EXPECT_GE(rig.states(), 3000u);
  RecordProperty("states", std::to_string(rig.states()));
}

TEST(KnnCrashStates, WithoutASyncOfEachChangeTheRigFindsLosses) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const Recording recording = record(path, false);
  Rig rig(recording, path);
  rig.stop_at_a_fault();
  rig.look_everywhere();
  EXPECT_GT(rig.faults, 0);
  EXPECT_NE(rig.first.find("lost acknowledged changes"), std::string::npos) << rig.first;
}

struct Refusal {
  const char* name;
  int write_code, sync_code;
};

// A step that fails once: the change is refused, the store is as before, and the same change then goes through.
TEST(KnnFaults, ADiskThatRefusesOneStepLeavesTheStoreAsBefore) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const Recording recording = record(path, true);
  std::int64_t refused = 0;
  for (const Refusal& refusal : {Refusal{"full", SQLITE_FULL, SQLITE_IOERR_FSYNC}, {"broken", SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC}})
    for (std::size_t at = 0; at < recording.steps.size(); ++at) {
      for (const char* end : {"", "-wal", "-shm", ".mark", ".scan"}) std::filesystem::remove(path + end);
      test::write_file(path, recording.before.at(path));
      RecordingVfs::instance().start();
      RecordingVfs::instance().fail(static_cast<std::int64_t>(at), refusal.write_code, refusal.sync_code, false);
      auto store = test::opened(path, KnnAccess::write, {.vfs = RecordingVfs::kName, .log_pages = kLogPages});
      ASSERT_TRUE(store);
      std::size_t done = 0;
      Status status;
      while (done < changes().size() && (status = changes()[done].make(*store)).ok()) ++done;
      const std::string where = std::string(refusal.name) + " at step " + std::to_string(at);
      if (done < changes().size()) {
        ++refused;
        EXPECT_NE(status.message().find(path), std::string::npos) << status.message();
        ASSERT_EQ(held_by(store->read_all().value()), recording.held[done]) << where;
        status = changes()[done].make(*store);
        ASSERT_TRUE(status.ok()) << where << " again: " << status.message();
        ASSERT_EQ(held_by(store->read_all().value()), recording.held[done + 1]) << where;
        ++done;
      }
      store.reset();
      RecordingVfs::instance().start();
      store = test::opened(path, KnnAccess::read, {.vfs = RecordingVfs::kName});
      ASSERT_TRUE(store);
      ASSERT_TRUE(store->verify().ok()) << where;
      ASSERT_EQ(held_by(store->read_all().value()), recording.held[done]) << where;
    }
  EXPECT_GT(refused, 100);
}

// A disk that is full, or gone, from some step on; the process ends, and another opens the store when the disk is well again.
TEST(KnnFaults, ADiskThatRefusesFromSomeStepOnLosesNothingAcknowledged) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const Recording recording = record(path, true);
  std::int64_t whole = 0;
  for (const Refusal& refusal : {Refusal{"full", SQLITE_FULL, SQLITE_IOERR_FSYNC}, {"gone", SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC}})
    for (std::size_t at = 0; at < recording.steps.size(); ++at) {
      for (const char* end : {"", "-wal", "-shm", ".mark", ".scan"}) std::filesystem::remove(path + end);
      test::write_file(path, recording.before.at(path));
      RecordingVfs::instance().start();
      RecordingVfs::instance().fail(static_cast<std::int64_t>(at), refusal.write_code, refusal.sync_code, true);
      std::size_t done = 0;
      {
        const auto store = test::opened(path, KnnAccess::write, {.vfs = RecordingVfs::kName, .log_pages = kLogPages});
        ASSERT_TRUE(store);
        while (done < changes().size() && changes()[done].make(*store).ok()) ++done;
      }
      RecordingVfs::instance().start();
      const auto store = test::opened(path, KnnAccess::read, {.vfs = RecordingVfs::kName});
      const std::string where = std::string(refusal.name) + " from step " + std::to_string(at);
      ASSERT_TRUE(store) << where;
      ASSERT_TRUE(store->verify().ok()) << where;
      const Held held = held_by(store->read_all().value());
      // The log may hold the whole of the refused change, written before its sync failed: never a part of it.
      const bool next = done < changes().size() && held == recording.held[done + 1] && held != recording.held[done];
      whole += next;
      ASSERT_TRUE(held == recording.held[done] || next) << where;
    }
  RecordProperty("refused changes found whole", std::to_string(whole));
}

}  // namespace
}  // namespace linearmem
