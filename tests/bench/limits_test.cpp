// The loops behind the limits do the work they are counted for, on every target; how fast is nobody's promise.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "limits.hpp"
#include "limits_kernel.hpp"
#include "linearmem/target.hpp"
#include "measure.hpp"

namespace linearmem::bench {
namespace {

class EveryTarget : public testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(choose_simd_target(before_).ok()); }
  template <typename Check>
  static void each_target(Check check) {
    for (const std::string& target : available_simd_targets()) {
      SCOPED_TRACE(target);
      ASSERT_TRUE(choose_simd_target(target).ok());
      check();
    }
  }

 private:
  std::string before_{simd_target()};
};

// x/2 + 1 from s: 2 + (s - 2) / 2^n after n steps; lanes start at s, s + 1, ..., and all lanes of all chains are summed.
template <typename T>
void expect_multiply_adds() {
  const double lanes_and_chains = static_cast<double>(flops_per_step(T{})) / 2;
  EXPECT_EQ(multiply_adds(T{5}, 200), 2 * lanes_and_chains);
  const double one_step = multiply_adds(T{6}, 1), none = multiply_adds(T{6}, 0);
  EXPECT_EQ(one_step, none / 2 + lanes_and_chains);
  EXPECT_EQ(none, 6 * lanes_and_chains + lanes_and_chains * (lanes_and_chains - 1) / 2);
}

TEST_F(EveryTarget, MultiplyAddsAreCarriedOut) {
  each_target([] {
    expect_multiply_adds<float>();
    expect_multiply_adds<double>();
  });
}

TEST_F(EveryTarget, SumReadsEveryValueAndScaleChangesEachOnce) {
  each_target([] {
    std::vector<float> values(3 * kStreamBlock);
    std::iota(values.begin(), values.end(), 0.0f);
    const double count = static_cast<double>(values.size());
    EXPECT_EQ(sum_of(values.data(), 3 * kStreamBlock), count * (count - 1) / 2);
    scale(values.data(), 3 * kStreamBlock, -2.0f);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], -2.0f * static_cast<float>(i));
  });
}

TEST(Sampler, CountsTheWorkOfAllThreads) {
  const Timing timing{.threads = 3, .least_seconds = 1e-4};
  std::int64_t pieces[3] = {};
  Sampler sampler(timing, 10.0, [&](int thread, std::int64_t repetitions) {
    pieces[thread] = repetitions;
    volatile double sum = 0;
    for (std::int64_t i = 0; i < 100 * repetitions; ++i) sum = sum + 1;
  });
  const double begin = seconds(Clock::wall), rate = sampler.per_second(), all = seconds(Clock::wall) - begin;
  EXPECT_EQ(pieces[1], pieces[0]);
  EXPECT_EQ(pieces[2], pieces[0]);
  EXPECT_GE(rate * all, 3 * 10.0 * static_cast<double>(pieces[0]));  // the last sample took no longer than everything
}

TEST(MemoryLevels, RiseAndEndInMemory) {
  const auto levels = memory_levels();
  ASSERT_EQ(levels.size(), 4u);
  for (std::size_t i = 1; i < levels.size(); ++i) EXPECT_GT(levels[i].bytes, levels[i - 1].bytes) << levels[i].name;
  EXPECT_EQ(levels.back().name, "memory");
}

TEST(Median, IsTheMiddle) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 3, 1, 2}), 2);
  EXPECT_EQ(median_of({7}), 7);
}

}  // namespace
}  // namespace linearmem::bench
