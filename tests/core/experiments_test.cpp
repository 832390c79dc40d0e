// Figure data: the default figure holds what its axes say, and settings are refused by name.
#include "linearmem/experiments.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace linearmem {
namespace {

TEST(MemoryTradeoff, StorageIsTheLedgerOfLM01AndLM02) {
  const auto figure = run_experiment("memory-tradeoff", {});
  ASSERT_TRUE(figure.ok()) << figure.status().message();
  const Panel& storage = figure.value().panels.at(0);
  for (const Series& series : storage.series) ASSERT_EQ(series.x.at(16), 65536);
  EXPECT_EQ(storage.series.at(0).y.at(16), 32.0 * 1024 * 1024);
  EXPECT_EQ(storage.series.at(1).y.at(16), 1024 * 512);
  EXPECT_EQ(storage.series.at(2).y.at(16), 16640);
  EXPECT_EQ(storage.series.at(2).y.front(), storage.series.at(2).y.back());
}

TEST(MemoryTradeoff, CrosstalkFollowsTheClosedForms) {
  const double alpha = 0.7, beta = 0.6;
  const auto figure = run_experiment("memory-tradeoff", {{"alpha", alpha}, {"beta", beta}});
  ASSERT_TRUE(figure.ok()) << figure.status().message();
  const Panel& panel = figure.value().panels.at(1);
  for (std::size_t i = 0; i < panel.series.at(0).x.size(); ++i) {
    const double rho = panel.series[0].x[i];
    // S = alpha k1'v1 + beta k2'(v2 - alpha rho v1): the old key reads [alpha (1 - beta rho^2), beta rho].
    const auto old_key = [&](double a) { return std::hypot(a * (1 - beta * rho * rho) - 1, beta * rho); };
    const auto new_key = [&](double a) { return std::hypot(a * rho * (1 - beta), beta - 1); };
    EXPECT_NEAR(panel.series[0].y[i], rho, 1e-14);
    EXPECT_NEAR(panel.series[1].y[i], old_key(1), 1e-14);
    EXPECT_NEAR(panel.series[2].y[i], new_key(1), 1e-14);
    EXPECT_NEAR(panel.series[3].y[i], old_key(alpha), 1e-14);
    EXPECT_NEAR(panel.series[4].y[i], new_key(alpha), 1e-14);
  }
}

TEST(Experiments, RefuseBySettingAndNumber) {
  const auto message = [](Settings settings) { return run_experiment("memory-tradeoff", settings).status().message(); };
  EXPECT_EQ(message({{"beta", 3}}), "memory-tradeoff: beta is 3, must be from 0 to 2");
  EXPECT_EQ(message({{"beta", std::nan("")}}), "memory-tradeoff: beta is nan, must be from 0 to 2");
  EXPECT_EQ(message({{"key_width", 1.5}}), "memory-tradeoff: key_width is 1.5, must be a whole number");
  EXPECT_EQ(message({{"gamma", 1}}), "memory-tradeoff: setting gamma is not one of beta, alpha, key_width, value_width, element_bytes, window");
  EXPECT_EQ(run_experiment("memory", {}).status().message(), "experiment memory is not one of memory-tradeoff");
}

TEST(Experiments, TheEndsOfEverySettingWork) {
  for (const Experiment& experiment : experiments())
    for (const SettingSpec& setting : experiment.settings)
      for (double end : {setting.minimum, setting.maximum}) {
        const auto figure = run_experiment(experiment.name, {{setting.name, end}});
        ASSERT_TRUE(figure.ok()) << figure.status().message();
        for (const Panel& panel : figure.value().panels)
          for (const Series& series : panel.series)
            for (double y : series.y) EXPECT_TRUE(std::isfinite(y)) << setting.name << " " << end;
      }
}

}  // namespace
}  // namespace linearmem
