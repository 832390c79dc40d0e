// Sampling on every backend: the stream bit for bit from any place on, statistics within 1e-12 of this processor's.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cuda/backends.hpp"
#include "host/item_sums.hpp"
#include "linearmem/associative_memory_sampling.hpp"

namespace linearmem {
namespace {

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
TEST(BackendSampling, TheStreamIsNumPysBitForBit) {
  for (std::uint64_t seed : {1, 20261021}) {
    Generator generator(seed);
    std::vector<double> before(777), wanted(300000);
    generator.fill_normal(before);
    const Pcg64::Place place = generator.place();
    generator.fill_normal(wanted);
    for (const test::NamedBackend& named : test::backends()) {
      cuda::Device& device = dynamic_cast<const cuda::DeviceBackend&>(*named.backend).device();
      EXPECT_EQ(drawn(device, place, 4096, 300000, 300000), wanted) << seed << " " << named.name;
      EXPECT_EQ(drawn(device, place, 3, 9001, 300000), wanted) << seed << " " << named.name;  // pieces begin and end within blocks
      EXPECT_EQ(drawn(device, place, 2, 40000, 300000), wanted) << seed << " " << named.name;
    }
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

TEST(BackendSampling, StatisticsAreTheProcessors) {
  const std::vector<double> wanted = sampled(settings_of(nullptr));
  std::vector<double> first;
  for (const test::NamedBackend& named : test::backends()) {
    const std::vector<double> got = sampled(settings_of(named.backend));
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_LE(std::abs(got[i] - wanted[i]), 1e-12 * std::max(1.0, std::abs(wanted[i]))) << named.name << " " << i;
    if (first.empty()) first = got;
    EXPECT_EQ(got, first) << named.name;
  }
}

TEST(BackendSampling, AQueryAloneIsItsOwnItemOnly) {
  for (const test::NamedBackend& named : test::backends())
    EXPECT_EQ(sampled({.K = 4, .V = 3, .rules = {{}}, .items = {1}, .queries = 2, .seeds = 2, .backend = named.backend}),
              (std::vector<double>{0, 0, 0, 2}));
}

}  // namespace
}  // namespace linearmem
