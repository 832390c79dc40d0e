// Recall without training: reads are those of the rules written out, the theory lies in the samples, the stack reads what it should.
#include "experiments/recall.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "experiments/hybrid_recall.hpp"

namespace linearmem {
namespace {

// The read of one key, pair by pair, from the rule itself.
std::vector<double> written_out(const RecallMemory& memory, const RecallPairs& pairs, const double* query) {
  const std::int64_t M = pairs.keys.extents()[0], K = pairs.keys.extents()[1], V = pairs.values.extents()[1];
  const bool delta = memory.kind == Recalling::delta || memory.kind == Recalling::gated_delta;
  const double alpha = memory.kind == Recalling::ssd || memory.kind == Recalling::gated_delta ? memory.alpha : 1;
  Tensor<double, 2> S({K, V});
  for (std::int64_t t = 0; t < M; ++t)
    for (std::int64_t j = 0; j < V; ++j) {
      double read = 0;
      for (std::int64_t i = 0; i < K; ++i) read += pairs.keys(t, i) * (S(i, j) *= alpha);
      for (std::int64_t i = 0; i < K; ++i) S(i, j) += pairs.keys(t, i) * (pairs.values(t, j) - (delta ? read : 0));
    }
  std::vector<double> o(static_cast<std::size_t>(V));
  for (std::int64_t i = 0; i < K; ++i)
    for (std::int64_t j = 0; j < V; ++j) o[static_cast<std::size_t>(j)] += query[i] * S(i, j);
  return o;
}

TEST(Recall, StatesReadWhatTheirRulesSay) {
  Generator generator(1);
  const RecallPairs pairs = random_pairs(generator, 9, 5, 7);
  for (Recalling kind : {Recalling::outer_product, Recalling::delta, Recalling::gated_delta, Recalling::ssd}) {
    const RecallMemory memory{.kind = kind, .alpha = 0.7};
    const auto reads = recall_reads(memory, pairs, pairs.keys);
    ASSERT_TRUE(reads.ok()) << reads.status().message();
    for (std::int64_t q = 0; q < 9; ++q) {
      const std::vector<double> expected = written_out(memory, pairs, pairs.keys.data() + q * 5);
      for (std::int64_t j = 0; j < 7; ++j)
        EXPECT_NEAR(reads.value()(q, j), expected[static_cast<std::size_t>(j)], 1e-13) << name_of(kind).memory;
    }
  }
}

TEST(Recall, LinearAttentionAndSoftmaxAverageWithTheirWeights) {
  Generator generator(2);
  const RecallPairs pairs = random_pairs(generator, 6, 4, 3);
  const auto feature = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
  for (Recalling kind : {Recalling::linear_attention, Recalling::softmax, Recalling::window}) {
    const auto reads = recall_reads({.kind = kind, .beta = 3, .window = 2}, pairs, pairs.keys);
    ASSERT_TRUE(reads.ok());
    for (std::int64_t q = 0; q < 6; ++q)
      for (std::int64_t j = 0; j < 3; ++j) {
        double sum = 0, weights = 0;
        for (std::int64_t i = kind == Recalling::window ? 4 : 0; i < 6; ++i) {
          double score = 0;
          for (std::int64_t c = 0; c < 4; ++c)
            score += kind == Recalling::linear_attention ? feature(pairs.keys(q, c)) * feature(pairs.keys(i, c))
                                                         : pairs.keys(q, c) * pairs.keys(i, c);
          const double weight = kind == Recalling::linear_attention ? score : std::exp(3 * score);
          sum += weight * pairs.values(i, j);
          weights += weight;
        }
        EXPECT_NEAR(reads.value()(q, j), sum / weights, 1e-6) << name_of(kind).memory;  // linear attention has an eps of 1e-6
      }
  }
}

std::vector<std::int64_t> all(std::int64_t count) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), std::int64_t{0});
  return list;
}

TEST(Recall, LeastSquaresIsExactUpToK) {
  Generator generator(3);
  const RecallPairs pairs = random_pairs(generator, 16, 16, 8);
  EXPECT_EQ(recalled({.kind = Recalling::least_squares}, pairs, {all(16), all(16)}).value(), 16);
}

TEST(Recall, AWindowRecallsWhatIsInIt) {
  Generator generator(4);
  const RecallPairs pairs = random_pairs(generator, 40, 32, 32);
  std::vector<std::int64_t> inside(10), outside(30);
  std::iota(inside.begin(), inside.end(), std::int64_t{30});
  std::iota(outside.begin(), outside.end(), std::int64_t{0});
  const RecallMemory window{.kind = Recalling::window, .beta = 64, .window = 10};
  EXPECT_EQ(recalled(window, pairs, {inside, inside}).value(), 10);
  EXPECT_EQ(recalled(window, pairs, {outside, outside}).value(), 0);
}

