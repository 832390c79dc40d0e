// Figure data: the default figure holds what its axes say, and settings are refused by name.
#include "linearmem/experiments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

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
  EXPECT_EQ(run_experiment("memory", {}).status().message().rfind("experiment memory is not one of memory-tradeoff, picture-readback, ", 0), 0u);
}

void expect_finite(const Figure& figure, const std::string& what) {
  for (const Panel& panel : figure.panels)
    for (const Series& series : panel.series) {
      ASSERT_EQ(series.x.size(), series.y.size());
      ASSERT_TRUE(series.low.size() == series.high.size() && (series.low.empty() || series.low.size() == series.y.size()));
      for (std::size_t i = 0; i < series.y.size(); ++i) EXPECT_TRUE(std::isfinite(series.y[i])) << what << " " << series.label;
      for (std::size_t i = 0; i < series.low.size(); ++i)
        EXPECT_TRUE(series.low[i] <= series.y[i] && series.y[i] <= series.high[i]) << what << " " << series.label;
    }
}

// What samples for long is followed for some steps only.
TEST(Experiments, TheEndsOfEverySettingWork) {
  for (const Experiment& experiment : experiments())
    for (const SettingSpec& setting : experiment.settings)
      for (double end : {setting.minimum, setting.maximum}) {
        auto run = start_experiment(experiment.name, {{setting.name, end}});
        ASSERT_TRUE(run.ok()) << run.status().message();
        for (int step = 0; step < 12 && run.value()->progress() < 1; ++step) ASSERT_TRUE(run.value()->step().ok());
        expect_finite(run.value()->figure(), std::string(experiment.name) + " " + setting.name + " " + std::to_string(end));
      }
}

TEST(Experiments, AWatchHearsOfProgressAndMayStop) {
  double last = 0;
  const auto whole = run_experiment("interference-growth", {{"seeds", 3}, {"items", 200}}, [&](double progress) {
    EXPECT_GE(progress, last);
    last = progress;
    return true;
  });
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(last, 1);
  expect_finite(whole.value(), "interference-growth");
  int heard = 0;
  const auto stopped = run_experiment("interference-growth", {}, [&](double) { return ++heard < 3; });
  EXPECT_EQ(stopped.status().code(), StatusCode::cancelled);
  EXPECT_EQ(stopped.status().message(), "interference-growth: stopped before it was finished");
  EXPECT_EQ(heard, 3);
}

const Series& series_of(const Panel& panel, const std::string& label) {
  for (const Series& series : panel.series)
    if (series.label == label) return series;
  ADD_FAILURE() << label;
  return panel.series.front();
}

// The figure and claim AM02 are one computation apart: the items are drawn alike.
TEST(PictureReadback, ReadsTheItemsOfAM02) {
  for (const auto& [M, ratio] : {std::pair(1, 0.0), std::pair(16, 0.4547401758), std::pair(64, 1.0385557808), std::pair(256, 2.1423577059)}) {
    const auto figure = run_experiment("picture-readback", {{"items", M}});
    ASSERT_TRUE(figure.ok());
    EXPECT_NEAR(series_of(figure.value().panels.at(1), "M of the knob").y.at(0), ratio, 1e-9);
    EXPECT_EQ(series_of(figure.value().panels.at(0), "M of the knob").y, series_of(figure.value().panels.at(0), "M = " + std::to_string(M)).y);
  }
}

TEST(PictureReadback, TakesAnyPicture) {
  const auto figure = run_experiment("picture-readback", {{"items", 1}, {"picture_top", 2147483648.0}, {"picture_bottom", 1}});
  ASSERT_TRUE(figure.ok());
  std::vector<double> corners(64, 0.0);
  corners.front() = corners.back() = 1 / std::sqrt(2.0);
  EXPECT_EQ(figure.value().panels.at(0).series.at(0).y, corners);
  EXPECT_EQ(figure.value().panels.at(0).series.at(1).y, corners);  // alone it is read back as it is
  const auto blank = run_experiment("picture-readback", {{"picture_top", 0}, {"picture_bottom", 0}});
  ASSERT_TRUE(blank.ok());
  EXPECT_EQ(blank.value().panels.size(), 1u);  // nothing to measure R against
}

