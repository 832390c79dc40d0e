// Recall tasks: every row read back and answered by hand, draws that keep to their law, digests, refusals.
#include "linearmem/recall_tasks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace linearmem {
namespace {

// Labels stand where the mask is 1 and nowhere else.
void expect_mask_matches(const TaskBatch& batch) {
  for (std::int64_t i = 0; i < batch.labels.size(); ++i)
    EXPECT_EQ(batch.mask.values()[static_cast<std::size_t>(i)] == 1, batch.labels.values()[static_cast<std::size_t>(i)] != kNoLabel);
}

std::int64_t labels_of(const TaskBatch& batch, std::int64_t row) {
  std::int64_t count = 0;
  for (std::int64_t t = 0; t < batch.tokens.extents()[1]; ++t) count += batch.mask(row, t);
  return count;
}

// Reads pairs up to `last` and answers each label with the newest value behind its token.
void expect_newest_values(const TaskBatch& batch, std::int64_t last, bool distinct) {
  for (std::int64_t row = 0; row < batch.tokens.extents()[0]; ++row) {
    std::map<std::int64_t, std::int64_t> newest;
    std::set<std::int64_t> values;
    for (std::int64_t t = 0; t < last; t += 2) {
      newest[batch.tokens(row, t)] = batch.tokens(row, t + 1);
      EXPECT_TRUE(values.insert(batch.tokens(row, t + 1)).second) << "a value twice in row " << row;
    }
    if (distinct) {
      EXPECT_EQ(static_cast<std::int64_t>(newest.size()), last / 2) << "a key twice in row " << row;
    }
    for (std::int64_t t = last; t < batch.tokens.extents()[1]; ++t)
      EXPECT_EQ(batch.mask(row, t) ? batch.labels(row, t) : batch.tokens(row, t), batch.mask(row, t) ? newest.at(batch.tokens(row, t)) : 0);
  }
}

TEST(AssociativeRecall, AsksForOneOfItsKeys) {
  const auto batch = make_task(AssociativeRecallTask{.rows = 200, .pairs = 7, .key_vocabulary = 7, .value_vocabulary = 9, .seed = 3});
  ASSERT_TRUE(batch.ok()) << batch.status().message();
  EXPECT_EQ(batch.value().tokens.extents(), (Extents<2>{200, 15}));
  expect_mask_matches(batch.value());
  expect_newest_values(batch.value(), 14, true);
  std::set<std::int64_t> places, keys, values;
  for (std::int64_t row = 0; row < 200; ++row) {
    EXPECT_EQ(labels_of(batch.value(), row), 1);
    for (std::int64_t i = 0; i < 7; ++i) {
      keys.insert(batch.value().tokens(row, 2 * i));
      values.insert(batch.value().tokens(row, 2 * i + 1));
      if (batch.value().tokens(row, 2 * i) == batch.value().tokens(row, 14)) places.insert(i);
    }
  }
  EXPECT_EQ(places.size(), 7u);  // every place is asked for
  EXPECT_EQ(keys, (std::set<std::int64_t>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(*values.begin(), 8);
  EXPECT_EQ(*values.rbegin(), 16);
}

TEST(MultiQueryRecall, AsksForEveryKeyOnce) {
  for (std::int64_t length : {32, 33, 100}) {
    const auto batch = make_task(MultiQueryRecallTask{.rows = 50, .pairs = 8, .length = length, .seed = 4});
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    expect_mask_matches(batch.value());
    expect_newest_values(batch.value(), 16, true);
    for (std::int64_t row = 0; row < 50; ++row) {
      std::set<std::int64_t> asked;
      for (std::int64_t t = 16; t < length; ++t)
        if (batch.value().mask(row, t)) {
          EXPECT_EQ(t % 2, 0);
          asked.insert(batch.value().tokens(row, t));
        }
      EXPECT_EQ(asked.size(), 8u);
    }
  }
}

// How often slot s of 64 is asked in 40000 rows of one pair; the law is s^(power-1) / sum.
TEST(MultiQueryRecall, GapsFollowThePowerLaw) {
  constexpr std::int64_t kRows = 40000, kSlots = 64;
  for (double power : {0.01, 0.5, 1.0}) {
    const auto batch = make_task(MultiQueryRecallTask{.rows = kRows, .pairs = 1, .length = 2 + 2 * kSlots, .power = power, .seed = 5});
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    double total = 0, chi_squared = 0;
    std::vector<double> counts(kSlots), law(kSlots);
    for (std::int64_t s = 0; s < kSlots; ++s) {
      total += law[static_cast<std::size_t>(s)] = std::pow(static_cast<double>(s + 1), power - 1);
      for (std::int64_t row = 0; row < kRows; ++row) counts[static_cast<std::size_t>(s)] += batch.value().mask(row, 2 + 2 * s);
    }
    for (std::size_t s = 0; s < kSlots; ++s) chi_squared += std::pow(counts[s] - kRows * law[s] / total, 2) / (kRows * law[s] / total);
    EXPECT_LE(chi_squared, 110) << power;  // 63 degrees of freedom: above it once in 5000 draws
  }
}

TEST(KeyConflict, AsksForTheNewestValueOfEveryKey) {
  const auto made = make_task(
      KeyConflictTask{.rows = 60, .keys = 4, .rewrites = 3, .key_vocabulary = 10, .value_vocabulary = 12, .rho = 0.3, .key_width = 5});
  ASSERT_TRUE(made.ok()) << made.status().message();
  const TaskBatch& batch = made.value();
  EXPECT_EQ(batch.tokens.extents(), (Extents<2>{60, 28}));
  expect_mask_matches(batch);
  expect_newest_values(batch, 24, false);
  for (std::int64_t row = 0; row < 60; ++row) {
    std::map<std::int64_t, int> written;
    for (std::int64_t t = 0; t < 24; t += 2) ++written[batch.tokens(row, t)];
    EXPECT_EQ(written.size(), 4u);
    for (const auto& [key, times] : written) {
      EXPECT_EQ(times, 3);
      EXPECT_EQ(written.count(((key - 1) ^ 1) + 1), 1u);  // and its couple
    }
    EXPECT_EQ(labels_of(batch, row), 4);
  }
}

TEST(KeyConflict, CouplesHaveTheirInnerProduct) {
  for (double rho : {-1.0, 0.0, 0.3, 1.0}) {
    const auto made = make_task(KeyConflictTask{.rho = rho, .key_width = 7});
    ASSERT_TRUE(made.ok());
    const Tensor<double, 2>& k = made.value().key_vectors;
    ASSERT_EQ(k.extents(), (Extents<2>{64, 7}));
    for (std::int64_t i = 0; i < 64; i += 2) {
      double both = 0, first = 0, second = 0;
      for (std::int64_t c = 0; c < 7; ++c) {
        both += k(i, c) * k(i + 1, c);
        first += k(i, c) * k(i, c);
        second += k(i + 1, c) * k(i + 1, c);
      }
      EXPECT_NEAR(both, rho, 1e-14);
      EXPECT_NEAR(first, 1, 1e-14);
      EXPECT_NEAR(second, 1, 1e-14);
    }
  }
}

TEST(Copy, GivesTheSymbolsBackInOrder) {
  for (std::int64_t span : {5, 6, 40}) {
    const auto made = make_task(CopyTask{.rows = 50, .symbols = 5, .span = span, .vocabulary = 3, .seed = 6});
    ASSERT_TRUE(made.ok());
    const TaskBatch& batch = made.value();
    EXPECT_EQ(batch.tokens.extents(), (Extents<2>{50, span + 6}));
    expect_mask_matches(batch);
    std::set<std::vector<std::int64_t>> patterns;
    for (std::int64_t row = 0; row < 50; ++row) {
      std::vector<std::int64_t> symbols, labels, places;
      for (std::int64_t t = 0; t < span; ++t)
        if (batch.tokens(row, t) != 0) {
          symbols.push_back(batch.tokens(row, t));
          places.push_back(t);
        }
      EXPECT_EQ(batch.tokens(row, span), 1);
      for (std::int64_t t = span + 1; t < span + 6; ++t) {
        EXPECT_EQ(batch.tokens(row, t), 0);
        labels.push_back(batch.labels(row, t));
      }
      EXPECT_EQ(symbols, labels);
      for (std::int64_t symbol : symbols) EXPECT_TRUE(symbol >= 2 && symbol <= 4);
      patterns.insert(places);
    }
    EXPECT_EQ(patterns.size() > 1, span > 5);
  }
}

TEST(Aggregation, CountsAndMeansAreThoseOfTheRow) {
  for (Aggregate aggregate : {Aggregate::count, Aggregate::mean}) {
    const bool mean = aggregate == Aggregate::mean;
    const auto made = make_task(AggregationTask{.aggregate = aggregate, .rows = 40, .items = 20, .keys = 6, .largest = 4, .seed = 7});
    ASSERT_TRUE(made.ok());
    const TaskBatch& batch = made.value();
    const std::int64_t asked = mean ? 40 : 20;
    ASSERT_EQ(batch.tokens.extents(), (Extents<2>{40, asked + 6}));
    expect_mask_matches(batch);
    for (std::int64_t row = 0; row < 40; ++row) {
      std::map<std::int64_t, double> count, sum;
      for (std::int64_t t = 0; t < asked; t += mean ? 2 : 1) {
        ++count[batch.tokens(row, t)];
        if (mean) sum[batch.tokens(row, t)] += static_cast<double>(batch.tokens(row, t + 1) - 7);
      }
      std::set<std::int64_t> questions;
      for (std::int64_t t = asked; t < asked + 6; ++t) {
        const std::int64_t key = batch.tokens(row, t);
        questions.insert(key);
        EXPECT_EQ(batch.answers(row, t), mean ? sum[key] / count[key] : count[key]);
        EXPECT_EQ(batch.labels(row, t), std::nearbyint(batch.answers(row, t)));
      }
      EXPECT_EQ(questions, (std::set<std::int64_t>{1, 2, 3, 4, 5, 6}));
    }
  }
}

TEST(TaskDigest, IsFnv1aOverTheBytes) {
  TaskBatch batch;
  EXPECT_EQ(task_digest(batch), "cbf29ce484222325");  // of nothing
  batch.mask = Tensor<std::uint8_t, 2>({1, 6}, {'f', 'o', 'o', 'b', 'a', 'r'});
  EXPECT_EQ(task_digest(batch), "85944171f73967e8");  // the published value of "foobar"
  batch.mask = Tensor<std::uint8_t, 2>({1, 1});
  batch.tokens = Tensor<std::int64_t, 2>({1, 1}, 256);
  const std::string tokens = task_digest(batch);
  batch.tokens(0, 0) = 1;
  EXPECT_NE(task_digest(batch), tokens);
}

// The same on every target: written down from the native build, held by the WebAssembly one.
TEST(TaskDigest, OfEveryTaskIsTheSameEverywhere) {
  for (const RecallTask& task : recall_tasks()) {
    const auto batch = make_recall_task(task.name, {});
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    const auto again = make_recall_task(task.name, {}), other = make_recall_task(task.name, {{"seed", 2}});
    EXPECT_EQ(task_digest(batch.value()), task_digest(again.value())) << task.name;
    EXPECT_NE(task_digest(batch.value()), task_digest(other.value())) << task.name;
  }
  const auto digest = [](const char* name, const TaskSettings& settings) { return task_digest(make_recall_task(name, settings).value()); };
  EXPECT_EQ(digest("multi-query-recall", {{"rows", 100}, {"length", 4096}, {"pairs", 64}}), "50a493f6481f07a5");
  EXPECT_EQ(digest("key-conflict", {}), "98e0cec0762d089d");
  EXPECT_EQ(digest("mean", {}), "07ed885ecc3569c7");
}

TEST(RecallTasks, RefuseWithBothNumbers) {
  const auto message = [](const char* name, const TaskSettings& settings) { return make_recall_task(name, settings).status().message(); };
  EXPECT_EQ(message("associative-recall", {{"pairs", 65}}), "associative_recall: pairs is 65, but key_vocabulary is 64");
  EXPECT_EQ(message("associative-recall", {{"value_vocabulary", 7}}), "associative_recall: pairs is 8, but value_vocabulary is 7");
  EXPECT_EQ(message("multi-query-recall", {{"length", 31}}),
            "multi_query_recall: length is 31, but 8 pairs and the slots for their questions take 32");
  EXPECT_EQ(message("multi-query-recall", {{"power", 0}}), "multi-query-recall: power is 0, must be from 0.001 to 1");
  EXPECT_EQ(message("key-conflict", {{"keys", 5}}), "key_conflict: keys is 5, must be even: keys come in couples");
  EXPECT_EQ(message("key-conflict", {{"rewrites", 9}}),
            "key_conflict: 8 keys written 9 times need as many values, but value_vocabulary is 64");
  EXPECT_EQ(message("selective-copy", {{"span", 15}}), "copy: symbols is 16, but span is 15");
  EXPECT_EQ(message("mean", {{"items", 7}}), "mean: keys is 8, but items is 7");
  EXPECT_EQ(message("copy", {{"rows", 0}}), "copy: rows is 0, must be from 1 to 1048576");
  EXPECT_EQ(message("copy", {{"rows", 1.5}}), "copy: rows is 1.5, must be a whole number");
  EXPECT_EQ(message("copy", {{"span", 3}}), "copy: setting span is not one of rows, symbols, vocabulary, seed");
  EXPECT_EQ(message("copying", {}).rfind("task copying is not one of associative-recall, multi-query-recall, ", 0), 0u);
  EXPECT_EQ(make_task(AssociativeRecallTask{.rows = 0}).status().message(), "associative_recall: rows is 0, must be at least 1");
  EXPECT_EQ(make_task(KeyConflictTask{.rho = std::nan("")}).status().message(), "key_conflict: rho is nan, must be from -1 to 1");
}

}  // namespace
}  // namespace linearmem
