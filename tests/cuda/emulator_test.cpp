// The emulator sees what it is for: a race in a phase, a race between blocks, shared memory written where nobody waits or past its end, a number
// that was never written; and, thread by thread, memory written while others still read it and threads that do not wait alike.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cuda/emulator.hpp"

namespace linearmem {
namespace {

using test::EmulatedBlock;
using test::Order;

constexpr int kThreads = 64;

std::vector<float> run(Order order, void (*kernel)(EmulatedBlock&, std::vector<float>&), bool* broken = nullptr) {
  cuda::Launch launch{.threads = kThreads, .shared_bytes = kThreads * 4};
  EmulatedBlock block(0, launch, order);
  std::vector<float> out(kThreads);
  kernel(block, out);
  if (broken) *broken = block.broken();
  return out;
}

// Every thread hands its number to its neighbour, and reads what it was handed: in the same phase, or in the next.
template <bool kWaits>
void hand_on(EmulatedBlock& block, std::vector<float>& out) {
  float* shared = static_cast<float*>(block.shared());
  block.each([&](int thread) {
    shared[(thread + 1) % kThreads] = static_cast<float>(thread);
    if (!kWaits) out[static_cast<std::size_t>(thread)] = shared[thread];
  });
  if (kWaits) block.each_apart([&](int thread) { out[static_cast<std::size_t>(thread)] = shared[thread]; });
}

TEST(CudaEmulator, ARaceGivesOtherNumbersInAnotherOrder) {
  const std::vector<float> right = run(Order::rising, hand_on<true>);
  for (Order order : {Order::falling, Order::shuffled}) {
    EXPECT_EQ(run(order, hand_on<true>), right);
    EXPECT_NE(run(order, hand_on<false>), run(Order::rising, hand_on<false>));
  }
}

TEST(CudaEmulator, SharedMemoryIsNotWrittenWhereNobodyWaits) {
  bool broken = false;
  run(Order::rising, hand_on<true>, &broken);
  EXPECT_FALSE(broken);
  const auto careless = [](EmulatedBlock& block, std::vector<float>&) {
    float* shared = static_cast<float*>(block.shared());
    block.each_apart([&](int thread) { shared[thread] = 1; });
  };
  run(Order::rising, careless, &broken);
  EXPECT_TRUE(broken);
}

TEST(CudaEmulator, RegistersAndSharedMemoryHoldNaNAtFirst) {
  const auto read = [](EmulatedBlock& block, std::vector<float>& out) {
    EmulatedBlock::Registers<float> values(block);
    block.each_apart([&](int thread) {
      out[static_cast<std::size_t>(thread)] = thread % 2 == 0 ? values[thread] : static_cast<float*>(block.shared())[thread];
    });
  };
  for (float value : run(Order::rising, read)) EXPECT_TRUE(std::isnan(value));
}

TEST(CudaEmulator, NeighboursSumAndFindTheLargest) {
  const auto across = [](EmulatedBlock& block, std::vector<float>& out) {
    EmulatedBlock::Registers<float> sums(block), largest(block);
    block.each_apart([&](int thread) { sums[thread] = largest[thread] = static_cast<float>(thread); });
    block.sum_across(sums, 4);
    block.max_across(largest, 8);
    block.each_apart([&](int thread) { out[static_cast<std::size_t>(thread)] = 100 * largest[thread] + sums[thread]; });
  };
  const std::vector<float> got = run(Order::falling, across);
  for (int thread = 0; thread < kThreads; ++thread)
    EXPECT_EQ(got[static_cast<std::size_t>(thread)], static_cast<float>(100 * (thread / 8 * 8 + 7) + thread / 4 * 16 + 6));
}

TEST(CudaEmulator, SharedMemoryEndsWhereTheLaunchSaysSo) {
  bool broken = false;
  run(Order::rising, [](EmulatedBlock& block, std::vector<float>&) {
    block.each([&](int thread) { static_cast<float*>(block.shared())[thread + 1] = 1; });
  }, &broken);
  EXPECT_TRUE(broken);
}

// A kernel for blocks of either kind; out [kThreads].
struct OutArguments {
  float* out;
};

bool run_by_threads(bool (*kernel)(std::int64_t, void*, int, const OutArguments&, bool), std::vector<float>& out, bool falling) {
  test::SharedMemory shared(kThreads * 4);
  out.assign(kThreads, std::nanf(""));
  return kernel(0, shared.data(), kThreads, {out.data()}, falling);
}

// Numbers are written, read by the other warp, and written over: with or without waiting for the readers.
template <bool kWaits>
struct WriteOver {
  using Arguments = OutArguments;
  template <typename Block>
  static void run(Block& block, const Arguments& a) {
    auto* shared = static_cast<float*>(block.shared());
    block.each([&](int thread) { shared[thread] = static_cast<float>(thread); });
    block.each_apart([&](int thread) { a.out[thread] = shared[(thread + 32) % kThreads]; });
    if (kWaits) block.each([](int) {});
    block.each([&](int thread) { shared[thread] = -1; });
  }
};

TEST(CudaEmulator, ThreadByThreadAWriteDoesNotWaitForReaders) {
  std::vector<float> out, right(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) right[static_cast<std::size_t>(thread)] = static_cast<float>((thread + 32) % kThreads);
  for (bool falling : {false, true}) {
    EXPECT_TRUE(run_by_threads(&test::run_threaded<WriteOver<true>>, out, falling));
    EXPECT_EQ(out, right);
    EXPECT_TRUE(run_by_threads(&test::run_threaded<WriteOver<false>>, out, falling));
    EXPECT_NE(out, right);
  }
  EmulatedBlock block(0, {.threads = kThreads, .shared_bytes = kThreads * 4}, Order::shuffled);
  WriteOver<false>::run(block, {out.data()});
  EXPECT_EQ(out, right);  // by phases it is not seen
}

// Some threads leave before the others wait: for the block, or for an exchange of their warp.
template <bool kForBlock>
struct LeaveEarly {
  using Arguments = OutArguments;
  template <typename Block>
  static void run(Block& block, const Arguments& a) {
    int me = 0;
    block.each_apart([&](int thread) { me = thread; });
    if (me == kThreads - 1) return;
    typename Block::template Registers<float> sums(block);
    sums[me] = 1;
    if (kForBlock) block.each([](int) {});
    else block.sum_across(sums, 4);
    a.out[me] = sums[me];
  }
};

// Every thread waits, but not all at the same place.
struct WaitApart {
  using Arguments = OutArguments;
  template <typename Block>
  static void run(Block& block, const Arguments&) {
    int me = 0;
    block.each_apart([&](int thread) { me = thread; });
    if (me < 32) block.each([](int) {});
    else block.each([&](int) { me = 0; });
  }
};

TEST(CudaEmulator, ThreadByThreadAllMustWaitAlike) {
  std::vector<float> out;
  for (bool falling : {false, true}) {
    EXPECT_FALSE(run_by_threads(&test::run_threaded<LeaveEarly<true>>, out, falling));
    EXPECT_FALSE(run_by_threads(&test::run_threaded<LeaveEarly<false>>, out, falling));
    EXPECT_FALSE(run_by_threads(&test::run_threaded<WaitApart>, out, falling));
  }
}

struct Exchange {
  using Arguments = OutArguments;
  template <typename Block>
  static void run(Block& block, const Arguments& a) {
    typename Block::template Registers<float> sums(block), largest(block);
    block.each_apart([&](int thread) { sums[thread] = largest[thread] = static_cast<float>(thread * thread % 37); });
    block.sum_across(sums, 16);
    block.max_across(largest, 8);
    block.each_apart([&](int thread) { a.out[thread] = 1000 * largest[thread] + sums[thread]; });
  }
};

TEST(CudaEmulator, ThreadsAndPhasesExchangeAlike) {
  std::vector<float> by_threads, by_phases(kThreads);
  EmulatedBlock block(0, {.threads = kThreads, .shared_bytes = 16}, Order::rising);
  Exchange::run(block, {by_phases.data()});
  for (bool falling : {false, true}) {
    EXPECT_TRUE(run_by_threads(&test::run_threaded<Exchange>, by_threads, falling));
    EXPECT_EQ(by_threads, by_phases);
  }
}

}  // namespace
}  // namespace linearmem