// Whether each of the samples' intervals holds the line of theory, read off straight between its points in the logarithms.
void count_inside(const Series& sampled, const Series& theory, int& points, int& inside) {
  for (std::size_t i = 0; i < sampled.x.size(); ++i) {
    const auto at = static_cast<std::size_t>(std::lower_bound(theory.x.begin(), theory.x.end(), sampled.x[i]) - theory.x.begin());
    if (at == 0 || at == theory.x.size()) continue;
    const double share = std::log(sampled.x[i] / theory.x[at - 1]) / std::log(theory.x[at] / theory.x[at - 1]);
    const double expected = theory.y[at - 1] * std::pow(theory.y[at] / theory.y[at - 1], share);
    ++points;
    inside += sampled.low[i] <= 1.005 * expected && expected <= 1.005 * sampled.high[i];  // the line is not straight between its points
  }
}

// The default figure and two more draws. Points of one draw share their items, so they miss together.
TEST(SampledFigures, TheoryLiesInTheIntervals) {
  int points = 0, inside = 0;
  for (const char* name : {"interference-growth", "responses", "truncated-exponentials", "logn-sharpening"})
    for (double first_seed : {21, 101, 201}) {
      const auto figure = run_experiment(name, {{"items", 300}, {"first_seed", first_seed}});
      ASSERT_TRUE(figure.ok());
      const std::vector<Series>& all = figure.value().panels.at(0).series;
      for (const Series& sampled : all)
        for (const Series& theory : all)
          if (sampled.points && !theory.points && theory.memory == sampled.memory) count_inside(sampled, theory, points, inside);
    }
  EXPECT_GE(points, 250);
  EXPECT_GE(inside, points * 9 / 10) << inside << " of " << points;
}

TEST(SoftmaxWeights, SumToOneAndSharpenWithBeta) {
  const auto figure = run_experiment("softmax-weights", {});
  ASSERT_TRUE(figure.ok());
  double before = 0;
  for (const char* label : {"beta = 1", "beta = 4", "beta of the knob", "beta = 16"}) {
    const Series& series = series_of(figure.value().panels.at(0), label);
    double sum = 0;
    for (double weight : series.y) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_GT(series.y.front(), before) << label;
    before = series.y.front();
  }
}

TEST(HopfieldFigure, EnergyFallsAndTheKnobLiesOnTheCurve) {
  const auto figure = run_experiment("hopfield", {{"beta", 0.25}});
  ASSERT_TRUE(figure.ok());
  const std::vector<double>& energy = figure.value().panels.at(1).series.at(0).y;
  for (std::size_t step = 1; step < energy.size(); ++step) EXPECT_LE(energy[step], energy[step - 1] + 1e-14);
  EXPECT_EQ(figure.value().panels.at(2).series.at(0).y.front(), figure.value().panels.at(2).series.at(1).y.at(0));
}

// A poisoned record at the query takes over as the temperature falls; a record of another domain is kept out and changes nothing.
TEST(KnnNeighbours, PoisonTakesOverAndAnotherDomainIsKeptOut) {
  const auto probability = [](const Settings& settings, const char* label, std::size_t token) {
    return series_of(run_experiment("knn-neighbours", settings).value().panels[2], label).y[token];
  };
  EXPECT_EQ(probability({}, "memory", 4), 0);
  EXPECT_GT(probability({{"poison", 1}, {"temperature", 0.001}}, "memory", 4), 0.9);
  EXPECT_LT(probability({{"poison", 1}, {"temperature", 10}}, "memory", 4), 0.2);
  EXPECT_EQ(probability({{"poison", 1}, {"weight", 0}}, "mixed", 4), 0.05);
  const Figure figure = run_experiment("knn-neighbours", {{"foreign", 1}}).value();
  EXPECT_EQ(figure.panels[0].bands.at(0).label, "memory: domain differs: the store has \"own\", \"foreign\" is expected");
  EXPECT_EQ(series_of(figure.panels[0], "refused").x.size(), 1u);
  EXPECT_EQ(probability({{"foreign", 1}}, "mixed", 0), probability({}, "mixed", 0));
}

}  // namespace
}  // namespace linearmem
