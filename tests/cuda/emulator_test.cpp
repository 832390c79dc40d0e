// The emulator sees what it is for: a race in a phase, a race between blocks, shared memory written where nobody waits, a number that was
// never written.
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

}  // namespace
}  // namespace linearmem
