// Sampling on the emulated device: figures, plans, refusals.
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

SamplingSettings settings_of(const Backend* backend) {
  return {.K = 5, .V = 7, .rules = {{}}, .items = {1, 66}, .queries = 5, .seeds = 2, .backend = backend};
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

double rms_with(std::int64_t memory_bytes, std::int64_t* launches) {
  const Emulated emulated({.memory_bytes = memory_bytes});
  auto sampler = InterferenceSampler::create({.K = 6, .V = 6, .rules = {{.response = Response::exp, .beta = 2}}, .items = {1000, 3000}, .queries = 3,
                                              .seeds = 1, .backend = emulated.backend()});
  const Status status = sampler.value().run();
  EXPECT_TRUE(status.ok()) << status.message();
  *launches = emulated.device().launches();
  return sampler.value().at(0, 1).rms.value;
}

TEST(CudaSampling, LittleMemoryMakesMoreWavesOfTheSameBits) {
  std::int64_t one = 0, several = 0;
  const double wanted = rms_with(std::int64_t{1} << 30, &one);
  EXPECT_EQ(rms_with(800000, &several), wanted);
  EXPECT_GT(several, one + 8);
  EXPECT_GT(wanted, 0);
}

TEST(CudaSampling, AWaveStaysWithinItsBytes) {
  const cuda::ItemSumsSizes sizes{.K = 64, .V = 64, .Q = 32, .lines = 6, .places = 12, .items = 1 << 20};
  for (std::int64_t bytes : {std::int64_t{1} << 24, std::int64_t{1} << 30}) {
    const cuda::ItemSumsPlan plan = cuda::plan_item_sums(sizes, bytes);
    EXPECT_LE(cuda::wave_bytes(sizes, plan.tiles), bytes);
    EXPECT_GT(cuda::wave_bytes(sizes, 2 * plan.tiles), bytes);
  }
  EXPECT_EQ(cuda::plan_item_sums(sizes, 1).tiles, 4);
  EXPECT_EQ(cuda::plan_item_sums({.K = 4, .V = 4, .Q = 1, .lines = 1, .places = 1, .items = 0}, 1 << 20).tiles, 4);
  EXPECT_EQ(cuda::plan_item_sums(sizes, 1).threads, 64);
}

TEST(CudaSampling, SlicesCoverEveryItemOnceAndEndWherePlacesDo) {
  const std::vector<std::int64_t> items = {0, 1, 63, 64, 600, 1000};
  std::int64_t next = 0, ends = 0;
  for (std::int64_t first = 0; first < 1000; first += 512)
    for (const cuda::Slice& slice : cuda::slices_of(items, first, std::min<std::int64_t>(512, 1000 - first))) {
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
