// Theory and sampling, each against itself and against the other.
#include "linearmem/associative_memory_sampling.hpp"

#include <gtest/gtest.h>

#include <string>

#include "associative_memory/quadrature.hpp"
#include "associative_memory/sampled_statistics.hpp"
#include "core/support.hpp"
#include "linearmem/associative_memory_theory.hpp"

namespace linearmem {
namespace {

ResponseRule relu(int power) { return {.response = Response::relu, .power = power}; }
ResponseRule exponential(double beta) { return {.response = Response::exp, .beta = beta}; }
ResponseRule truncated(int terms, double beta) { return {.response = Response::truncated_exp, .terms = terms, .beta = beta}; }

TEST(SphereAverage, EqualsClosedForms) {
  using associative::sphere_average;
  for (std::int64_t K : {2, 3, 4, 7, 64, 1000}) {
    EXPECT_NEAR(sphere_average([](double) { return 1.0; }, K), 1, 1e-13);
    EXPECT_NEAR(sphere_average([](double s) { return s * s; }, K) * static_cast<double>(K), 1, 1e-12) << K;
    EXPECT_NEAR(sphere_average([](double s) { return s > 0 ? s : 0.0; }, K) / sphere_average([](double s) { return s < 0 ? -s : 0.0; }, K),
                1, 1e-12);
  }
  EXPECT_NEAR(sphere_average([](double s) { return std::exp(s); }, 3), std::sinh(1.0), 1e-13);      // uniform in s
  EXPECT_NEAR(sphere_average([](double s) { return std::exp(s); }, 2), 1.2660658777520084, 1e-13);  // Bessel I_0(1)
}

TEST(AssociativeTheory, ATruncatedExponentialOfManyTermsIsTheExponential) {
  for (std::int64_t K : {2, 16, 64})
    EXPECT_NEAR(interference_per_item(truncated(17, 1.5), K) / interference_per_item(exponential(1.5), K), 1, 1e-9) << K;
}

TEST(AssociativeTheory, TheGaussianApproximationIsRightForWideKeysOnly) {
  for (const ResponseRule& rule : {relu(3), exponential(4), truncated(4, 4)}) {
    const auto ratio = [&](std::int64_t K) {
      return interference_per_item(rule, K, 1, Moments::gaussian) / interference_per_item(rule, K);
    };
    EXPECT_NEAR(ratio(100000), 1, 2e-3);
    EXPECT_GT(std::abs(ratio(8) - 1), 0.05);
  }
}

TEST(AssociativeTheory, CapacityIsWhereTheRmsIsOne) {
  for (std::int64_t K : {16, 64})
    for (const ResponseRule& rule : {relu(1), relu(2), truncated(3, 4)}) {
      const double M = capacity(rule, K, 0.9);
      EXPECT_LE(rms_interference(rule, K, static_cast<std::int64_t>(std::floor(M)), 0.9), 1);
      EXPECT_GT(rms_interference(rule, K, static_cast<std::int64_t>(std::floor(M)) + 1, 0.9), 1);
    }
  const ResponseRule sharpened{.response = Response::softmax, .beta = 4, .sharpen_beyond = 64};
  const double M = capacity(sharpened, 16);
  EXPECT_NEAR(rms_interference(sharpened, 16, std::llround(M)), 1, 1e-2);
  EXPECT_GT(M, capacity({.response = Response::softmax, .beta = 4}, 16));
  EXPECT_EQ(capacity(relu(1), 16, -0.5), 1);  // a query that points away from its key holds nothing but itself
  EXPECT_TRUE(std::isnan(interference_per_item({.response = Response::least_squares}, 16)));
}

InterferenceSampler sampled(const SamplingSettings& settings) {
  auto sampler = InterferenceSampler::create(settings);
  EXPECT_TRUE(sampler.ok()) << sampler.status().message();
  EXPECT_TRUE(sampler.value().run().ok());
  return std::move(sampler).value();
}

// Every response at three widths, up to some eight times its capacity: the theory lies in nine of ten intervals and within five standard
// errors of every one.
TEST(Sampling, TheTheoryLiesInTheIntervals) {
  int points = 0, inside = 0;
  for (std::int64_t K : {16, 64, 256}) {
    const SamplingSettings settings{
        .K = K,
        .V = 32,
        .rules = {{}, relu(1), relu(2), exponential(3), truncated(3, 4), {.response = Response::softmax, .beta = 2, .sharpen_beyond = 16}},
        .items = {2, 4, 8, 16, 32, 64, 128, 256, 512},
        .queries = 16,
        .first_seed = 1,
        .seeds = 12};
    const InterferenceSampler sampler = sampled(settings);
    for (std::size_t rule = 0; rule < settings.rules.size(); ++rule)
      for (std::size_t place = 0; place < settings.items.size(); ++place) {
        const double theory = rms_interference(settings.rules[rule], K, settings.items[place]);
        const Estimate rms = sampler.at(rule, place).rms;
        ++points;
        inside += rms.low <= theory && theory <= rms.high;
        EXPECT_LE(std::abs(rms.value - theory), 5 * rms.standard_error)
            << response_name(settings.rules[rule]) << " K " << K << " M " << settings.items[place];
      }
  }
  EXPECT_GE(inside, points * 9 / 10) << inside << " of " << points;
}

TEST(Sampling, NoisyQueriesFollowTheTheoryForTheirMatch) {
  for (double match : {0.9, 0.5}) {
    const SamplingSettings settings{
        .K = 32, .V = 32, .rules = {{}, exponential(4)}, .items = {64}, .match = match, .queries = 16, .seeds = 20};
    const InterferenceSampler sampler = sampled(settings);
    for (std::size_t rule = 0; rule < 2; ++rule) {
      const Estimate rms = sampler.at(rule, 0).rms;
      EXPECT_LE(std::abs(rms.value - rms_interference(settings.rules[rule], 32, 64, match)), 4 * rms.standard_error) << match;
    }
  }
}

TEST(Sampling, LeastSquaresIsExactUpToKAndOnItsTheoryBeyond) {
  const SamplingSettings settings{
      .K = 16, .V = 16, .rules = {{.response = Response::least_squares}}, .items = {1, 2, 8, 16, 20, 32, 64}, .queries = 16, .seeds = 20};
  const InterferenceSampler sampler = sampled(settings);
  for (std::size_t place = 0; place < settings.items.size(); ++place) {
    const Estimate rms = sampler.at(0, place).rms;
    const double theory = least_squares_interference(16, static_cast<double>(settings.items[place]));
    if (settings.items[place] <= 16)
      EXPECT_LE(rms.value, 1e-12) << settings.items[place];
    else
      EXPECT_NEAR(rms.value / theory, 1, 0.05) << settings.items[place];  // exact for Gaussian keys only
  }
}

// The sampler's shortcut against the door: one seed's items by hand, noise included.
TEST(Sampling, LeastSquaresEqualsTheDoorsWeights) {
  constexpr std::int64_t K = 6, V = 4;
  for (double match : {1.0, 0.8})
    for (std::int64_t M : {4, 6, 7, 15}) {
      const SamplingSettings settings{.K = K,
                                      .V = V,
                                      .rules = {{.response = Response::least_squares}},
                                      .items = {M},
                                      .match = match,
                                      .queries = 1,
                                      .first_seed = 9,
                                      .seeds = 1};
      Generator generator(9);
      const auto unit_row = [&](std::int64_t width) {
        std::vector<double> row(static_cast<std::size_t>(width));
        double squares = 0;
        for (double& value : row) value = generator.standard_normal();
        for (double value : row) squares += value * value;
        for (double& value : row) value /= std::sqrt(squares);
        return row;
      };
      std::vector<double> keys = unit_row(K), query = keys;
      if (match < 1) {
        std::vector<double> away(K);
        double along = 0, squares = 0;
        for (double& value : away) value = generator.standard_normal();
        for (int i = 0; i < K; ++i) along += away[i] * query[i];
        for (int i = 0; i < K; ++i) away[i] -= along * query[i];
        for (double value : away) squares += value * value;
        for (int i = 0; i < K; ++i) query[i] = match * query[i] + std::sqrt((1 - match * match) / squares) * away[i];
      }
      for (int s = 0; s < 64; ++s) {
        const std::vector<double> key = unit_row(K);
        keys.insert(keys.end(), key.begin(), key.end());
      }
      std::vector<double> values(V, 0.5);  // the query's own: any unit vector
      for (int s = 0; s < 64; ++s) {
        const std::vector<double> value = unit_row(V);
        values.insert(values.end(), value.begin(), value.end());
      }
      Tensor<double, 2> weights({1, M});
      ASSERT_TRUE(
          associative_weights(
              {.keys = {keys.data(), {M, K}}, .queries = {query.data(), {1, K}}, .rule = settings.rules[0], .weights = weights.view()})
              .ok());
      const std::int64_t target = 0;
      double ratio = 0;
      ASSERT_TRUE(
          interference({.weights = weights.view(), .values = {values.data(), {M, V}}, .targets = {&target, {1}}, .ratio = {&ratio, {1}}})
              .ok());
      EXPECT_NEAR(sampled(settings).at(0, 0).rms.value, ratio, 1e-10 * (1 + ratio)) << "match " << match << " M " << M;
    }
}

TEST(Sampling, StepsShowProgressAndWhatIsFinished) {
  const SamplingSettings settings{.K = 8, .V = 8, .rules = {{}}, .items = {1, 100, 300}, .queries = 4, .seeds = 3};
  auto sampler = InterferenceSampler::create(settings);
  ASSERT_TRUE(sampler.ok());
  EXPECT_TRUE(std::isnan(sampler.value().at(0, 2).rms.value));
  double before = 0;
  int steps = 0;
  for (; !sampler.value().done(); ++steps) {
    ASSERT_TRUE(sampler.value().step().ok());
    EXPECT_GE(sampler.value().progress(), before);
    before = sampler.value().progress();
  }
  EXPECT_EQ(steps, 15);  // five blocks of 64 items a seed
  EXPECT_EQ(before, 1);
  EXPECT_EQ(sampler.value().at(0, 0).rms.value, 0);  // alone in the memory
  EXPECT_EQ(sampler.value().at(0, 2).seeds, 3);
  const SampledRatio one = sampled({.K = 8, .V = 8, .rules = {{}}, .items = {100}, .queries = 4, .seeds = 1}).at(0, 0);
  EXPECT_GT(one.rms.value, 0);
  EXPECT_TRUE(std::isnan(one.rms.low) && std::isnan(one.median.high));  // one seed gives no interval
}

TEST(Sampling, PlacesAndRulesBesideDoNotMatter) {
  const SamplingSettings many{
      .K = 16, .V = 8, .rules = {relu(2), exponential(5)}, .items = {3, 64, 65, 129, 200}, .queries = 5, .seeds = 2};
  SamplingSettings one = many;
  one.rules = {exponential(5)};
  one.items = {200};
  const Estimate among = sampled(many).at(1, 4).mean, alone = sampled(one).at(0, 0).mean;
  EXPECT_NEAR(among.value, alone.value, 1e-13 * alone.value);
}

TEST(Sampling, IntervalsAreStudents) {
  using associative::mean_with_interval;
  const std::vector<double> three = {1, 2, 3};
  const Estimate estimate = mean_with_interval(three);
  EXPECT_EQ(estimate.value, 2);
  EXPECT_NEAR(estimate.standard_error, 1 / std::sqrt(3.0), 1e-15);
  EXPECT_NEAR(estimate.high - 2, 4.30265273 / std::sqrt(3.0), 1e-8);
  for (const auto& [count, point] : {std::pair(7, 2.446912), std::pair(31, 2.042272), std::pair(1001, 1.962339)}) {  // tables of t
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 2);
    const Estimate wide = mean_with_interval(values);
    EXPECT_NEAR((wide.high - wide.value) / wide.standard_error, point, 2e-3) << count;
  }
}

TEST(Sampling, CrossingIsStraightInLogarithms) {
  EXPECT_DOUBLE_EQ(crossing({1, 100}, {0.1, 10}, 1).value(), 10);
  EXPECT_EQ(crossing({2, 4}, {1, 3}, 1), 2);
  EXPECT_FALSE(crossing({1, 2}, {0.1, 0.2}, 1));
}

TEST(Sampling, BadSettingsAreRefusedByName) {
  const SamplingSettings good{.K = 8, .V = 8, .rules = {{}}, .items = {4}};
  const auto message = [](const SamplingSettings& settings) { return InterferenceSampler::create(settings).status().message(); };
  SamplingSettings bad = good;
  bad.K = 1;
  EXPECT_EQ(message(bad), "interference_sampler: K is 1, must be at least 2");
  bad = good;
  bad.items = {4, 4};
  EXPECT_EQ(message(bad), "interference_sampler: items[1] is 4, must be at least 5");
  bad = good;
  bad.match = 1.5;
  EXPECT_EQ(message(bad), "interference_sampler: match is 1.5, must be from 0 to 1");
  bad = good;
  bad.rules = {{}, {.response = Response::least_squares}};
  EXPECT_EQ(message(bad), "interference_sampler: least_squares stands beside 1 other rules, must be alone");
}

}  // namespace
}  // namespace linearmem
