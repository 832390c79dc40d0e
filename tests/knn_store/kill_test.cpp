// A writer that is killed at any moment: whatever it acknowledged through a pipe is there, and nothing half.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/support.hpp"
#include "knn_store/stores.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kBatch = 5;

// In the child: appends, replaces and removes until killed; after each change that has returned, one number goes into the pipe.
[[noreturn]] void write_until_killed(const std::string& path, int pipe) {
  const auto store = KnnStore::open(path, {}, KnnAccess::write, {.log_pages = 20});
  if (!store.ok()) ::_exit(3);
  const std::int64_t start = store.value()->stats().value().next_id / kBatch;
  for (std::int64_t batch = start;; ++batch) {
    const bool ok = store.value()->append(test::records_from(batch * kBatch, kBatch)).ok();
    if (!ok || ::write(pipe, &batch, sizeof batch) != static_cast<ssize_t>(sizeof batch)) ::_exit(4);
    if (batch % 3 == 0 && !store.value()->upsert(test::records_with_ids({batch * kBatch}, 1)).ok()) ::_exit(5);
    if (batch % 16 == 15 && !store.value()->compact().ok()) ::_exit(6);
  }
}

TEST(KnnKill, NothingAcknowledgedIsLostAtTwoHundredRandomMoments) {
  const test::Folder folder;
  const std::string path = folder / "notes.knn";
  test::made(path);
  test::Numbers numbers(13);
  std::int64_t acknowledged = -1;
  for (int round = 0; round < 200; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      write_until_killed(path, ends[1]);
    }
    ::close(ends[1]);
    ::usleep(static_cast<useconds_t>(numbers.whole(0, 30000)));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself with " << WEXITSTATUS(status);
    for (std::int64_t batch = 0; ::read(ends[0], &batch, sizeof batch) == static_cast<ssize_t>(sizeof batch);) acknowledged = batch;
    ::close(ends[0]);
    const auto store = test::opened(path, KnnAccess::read);
    ASSERT_TRUE(store) << round;
    const auto verified = store->verify();
    ASSERT_TRUE(verified.ok()) << round << ": " << verified.status().message();
    const std::int64_t records = verified.value().records;
    ASSERT_EQ(records % kBatch, 0) << round;
    ASSERT_GE(records, (acknowledged + 1) * kBatch) << round;
    ASSERT_LE(records, (acknowledged + 2) * kBatch) << round;
    acknowledged = records / kBatch - 1;  // one that was written but not told of is there to stay
  }
  EXPECT_GT(acknowledged, 100) << "the writer hardly wrote";
}

}  // namespace
}  // namespace linearmem
