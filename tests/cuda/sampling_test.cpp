// Sampling on the emulated device: the stream bit for bit at every place, statistics within 1e-12 of this processor's, plans, refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cuda/emulated.hpp"
#include "host/item_sums.hpp"
#include "linearmem/associative_memory_sampling.hpp"
#include "linearmem/experiments.hpp"

namespace linearmem {
namespace {

using test::Emulated;
using test::Order;

std::vector<double> drawn(cuda::Device& device, const Pcg64::Place& place, std::int64_t blocks_at_once, std::int64_t piece, std::int64_t count) {
  cuda::Transfer transfer(device);
  cuda::NormalSource source(device, transfer, place, blocks_at_once);
  auto* there = transfer.room<double>(piece);
  EXPECT_TRUE(transfer.status().ok());
  std::vector<double> numbers(static_cast<std::size_t>(count));
  for (std::int64_t first = 0; first < count; first += piece) {
    const std::int64_t size = std::min(piece, count - first);
    EXPECT_TRUE(source.draw(first, size, there).ok());
    EXPECT_TRUE(device.finish().ok());
    EXPECT_TRUE(device.download(there, numbers.data() + first, 8 * size).ok());
  }
  return numbers;
}

// 300 000 numbers hold some eighty of the tail and four thousand that take two outputs.
TEST(CudaSampling, TheStreamIsNumPysBitForBit) {
  for (std::uint64_t seed : {1, 20261021}) {
    Generator generator(seed);
    std::vector<double> before(777), wanted(300000);
    generator.fill_normal(before);
    const Pcg64::Place place = generator.place();
    generator.fill_normal(wanted);
    for (Order order : {Order::rising, Order::shuffled}) {
      const Emulated emulated({.order = order});
      EXPECT_EQ(drawn(emulated.device(), place, 4096, 300000, 300000), wanted) << seed;
      EXPECT_EQ(emulated.device().used(), 0);
    }
    const Emulated emulated;
    EXPECT_EQ(drawn(emulated.device(), place, 3, 9001, 300000), wanted) << seed;  // pieces begin and end within blocks
    EXPECT_EQ(drawn(emulated.device(), place, 2, 40000, 300000), wanted) << seed;
  }
}

SamplingSettings settings_of(const Backend* backend) {
  const ResponseRule exponential{.response = Response::exp, .beta = 3};
  return {.K = 5,
          .V = 70,
          .rules = {{},
                    {.response = Response::relu, .power = 3},
                    {.response = Response::truncated_exp, .terms = 4, .beta = 2},
                    exponential,
                    {.response = Response::softmax, .beta = -2},
                    {.response = Response::softmax, .beta = 2, .sharpen_beyond = 16}},
          .items = {1, 2, 64, 65, 66, 300, 700},
          .match = 0.8,
          .queries = 5,
          .seeds = 2,
          .backend = backend};
}

// The statistics of every rule, place and seed count, in a row.
std::vector<double> sampled(const SamplingSettings& settings) {
  auto sampler = InterferenceSampler::create(settings);
  EXPECT_TRUE(sampler.ok()) << sampler.status().message();
  const Status status = sampler.value().run();
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<double> all;
  for (std::size_t rule = 0; rule < settings.rules.size(); ++rule)
    for (std::size_t place = 0; place < settings.items.size(); ++place) {
      const SampledRatio ratio = sampler.value().at(rule, place);
      all.insert(all.end(), {ratio.rms.value, ratio.median.value, ratio.mean.value, static_cast<double>(ratio.seeds)});
    }
  return all;
}

TEST(CudaSampling, StatisticsAreTheProcessors) {
  const std::vector<double> wanted = sampled(settings_of(nullptr));
  std::vector<double> first;
  for (Order order : {Order::rising, Order::falling, Order::shuffled}) {
    const Emulated emulated({.order = order});
    const std::vector<double> got = sampled(settings_of(emulated.backend()));
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_LE(std::abs(got[i] - wanted[i]), 1e-12 * std::max(1.0, std::abs(wanted[i]))) << i;
    if (first.empty()) first = got;
    EXPECT_EQ(got, first);
    EXPECT_EQ(emulated.device().used(), 0);
  }
}

TEST(CudaSampling, AQueryAloneIsItsOwnItemOnly) {
  const Emulated emulated;
  EXPECT_EQ(sampled({.K = 4, .V = 3, .rules = {{}}, .items = {1}, .queries = 2, .seeds = 2, .backend = emulated.backend()}),
            (std::vector<double>{0, 0, 0, 2}));
}

TEST(CudaSampling, WhatItDoesNotSampleAndADeviceThatFailsAreNamed) {
  const Emulated emulated, small({.memory_bytes = 1000}), lost({.launches_before_failure = 3});
  SamplingSettings settings = settings_of(emulated.backend());
  settings.rules = {{.response = Response::least_squares}};
  EXPECT_EQ(InterferenceSampler::create(settings).status().message(),
            "interference_sampler: backend cuda does not sample least-squares, whose weights depend on all keys; it has the rules that are "
            "functions of a score");
  auto sampler = InterferenceSampler::create(settings_of(small.backend()));
  ASSERT_TRUE(sampler.ok());
  EXPECT_EQ(sampler.value().step().code(), StatusCode::out_of_memory);
  EXPECT_FALSE(sampler.value().done());
  sampler = InterferenceSampler::create(settings_of(lost.backend()));
  EXPECT_EQ(sampler.value().run().message(), "backend cuda: the emulated device is lost");
  EXPECT_EQ(small.device().used() + lost.device().used(), 0);
}

std::string refusal_of(const char* experiment, const Backend* backend) {
  return experiment_parts(*find_experiment(experiment).value(), {}, backend).status().message();
}

TEST(CudaSampling, FiguresThatSampleAreTheProcessorsOthersAreRefused) {
  const Emulated emulated;
  const Settings settings = {{"key_width", 8}, {"items", 100}, {"seeds", 2}};
  for (const char* name : {"interference-growth", "responses"}) {
    const Experiment& experiment = *find_experiment(name).value();
    const auto here = experiment_parts(experiment, settings), there = experiment_parts(experiment, settings, emulated.backend());
    ASSERT_TRUE(here.ok() && there.ok()) << there.status().message();
    for (std::int64_t part = 0; part < here.value()->count(); ++part) {
      auto wanted = here.value()->start(part), got = there.value()->start(part);
      ASSERT_TRUE(wanted.ok() && got.ok());
      while (wanted.value()->progress() < 1) ASSERT_TRUE(wanted.value()->step().ok());
      ASSERT_TRUE(got.value()->step().ok());  // a seed at once
      EXPECT_EQ(got.value()->progress(), 1);
      const std::vector<double> a = got.value()->values(), b = wanted.value()->values();
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_LE(std::abs(a[i] - b[i]), 1e-12 * std::max(1.0, std::abs(b[i]))) << name;
    }
  }
  EXPECT_EQ(refusal_of("memory-tradeoff", emulated.backend()),
            "memory-tradeoff: backend cuda does not compute this figure; it has those that sample interference");
  EXPECT_EQ(refusal_of("recall-bytes", emulated.backend()),
            "recall-bytes: backend cuda does not compute this figure; it has those that sample interference");
  EXPECT_NE(refusal_of("least-squares", emulated.backend()).find("does not sample least-squares"), std::string::npos);
}

TEST(CudaSampling, AWaveStaysWithinItsBytes) {
  const cuda::ItemSumsSizes sizes{.K = 64, .V = 64, .Q = 32, .lines = 6, .places = 12, .items = 1 << 20};
  for (std::int64_t bytes : {std::int64_t{1} << 24, std::int64_t{1} << 30}) {
    const cuda::ItemSumsPlan plan = cuda::plan_item_sums(sizes, bytes);
    EXPECT_LE(cuda::wave_bytes(sizes, plan.tiles), bytes);
    EXPECT_GT(cuda::wave_bytes(sizes, 2 * plan.tiles), bytes);
  }
  EXPECT_EQ(cuda::plan_item_sums(sizes, 1).tiles, 1);
  EXPECT_EQ(cuda::plan_item_sums({.K = 4, .V = 4, .Q = 1, .lines = 1, .places = 1, .items = 0}, 1 << 20).tiles, 1);
  EXPECT_EQ(cuda::plan_item_sums(sizes, 1).threads, 64);
}

TEST(CudaSampling, SlicesCoverEveryItemOnceAndEndWherePlacesDo) {
  const std::vector<std::int64_t> items = {0, 1, 63, 64, 600, 1000};
  std::int64_t next = 0, ends = 0;
  for (std::int64_t first = 0; first < 1000; first += 192)
    for (const cuda::Slice& slice : cuda::slices_of(items, first, std::min<std::int64_t>(192, 1000 - first))) {
      EXPECT_EQ(first + slice.first, next);
      EXPECT_TRUE(slice.count > 0 && slice.count <= cuda::kSliceItems);
      next += slice.count;
      EXPECT_LE(next, items[static_cast<std::size_t>(slice.place)]);
      EXPECT_EQ(slice.last, next == items[static_cast<std::size_t>(slice.place)]);
      ends += slice.last;
    }
  EXPECT_EQ(next, 1000);
  EXPECT_EQ(ends, 5);  // the place without items has no slice
}

}  // namespace
}  // namespace linearmem
