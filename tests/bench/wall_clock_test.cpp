// The figure of times: lines for all mechanisms at all numbers of tokens, their operations, and where two lines cross. No time is judged.
#include "wall_clock.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace linearmem::bench {
namespace {

const Settings kSmall = {{"width", 16}, {"longest", 128}};

TEST(WallClock, EveryMechanismAtEveryNumberOfTokens) {
  const auto figure = run_experiment(wall_clock_experiment(), kSmall);
  ASSERT_TRUE(figure.ok()) << figure.status().message();
  ASSERT_EQ(figure.value().panels.size(), 2u);
  for (const Panel& panel : figure.value().panels) {
    ASSERT_EQ(panel.series.size(), 6u);
    for (const Series& series : panel.series) {
      EXPECT_EQ(series.x, (std::vector<double>{16, 32, 64, 128})) << series.label;
      ASSERT_EQ(series.y.size(), series.x.size());
      for (std::size_t i = 0; i < series.y.size(); ++i) {
        EXPECT_GT(series.y[i], 0);
        EXPECT_TRUE(std::isfinite(series.y[i]));
        if (panel.name == "operations") continue;
        EXPECT_LE(series.low[i], series.y[i]);
        EXPECT_GE(series.high[i], series.y[i]);
      }
    }
  }
}

// Per token: softmax 4 D (T + 1) / 2, gated delta 7 K V. Equal at T = 3.5 V - 1 = 55, here between the points of 32 and 64 tokens.
TEST(WallClock, OperationsAndTheirCrossingAreKnownBeforeAnythingIsMeasured) {
  const auto run = start_experiment(wall_clock_experiment(), kSmall);
  ASSERT_TRUE(run.ok());
  const Figure figure = run.value()->figure();
  EXPECT_EQ(figure.panels[0].series[0].y.size(), 0u);
  const Panel& operations = figure.panels[1];
  EXPECT_EQ(operations.series[0].y, (std::vector<double>{16 * 4 * 16 * 8.5, 32 * 4 * 16 * 16.5, 64 * 4 * 16 * 32.5, 128 * 4 * 16 * 64.5}));
  EXPECT_EQ(operations.series[4].y.back(), 128 * 7 * 256);
  ASSERT_EQ(operations.bands.size(), 1u);
  EXPECT_EQ(operations.bands[0].from, 16);
  EXPECT_NEAR(operations.bands[0].to, 55, 1);
}

TEST(WallClock, ACrossingIsWhereALineStaysAbove) {
  const std::vector<double> x = {16, 32, 64, 128}, other = {1, 1, 1, 1};
  EXPECT_EQ(crossing(x, {2, 2, 2, 2}, other), 0);
  EXPECT_EQ(crossing(x, {0.1, 0.1, 0.1, 0.5}, other), 128);
  EXPECT_NEAR(crossing(x, {0.5, 0.5, 2, 4}, other), 32 * std::sqrt(2), 1e-9);
  EXPECT_NEAR(crossing(x, {0.5, 2, 0.25, 4}, other), 64 * std::sqrt(2), 1e-9);  // the way back does not count
  EXPECT_EQ(crossing(x, {0.5, 0.5}, other), 32);                                  // the rest is not measured yet
  EXPECT_EQ(crossing(x, {}, other), 0);
}

TEST(WallClock, ProgressRisesToOneInSmallSteps) {
  const auto run = start_experiment(wall_clock_experiment(), kSmall);
  ASSERT_TRUE(run.ok());
  double before = 0;
  for (int steps = 0; run.value()->progress() < 1; ++steps) {
    ASSERT_LT(steps, 100000);
    const Status status = run.value()->step();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_GE(run.value()->progress(), before);
    before = run.value()->progress();
  }
}

TEST(WallClock, Refusals) {
  const auto message = [](const Settings& settings) { return start_experiment(wall_clock_experiment(), settings).status().message(); };
  EXPECT_EQ(message({{"width", 8}}), "wall-clock: width is 8, must be from 16 to 256");
  EXPECT_EQ(message({{"longest", 100.5}}), "wall-clock: longest is 100.500000, must be a whole number");
  EXPECT_EQ(message({{"heads", 2}}), "wall-clock: setting heads is not one of width, longest");
}

}  // namespace
}  // namespace linearmem::bench