TEST(Recall, NarrowStatesAreKeptAndChangeTheRead) {
  Generator generator(5);
  const RecallPairs pairs = random_pairs(generator, 20, 8, 8);
  for (Recalling kind : {Recalling::outer_product, Recalling::linear_attention, Recalling::delta, Recalling::gated_delta}) {
    const auto exact = recall_reads({.kind = kind}, pairs, pairs.keys),
               narrow = recall_reads({.kind = kind, .state = StateType::bfloat16}, pairs, pairs.keys);
    ASSERT_TRUE(exact.ok() && narrow.ok()) << narrow.status().message();
    double difference = 0;
    for (std::size_t i = 0; i < exact.value().values().size(); ++i)
      difference = std::max(difference, std::abs(exact.value().values()[i] - narrow.value().values()[i]));
    EXPECT_GT(difference, 1e-5) << name_of(kind).memory;
    EXPECT_LT(difference, 0.1) << name_of(kind).memory;
  }
}

TEST(Recall, BytesAreThoseOfTheLedger) {
  const auto bytes = [](Recalling kind) { return recall_bytes({.kind = kind, .window = 10}, 100, 8, 4); };
  EXPECT_EQ(bytes(Recalling::softmax), 100 * 12 * 4);
  EXPECT_EQ(bytes(Recalling::window), 10 * 12 * 4);
  EXPECT_EQ(bytes(Recalling::delta), 32 * 4);
  EXPECT_EQ(bytes(Recalling::linear_attention), 40 * 4);
}

TEST(Wilson, HasTheIntervalsOfThePaper) {
  EXPECT_NEAR(wilson(10, 10).low, 0.72246, 1e-5);
  EXPECT_EQ(wilson(10, 10).high, 1);
  EXPECT_EQ(wilson(0, 10).low, 0);
  EXPECT_NEAR(wilson(0, 10).high, 0.27754, 1e-5);
  EXPECT_NEAR(wilson(81, 263).low, 0.25527, 1e-4);
  EXPECT_NEAR(wilson(81, 263).high, 0.36621, 1e-4);
}

// 400 memories, 4 questions each: the theory is within three standard errors and a point and a half of what its approximations cost.
TEST(OuterProductRecall, TheoryLiesWhereTheSamplesDo) {
  EXPECT_EQ(outer_product_recall(1, 16, 16), 1);
  for (const auto& [M, K, V] : {std::array<std::int64_t, 3>{2, 8, 8},
                                {8, 8, 8},
                                {32, 8, 8},
                                {16, 16, 16},
                                {64, 16, 16},
                                {64, 32, 32},
                                {64, 32, 8},
                                {64, 8, 32},
                                {200, 32, 32}}) {
    double hits = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      Generator generator(seed);
      const RecallPairs pairs = random_pairs(generator, M, K, V);
      const std::vector<std::int64_t> asked = {0, 1, M / 2, M - 1};
      hits += static_cast<double>(recalled({.kind = Recalling::outer_product}, pairs, {asked, asked}).value());
    }
    const double sampled = hits / 1600, error = std::sqrt(std::max(sampled * (1 - sampled), 1e-3) / 1600);
    const double theory = outer_product_recall(static_cast<double>(M), static_cast<double>(K), static_cast<double>(V));
    EXPECT_LE(std::abs(theory - sampled), 3 * error + 0.015) << M << " " << K << " " << V;
  }
}

TEST(HybridRecall, EachLayerAnswersWhatItHolds) {
  Generator generator(6);
  const RecallPairs pairs = random_pairs(generator, 24, 32, 32);
  const StackSettings settings{.window = 9};  // 8 pairs
  const auto right = [&](Stack stack) {
    const auto answers = stack_answers(stack, settings, pairs, all(24));
    EXPECT_TRUE(answers.ok()) << answers.status().message();
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0; i < 24; ++i)
      if (answers.value()[static_cast<std::size_t>(i)] == i) list.push_back(i);
    return list;
  };
  const std::vector<std::int64_t> window = right(Stack::window);
  ASSERT_GE(window.size(), 8u);
  EXPECT_EQ(std::vector<std::int64_t>(window.end() - 8, window.end()), (std::vector<std::int64_t>{16, 17, 18, 19, 20, 21, 22, 23}));
  EXPECT_LE(window.size(), 9u);
  // The delta layer alone answers as the delta rule does: a query writes nothing.
  const std::vector<std::int64_t> recurrence = right(Stack::recurrence);
  EXPECT_EQ(static_cast<std::int64_t>(recurrence.size()), recalled({.kind = Recalling::delta}, pairs, {all(24), all(24)}).value());
  EXPECT_GE(right(Stack::both).size(), std::max(window.size(), recurrence.size()));
}

}  // namespace
}  // namespace linearmem
