// Single bytes of a small store changed, and its files cut short: what comes back is an error or the right answer, never a crash and
// never a wrong answer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "knn_store/stores.hpp"

namespace linearmem {
namespace {

using test::Folder;
using test::Held;
using test::held_by;
using test::records_from;

constexpr std::int64_t kRecords = 20;

// Copies of the files, so that each trial starts from the same.
class Damage : public testing::Test {
 protected:
  void SetUp() override {
    const auto store = test::made(path_);
    ASSERT_TRUE(store->append(records_from(0, kRecords)).ok());
    ASSERT_TRUE(store->remove(std::vector<std::int64_t>{5}).ok());
    ASSERT_TRUE(store->snapshot().ok());
    right_ = held_by(store->read_all().value());
    answer_ = answer_of(*store);
    ASSERT_EQ(answer_.size(), 4u);
    log_ = test::read_file(path_ + "-wal");  // while the store is open
    before_log_ = test::read_file(path_);
    mark_ = test::read_file(path_ + ".mark");
  }

  static std::vector<std::int64_t> answer_of(KnnStore& store) {
    const std::vector<float> query = {5, 6, 7};
    const auto snapshot = store.snapshot();
    if (!snapshot.ok()) return {};
    const auto found = snapshot.value()->search({.queries = View<const float, 2>(query.data(), {1, test::kWidth}), .k = 4});
    return found.ok() ? found.value().ids.values() : std::vector<std::int64_t>{};
  }

  struct Outcome {
    bool opened = false, answered = false, verified = false;
  };

  // What a reader makes of the files as they lie: an answer or a list that is there is right.
  Outcome look(const std::string& what) const {
    Outcome outcome;
    auto store = KnnStore::open(path_, expect_all(test::identity_of()), KnnAccess::read);
    if (!store.ok()) {
      EXPECT_NE(store.status().message().find(path_), std::string::npos) << what << ": " << store.status().message();
      return outcome;
    }
    outcome.opened = true;
    if (const auto answer = answer_of(*store.value()); !answer.empty()) {
      outcome.answered = true;
      EXPECT_EQ(answer, answer_) << what;
    }
    outcome.verified = store.value()->verify().ok();
    if (const auto all = store.value()->read_all(); all.ok()) {
      EXPECT_EQ(held_by(all.value()), right_) << what;
    } else {
      EXPECT_FALSE(outcome.verified) << what;
    }
    return outcome;
  }

  void put(const std::string& truth, const std::string& log, const std::string& scan) const {
    for (const char* end : {"", "-wal", "-shm", ".scan"}) std::filesystem::remove(path_ + end);
    test::write_file(path_, truth);
    if (!log.empty()) test::write_file(path_ + "-wal", log);
    if (!scan.empty()) test::write_file(path_ + ".scan", scan);
    test::write_file(path_ + ".mark", mark_);
  }

  const Folder folder_;
  const std::string path_ = folder_ / "notes.knn";
  Held right_;
  std::vector<std::int64_t> answer_;
  std::string log_, before_log_, mark_;
};

// Every place takes minutes: every seventh one, unless LINEARMEM_EVERY_BYTE is set.
std::size_t stride() { return std::getenv("LINEARMEM_EVERY_BYTE") ? 1 : 7; }

// Calls trial(bytes, what) for the file with one byte changed, at each place.
template <typename Trial>
void each_flip(const std::string& file, Trial trial) {
  std::string changed = file;
  for (std::size_t at = 0; at < file.size(); at += stride())
    for (const char bits : at % 16 == 0 ? std::string("\x01\xff") : std::string("\xff")) {
      changed[at] = static_cast<char>(file[at] ^ bits);
      trial(changed, "byte " + std::to_string(at));
      changed[at] = file[at];
    }
}

template <typename Trial>
void each_cut(const std::string& file, Trial trial) {
  for (std::size_t size = 0; size < file.size(); size += stride()) trial(file.substr(0, size), "cut to " + std::to_string(size));
}

TEST_F(Damage, OfTheTruthIsFoundOrHarmless) {
  const std::string truth = test::read_file(path_);
  std::int64_t refused = 0, harmless = 0;
  const auto trial = [&](const std::string& bytes, const std::string& what) {
    put(bytes, "", "");
    const Outcome outcome = look(what);
    ++(outcome.verified ? harmless : refused);
  };
  each_flip(truth, trial);
  each_cut(truth, trial);
  EXPECT_GT(refused * static_cast<std::int64_t>(stride()), 1000);
  RecordProperty("harmless", std::to_string(harmless));
}

// A searched store reads little of its truth: what the scan file answers must still be right.
TEST_F(Damage, OfTheTruthBesideAFreshScanFileGivesNoWrongAnswer) {
  const std::string truth = test::read_file(path_), scan = test::read_file(path_ + ".scan");
  each_flip(truth, [&](const std::string& bytes, const std::string& what) {
    put(bytes, "", scan);
    look(what);
  });
}

TEST_F(Damage, OfTheLogIsFoundOrHarmless) {
  ASSERT_GT(log_.size(), 4096u);
  const auto trial = [&](const std::string& bytes, const std::string& what) {
    put(before_log_, bytes, "");
    look(what);
  };
  each_flip(log_, trial);
  for (std::size_t size = 0; size < log_.size(); size += 7) trial(log_.substr(0, size), "cut to " + std::to_string(size));
}

// The scan file is made anew: every trial answers.
TEST_F(Damage, OfTheScanFileIsFoundAndMended) {
  const std::string truth = test::read_file(path_), scan = test::read_file(path_ + ".scan");
  const auto trial = [&](const std::string& bytes, const std::string& what) {
    put(truth, "", bytes);
    EXPECT_TRUE(look(what).answered) << what;
    EXPECT_EQ(test::read_file(path_ + ".scan"), scan) << what;
  };
  each_flip(scan, trial);
  for (std::size_t size = 0; size < scan.size(); size += 13) trial(scan.substr(0, size), "cut to " + std::to_string(size));
  trial(scan + '\0', "one byte more");
}

TEST_F(Damage, OfTheMarkAccusesNobody) {
  const std::string truth = test::read_file(path_);
  const auto trial = [&](const std::string& bytes, const std::string& what) {
    put(truth, "", "");
    test::write_file(path_ + ".mark", bytes);
    EXPECT_TRUE(look(what).verified) << what;
  };
  each_flip(mark_, trial);
  each_cut(mark_, trial);
}

}  // namespace
}  // namespace linearmem
