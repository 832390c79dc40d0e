// The stream against what NumPy printed (tests/data/numpy_random): every value bit for bit, natively and as WebAssembly.
#include "linearmem/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>

#include "data/numpy_random/expected.hpp"
#include "foundation/random_math.hpp"
#include "foundation/random_ziggurat.hpp"

namespace linearmem {
namespace {

using numpy_random::Case;
using numpy_random::cases;

std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

double from_bits(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The sum of word[i] (2 i + 1) modulo 2^64.
class Checksum {
 public:
  void add(std::uint64_t word) {
    sum_ += word * weight_;
    weight_ += 2;
  }
  void add(double value) { add(bits_of(value)); }
  void add(std::int64_t value) { add(static_cast<std::uint64_t>(value)); }
  std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0, weight_ = 1;
};

template <typename Values>
std::uint64_t checksum(const Values& values) {
  Checksum sum;
  for (auto value : values) sum.add(value);
  return sum.value();
}

Generator generator(const Case& expected) { return Generator(SeedSequence(expected.words)); }

void expect_bits(const std::vector<std::uint64_t>& expected, auto draw) {
  ASSERT_FALSE(expected.empty());
  for (std::uint64_t bits : expected) {
    const double value = draw();
    EXPECT_EQ(bits, bits_of(value)) << "drew " << value << ", NumPy " << from_bits(bits);
  }
}

// The parameter is the place in `cases`.
class RandomSeed : public testing::TestWithParam<std::size_t> {
 protected:
  const Case& expected_ = cases[GetParam()];
};

std::string seed_name(const testing::TestParamInfo<std::size_t>& seed) {
  std::string name = "words";
  for (std::uint32_t word : cases[seed.param].words) name += "_" + std::to_string(word);
  return name;
}

TEST_P(RandomSeed, SeedSequenceWords) {
  const SeedSequence seed(expected_.words);
  EXPECT_EQ(seed.generate_state32(expected_.state32.size()), expected_.state32);
  EXPECT_EQ(seed.generate_state64(expected_.state64.size()), expected_.state64);
}

TEST_P(RandomSeed, RawWords) {
  Generator rng = generator(expected_);
  for (std::uint64_t word : expected_.next64) EXPECT_EQ(rng.next64(), word);
  rng = generator(expected_);
  for (std::uint32_t half : expected_.next32) EXPECT_EQ(rng.next32(), half);
}

TEST_P(RandomSeed, FloatingValues) {
  Generator rng = generator(expected_);
  expect_bits(expected_.random, [&] { return rng.random(); });
  rng = generator(expected_);
  expect_bits(expected_.uniform, [&] { return rng.uniform(-3.0, 5.5); });
  rng = generator(expected_);
  expect_bits(expected_.normal, [&] { return rng.normal(2.0, 0.3); });
  rng = generator(expected_);
  expect_bits(expected_.standard_normal, [&] { return rng.standard_normal(); });
}

TEST_P(RandomSeed, LongerRuns) {
  Generator rng = generator(expected_);
  Checksum uniform;
  for (int i = 0; i < 100000; ++i) uniform.add(rng.random());
  EXPECT_EQ(uniform.value(), expected_.random_checksum);
  EXPECT_EQ(checksum(generator(expected_).normal_vector(500000)), expected_.normal_checksum);
}

TEST_P(RandomSeed, IntegersOfEveryRange) {
  ASSERT_EQ(expected_.range_checksums.size(), numpy_random::ranges.size());
  for (std::size_t i = 0; i < numpy_random::ranges.size(); ++i) {
    const auto [first, last] = numpy_random::ranges[i];
    SCOPED_TRACE(testing::Message() << "integers " << first << " to " << last);
    Generator one_by_one = generator(expected_);
    Checksum sum;
    for (int draw = 0; draw < 1001; ++draw) {
      const std::int64_t value = one_by_one.integers(first, last, Endpoint::included).value();
      EXPECT_TRUE(first <= value && value <= last) << value;
      sum.add(value);
    }
    EXPECT_EQ(sum.value(), expected_.range_checksums[i]);
    EXPECT_EQ(checksum(generator(expected_).integer_vector(1001, first, last, Endpoint::included).value()), sum.value());
    if (last < std::numeric_limits<std::int64_t>::max()) {
      EXPECT_EQ(checksum(generator(expected_).integer_vector(1001, first, last + 1).value()), sum.value());
    }
  }
}

TEST_P(RandomSeed, PermutationAndShuffle) {
  EXPECT_EQ(generator(expected_).permutation(12), expected_.permutation);
  EXPECT_EQ(checksum(generator(expected_).permutation(100000)), expected_.permutation_checksum);
  std::vector<std::int64_t> values = {-7, std::int64_t{1} << 62, 0, 5, 11, 3, 3, -1};
  generator(expected_).shuffle(values);
  EXPECT_EQ(values, expected_.shuffled);
}

// The half word a 32-bit draw leaves outlives the 64-bit draws that follow it.
TEST_P(RandomSeed, CallsOfEveryKindInTurn) {
  Generator rng = generator(expected_);
  Checksum sum;
  for (int turn = 0; turn < 100; ++turn) {
    sum.add(static_cast<double>(rng.integers(0, 10).value()));
    sum.add(rng.standard_normal());
    sum.add(static_cast<double>(rng.integers(0, std::int64_t{3} << 40).value()));
    sum.add(rng.random());
    for (std::int64_t index : rng.permutation(1 + turn % 4)) sum.add(static_cast<double>(index));
  }
  EXPECT_EQ(sum.value(), expected_.interleaved_checksum);
}

INSTANTIATE_TEST_SUITE_P(NumPy, RandomSeed, testing::Range(std::size_t{0}, cases.size()), seed_name);

TEST(Random, IntegerSeedIsItsWords) {
  const std::uint64_t seeds[] = {0, 7, 20261021, std::numeric_limits<std::uint64_t>::max()};
  for (std::size_t i = 0; i < std::size(seeds); ++i) {
    EXPECT_EQ(SeedSequence(seeds[i]).generate_state32(10), cases[i].state32) << seeds[i];
    EXPECT_EQ(Generator(seeds[i]).next64(), cases[i].next64[0]) << seeds[i];
  }
}

// Where a draw starts: a wedge, the tail, or neither.
enum class Path { inside, wedge, tail };

Path path_of(std::uint64_t word) {
  const unsigned layer = word & 0xff;
  if ((word >> 9 & 0xfffffffffffff) < ziggurat_inside[layer]) return Path::inside;
  return layer == 0 ? Path::tail : Path::wedge;
}

TEST(Random, TenMillionNormals) {
  Generator rng(7);
  Checksum sum;
  std::int64_t wedge = 0, tail = 0, beyond_edge = 0;
  for (std::int64_t i = 0; i < numpy_random::long_draws; ++i) {
    Generator ahead = rng;
    const Path path = path_of(ahead.next64());
    wedge += path == Path::wedge;
    tail += path == Path::tail;
    const double value = rng.standard_normal();
    beyond_edge += std::abs(value) > ziggurat_edge;
    sum.add(value);
  }
  EXPECT_EQ(sum.value(), numpy_random::long_checksum);
  EXPECT_EQ(wedge, numpy_random::long_first_word_in_wedge);
  EXPECT_EQ(tail, numpy_random::long_first_word_in_tail);
  EXPECT_EQ(beyond_edge, numpy_random::long_beyond_edge);
  EXPECT_EQ(rng.next64(), numpy_random::long_next64);

  Generator raw(7);
  for (std::int64_t i = 0; i < numpy_random::long_words_consumed; ++i) raw.next64();
  EXPECT_EQ(raw.next64(), numpy_random::long_next64);
}

TEST(Random, ZigguratTablesAreNumPys) {
  EXPECT_EQ(checksum(ziggurat_width), numpy_random::width_checksum);
  EXPECT_EQ(checksum(ziggurat_density), numpy_random::density_checksum);
  EXPECT_EQ(checksum(ziggurat_inside), numpy_random::inside_checksum);
}

// Layers of equal area, closing at height 1: what the tables mean.
TEST(Random, ZigguratTablesAreAZiggurat) {
  const double area = ziggurat_width[0] * 0x1p52 * ziggurat_density[255];
  const double tail = std::sqrt(std::acos(-1.0) / 2) * std::erfc(ziggurat_edge / std::sqrt(2.0));
  EXPECT_NEAR(area, ziggurat_edge * ziggurat_density[255] + tail, 1e-15);
  EXPECT_EQ(ziggurat_inverse_edge, 1 / ziggurat_edge);
  EXPECT_EQ(ziggurat_width[255] * 0x1p52, ziggurat_edge);
  for (int i = 1; i < 256; ++i) {
    const double x = ziggurat_width[i] * 0x1p52;
    const double inner = i == 1 ? 0 : ziggurat_width[i - 1] * 0x1p52;
    EXPECT_NEAR(ziggurat_density[i], std::exp(-0.5 * x * x), 1e-14) << i;
    EXPECT_NEAR(x * (ziggurat_density[i - 1] - ziggurat_density[i]), area, 1e-14) << i;
    EXPECT_NEAR(static_cast<double>(ziggurat_inside[i]) * 0x1p-52, inner / x, 1e-13) << i;
  }
}

TEST(Random, LogarithmIsTheOneNumPyCalls) {
  for (const auto& run : numpy_random::log_runs) {
    Checksum sum;
    for (std::uint64_t i = 0; i < run.count; ++i) sum.add(log_one_minus(static_cast<double>(run.start + i * run.step) * 0x1p-53));
    EXPECT_EQ(sum.value(), run.checksum) << "u from " << run.start << " * 2^-53, step " << run.step;
  }
}

TEST(Random, ExponentialIsWithinAnUlp) {
  for (int i = 0; i <= 1000000; ++i) {
    const double t = -8.0 * i / 1000000;
    const double expected = std::exp(t);  // itself off by up to an ulp: two between them
    ASSERT_LE(std::abs(exp_nonpositive(t) - expected), 2 * (std::nextafter(expected, 2.0) - expected)) << "t = " << t;
  }
  EXPECT_EQ(exp_nonpositive(0.0), 1.0);
}

// The example of core/foundation/README.md.
TEST(Random, ReadmeExample) {
  Generator rng(7);
  const std::vector<double> normals = rng.normal_vector(2);
  EXPECT_NEAR(normals[0], 0.00123015, 5e-9);
  EXPECT_NEAR(normals[1], 0.29874554, 5e-9);
  EXPECT_EQ(rng.integer_vector(5, 0, 10).value(), (std::vector<std::int64_t>{5, 7, 8, 2, 0}));
  EXPECT_EQ(rng.permutation(5), (std::vector<std::int64_t>{4, 2, 3, 0, 1}));
}

TEST(Random, NothingToChooseDrawsNothing) {
  Generator rng(7), untouched(7);
  EXPECT_EQ(rng.integers(-4, -3).value(), -4);
  EXPECT_TRUE(rng.permutation(0).empty());
  EXPECT_TRUE(rng.permutation(-3).empty());
  EXPECT_EQ(rng.permutation(1), std::vector<std::int64_t>{0});
  EXPECT_EQ(rng.next64(), untouched.next64());
}

TEST(Random, RefusesWhatNumPyRefuses) {
  Generator rng(7), untouched(7);
  EXPECT_EQ(rng.integers(3, 3).status().message(), "integers: low must be below high: low is 3, high is 3");
  EXPECT_EQ(rng.integers(4, 3, Endpoint::included).status().message(), "integers: low must be at most high: low is 4, high is 3");
  EXPECT_EQ(rng.integer_vector(2, 5, -5).status().code(), StatusCode::invalid_argument);
  EXPECT_TRUE(std::isnan(rng.normal(0, -1)));
  EXPECT_TRUE(std::isnan(rng.uniform(0, std::numeric_limits<double>::infinity())));
  EXPECT_TRUE(std::isnan(rng.uniform(-1.7e308, 1.7e308)));
  EXPECT_EQ(rng.next64(), untouched.next64());
}

// Long enough to meet wedges and tails, in pieces that end anywhere, with a kept half between.
TEST(FillNormal, IsTheSameStreamAsSingleDraws) {
  Generator many(17), single(17);
  std::vector<double> values;
  for (std::size_t count : {0, 1, 2, 63, 64, 65, 5000, 100000}) {
    values.assign(count, 0);
    many.fill_normal(values);
    for (double value : values) ASSERT_EQ(value, single.standard_normal());
    ASSERT_EQ(many.next32(), single.next32());
  }
}

}  // namespace
}  // namespace linearmem
