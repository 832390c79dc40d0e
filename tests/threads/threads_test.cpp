// Items that really run at once, on oneTBB's threads and on plain ones: the same bits as without, and no harm from memory running out.
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>

#include "core/executor_cases.hpp"
#include "foundation/work_split.hpp"
#include "linearmem/threads.hpp"

namespace linearmem {
namespace {

// New threads for each call; nothing but the standard library, so that ThreadSanitizer sees all of it.
class PlainThreads final : public Executor {
 public:
  explicit PlainThreads(std::int64_t width) : width_(width) {}
  std::int64_t width() const override { return width_; }
  std::int64_t least_work() const override { return 0; }
  void run(std::int64_t count, Item item, const void* context) const override {
    std::atomic<std::int64_t> next = 0;
    std::vector<std::thread> threads;
    for (std::int64_t n = 0; n < std::min(width_, count); ++n)
      threads.emplace_back([&] {
        for (std::int64_t index = next++; index < count; index = next++) item(context, index);
      });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  std::int64_t width_;
};

// oneTBB's, for any work however little.
class EagerTbb final : public Executor {
 public:
  explicit EagerTbb(std::int64_t width) : threads_(thread_executor(width).value()) {}
  std::int64_t width() const override { return threads_->width(); }
  std::int64_t least_work() const override { return 0; }
  void run(std::int64_t count, Item item, const void* context) const override { threads_->run(count, item, context); }

 private:
  std::unique_ptr<const Executor> threads_;
};

void expect_same_bits_on(const Executor& executor) {
  test::each_executor_case([&](const test::ExecutorCase& c) {
    if (c.settings.form == Form::explicit_) return;  // long, and cut as the others are
    test::expect_same_bits(test::run_case(c, &executor), test::run_case(c, nullptr));
  });
}

TEST(Threads, PlainOnesGiveTheSameBits) { expect_same_bits_on(PlainThreads(3)); }
TEST(Threads, TbbGivesTheSameBits) { expect_same_bits_on(EagerTbb(2)); }
TEST(Threads, MoreThanProcessorsGiveTheSameBits) { expect_same_bits_on(EagerTbb(7)); }

TEST(Threads, EveryItemRunsOnce) {
  for (std::int64_t width : {1, 2, 7}) {
    const EagerTbb executor(width);
    EXPECT_EQ(executor.width(), width);
    std::vector<std::atomic<int>> runs(1000);
    run_items(&executor, 1000, [&](std::int64_t index) { ++runs[static_cast<std::size_t>(index)]; });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
    run_items(&executor, 0, [&](std::int64_t) { ADD_FAILURE(); });
  }
}

// Two items that wait for each other come to an end only if both are under way.
TEST(Threads, ItemsRunAtOnce) {
  const EagerTbb executor(2);
  std::atomic<int> begun = 0;
  run_items(&executor, 2, [&](std::int64_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_EQ(begun, 2);
}

TEST(Threads, MemoryThatRunsOutReachesTheCallerOnce) {
  const EagerTbb executor(2);
  const auto run = [&] {
    run_items(&executor, 100, [](std::int64_t index) {
      if (index % 3 == 0) throw std::bad_alloc();
    });
  };
  EXPECT_THROW(run(), std::bad_alloc);
  EXPECT_THROW(run(), std::bad_alloc);
}

TEST(Threads, OneExecutorServesManyCallers) {
  const EagerTbb executor(2);
  const test::ExecutorCase c = test::executor_case(*find_mechanism("gated-delta-rule").value(), {3, 2, false});
  const NamedTensors expected = test::run_case(c, nullptr);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) test::expect_same_bits(test::run_case(c, &executor), expected);
    });
  for (std::thread& caller : callers) caller.join();
}

TEST(Threads, NumbersOutOfRangeAreRefused) {
  EXPECT_EQ(thread_executor(0).status().message(), "threads is 0, must be from 1 to 1024");
  EXPECT_EQ(thread_executor(1025).status().message(), "threads is 1025, must be from 1 to 1024");
  EXPECT_FALSE(thread_executor(-3).ok());
}

}  // namespace
}  // namespace linearmem
