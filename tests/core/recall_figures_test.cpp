// Figures of what a fixed state can hold: parts in any order give one figure, and each figure shows what its room says it must.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "linearmem/experiments.hpp"
#include "linearmem/random.hpp"

namespace linearmem {
namespace {

std::vector<double> finish(const FigureParts& parts, std::int64_t part) {
  auto run = parts.start(part);
  EXPECT_TRUE(run.ok()) << run.status().message();
  while (run.value()->progress() < 1) EXPECT_TRUE(run.value()->step().ok());
  return run.value()->values();
}

std::vector<std::vector<double>> finish_in_order(const FigureParts& parts, const std::vector<std::int64_t>& order) {
  std::vector<std::vector<double>> values(static_cast<std::size_t>(parts.count()));
  for (std::int64_t part : order) values[static_cast<std::size_t>(part)] = finish(parts, part);
  return values;
}

void expect_same(const Figure& a, const Figure& b, const std::string& name) {
  ASSERT_EQ(a.panels.size(), b.panels.size()) << name;
  for (std::size_t p = 0; p < a.panels.size(); ++p) {
    ASSERT_EQ(a.panels[p].series.size(), b.panels[p].series.size()) << name;
    for (std::size_t s = 0; s < a.panels[p].series.size(); ++s) {
      EXPECT_EQ(a.panels[p].series[s].label, b.panels[p].series[s].label) << name;
      EXPECT_EQ(a.panels[p].series[s].x, b.panels[p].series[s].x) << name;
      EXPECT_EQ(a.panels[p].series[s].y, b.panels[p].series[s].y) << name;
      EXPECT_EQ(a.panels[p].series[s].low, b.panels[p].series[s].low) << name;
      EXPECT_EQ(a.panels[p].series[s].high, b.panels[p].series[s].high) << name;
    }
  }
}

// Every experiment at settings that are quick.
Settings quick(const Experiment& experiment) {
  Settings settings;
  for (const SettingSpec& setting : experiment.settings) {
    const std::string name = setting.name;
    if (name == "seeds") settings[name] = 3;
    if (name == "items") settings[name] = 40;
    if (name == "tokens") settings[name] = std::min(300.0, setting.maximum);
  }
  return settings;
}

TEST(FigureParts, InAnyOrderGiveTheFigureOfTheRun) {
  for (const Experiment& experiment : experiments()) {
    const Settings settings = quick(experiment);
    const auto parts = experiment_parts(experiment, settings);
    ASSERT_TRUE(parts.ok()) << parts.status().message();
    std::vector<std::int64_t> order = Generator(8).permutation(parts.value()->count());
    const auto whole = run_experiment(experiment.name, settings);
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    expect_same(parts.value()->draw(finish_in_order(*parts.value(), order)), whole.value(), experiment.name);
  }
}

// What is drawn of a figure under way is part of the whole, and has no gap that a page would stumble over.
TEST(FigureParts, SomeOfThemDrawAFigureToo) {
  for (const Experiment& experiment : experiments()) {
    const auto parts = experiment_parts(experiment, quick(experiment));
    ASSERT_TRUE(parts.ok());
    std::vector<std::vector<double>> values(static_cast<std::size_t>(parts.value()->count()));
    for (std::int64_t part = 0; part < parts.value()->count(); part += 3) {
      values[static_cast<std::size_t>(part)] = finish(*parts.value(), part);
      EXPECT_GT(parts.value()->work(part), 0) << experiment.name;
    }
    for (const Panel& panel : parts.value()->draw(values).panels)
      for (const Series& series : panel.series) {
        EXPECT_EQ(series.x.size(), series.y.size()) << experiment.name;
        EXPECT_EQ(series.low.size(), series.high.size()) << experiment.name;
        for (double y : series.y) EXPECT_TRUE(std::isfinite(y)) << experiment.name;
      }
  }
}

TEST(FigureParts, PresetsAreSettingsThatExist) {
  int presets = 0;
  for (const Experiment& experiment : experiments())
    for (const Preset& preset : experiment.presets) {
      EXPECT_TRUE(experiment_parts(experiment, preset.settings).ok()) << experiment.name << " " << preset.name;
      ++presets;
    }
  EXPECT_GE(presets, 6);
}

const Series& series_of(const Figure& figure, const std::string& panel, const std::string& label) {
  for (const Panel& one : figure.panels)
    if (one.name == panel)
      for (const Series& series : one.series)
        if (series.label == label) return series;
  ADD_FAILURE() << panel << " " << label;
  return figure.panels.front().series.front();
}

Figure figure_of(const char* name, const Settings& settings = {}) {
  auto figure = run_experiment(name, settings);
  EXPECT_TRUE(figure.ok()) << figure.status().message();
  return std::move(figure).value();
}

// Straight between the theory's points, in the logarithm of x.
double at(const Series& line, double x) {
  const auto i = static_cast<std::size_t>(std::lower_bound(line.x.begin(), line.x.end(), x) - line.x.begin());
  if (i == 0) return line.y[0];
  const double share = std::log(x / line.x[i - 1]) / std::log(line.x[i] / line.x[i - 1]);
  return line.y[i - 1] + share * (line.y[i] - line.y[i - 1]);
}

TEST(RecallBytes, TheTheoryOfTheOuterProductLiesInTheIntervals) {
  int points = 0, inside = 0;
  for (double first_seed : {1, 1001}) {
    const Figure bytes = figure_of("recall-bytes", {{"first_seed", first_seed}}),
                 shape = figure_of("recall-shape", {{"first_seed", first_seed}});
    for (const auto& [figure, panel] : {std::pair(&bytes, "bytes"), std::pair(&bytes, "pairs"), std::pair(&shape, "shape")}) {
      const Series &sampled = series_of(*figure, panel, "outer product"), &theory = series_of(*figure, panel, "outer product, theory");
      ASSERT_FALSE(sampled.x.empty());
      for (std::size_t i = 0; i < sampled.x.size(); ++i) {
        const double expected = at(theory, sampled.x[i]);
        ++points;
        inside += sampled.low[i] <= expected + 1e-3 && expected <= sampled.high[i] + 1e-3;
      }
    }
  }
  EXPECT_GE(points, 40);
  EXPECT_GE(inside, points * 9 / 10) << inside << " of " << points;
}

TEST(RecallBytes, ExplicitPairsAreRecalledAndStatesFillUp) {
  const Figure figure = figure_of("recall-bytes");
  const Series &explicit_pairs = series_of(figure, "pairs", "explicit K,V"), &least_squares = series_of(figure, "pairs", "least squares"),
               &delta = series_of(figure, "pairs", "delta");
  EXPECT_EQ(explicit_pairs.x, (std::vector<double>{4, 8, 16, 32, 64, 128, 256, 512}));
  for (double y : explicit_pairs.y) EXPECT_GE(y, 0.99);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(least_squares.y[i], 1) << least_squares.x[i];  // up to K = 32 pairs
  EXPECT_LT(least_squares.y.back(), 0.2);
  EXPECT_LT(delta.y.back(), 0.1);
  const Series& window = series_of(figure, "bytes", "window");
  for (std::size_t i = 0; i < window.x.size(); ++i)
    EXPECT_TRUE(window.low[i] <= std::exp2(i) / 64 + 1e-9 && std::exp2(i) / 64 <= window.high[i] + 1e-9) << i;
}

TEST(RecallDistance, AWindowEndsAndADecayFades) {
  const Figure figure = figure_of("recall-distance", {{"seeds", 40}});
  for (const auto& [label, near, far] : {std::tuple("window", 1.0, 0.0), std::tuple("gated delta", 1.0, 0.0), std::tuple("SSD", 1.0, 0.0),
                                         std::tuple("explicit K,V", 1.0, 1.0)}) {
    const Series& series = series_of(figure, "distance", label);
    EXPECT_EQ(series.y.front(), near) << label;
    EXPECT_NEAR(series.y.back(), far, 0.1) << label;
  }
  const Series& window = series_of(figure, "distance", "window");
  for (std::size_t i = 0; i < window.x.size(); ++i) EXPECT_EQ(window.y[i] > 0.5, window.x[i] <= 16) << window.x[i];
}

TEST(RecallConflict, OnlyWhatCorrectsItselfHasTheNewest) {
  const Figure figure = figure_of("recall-conflict");
  const Series &delta = series_of(figure, "rewrites", "delta"), &sum = series_of(figure, "rewrites", "outer product");
  EXPECT_GE(*std::min_element(delta.y.begin(), delta.y.end()), 0.85);
  EXPECT_NEAR(sum.y.back(), 1.0 / 8, 0.08);  // any of the eight
  const Series &similar = series_of(figure, "similar", "outer product"), &solved = series_of(figure, "similar", "least squares");
  EXPECT_EQ(*std::min_element(solved.y.begin(), solved.y.end()), 1);
  EXPECT_NEAR(similar.y.back(), 0.5, 0.1);  // either of the couple
}

TEST(StatePrecision, SumsDriftAndDecayEndsTheDrift) {
  const Figure figure = figure_of("state-precision", {{"tokens", 4096}});
  for (const char* format : {"float32", "float16", "bfloat16"}) {
    const Series &sum = series_of(figure, "sum", format), &decayed = series_of(figure, "sum-decay", format);
    ASSERT_EQ(sum.x.back(), 4096);
    EXPECT_GT(sum.y.back(), 4 * sum.y.front()) << format;
    EXPECT_LT(decayed.y.back(), sum.y.back() / 2) << format;
  }
  for (const char* panel : {"sum", "sum-decay", "delta-norm", "delta-raw"})
    for (std::size_t i = 0; i < series_of(figure, panel, "float32").y.size(); ++i) {
      EXPECT_LT(100 * series_of(figure, panel, "float32").y[i], series_of(figure, panel, "float16").y[i]) << panel;
      EXPECT_LT(2 * series_of(figure, panel, "float16").y[i], series_of(figure, panel, "bfloat16").y[i]) << panel;
    }
}

// Streaming is cut at other places when the length is another; the tokens, and so the errors at the shorter lengths, are the same.
TEST(StatePrecision, AShorterRunIsTheBeginningOfALongerOne) {
  const Figure shorter = figure_of("state-precision", {{"tokens", 1024}}), longer = figure_of("state-precision", {{"tokens", 5000}});
  for (std::size_t p = 0; p < 4; ++p)
    for (std::size_t s = 0; s < 3; ++s) {
      const std::vector<double>& y = longer.panels[p].series[s].y;
      EXPECT_EQ(shorter.panels[p].series[s].y, std::vector<double>(y.begin(), y.begin() + 7)) << p << " " << s;
      EXPECT_EQ(longer.panels[p].series[s].x.back(), 5000);
    }
}

TEST(HybridAblation, BothIsAtLeastTheBetterOfTheTwo) {
  const Figure figure = figure_of("hybrid-ablation", {{"seeds", 10}});
  const Series &window = series_of(figure, "hybrid", "window alone"), &recurrence = series_of(figure, "hybrid", "recurrence alone"),
               &both = series_of(figure, "hybrid", "both");
  for (std::size_t i = 0; i < both.x.size(); ++i) {
    EXPECT_EQ(window.y[i], both.x[i] <= 12 ? 1 : 0) << both.x[i];
    EXPECT_GE(both.y[i], std::max(window.y[i], recurrence.y[i])) << both.x[i];
  }
  EXPECT_EQ(figure.panels[0].bands.at(0).to, 12);
}

// A token d nodes from the end takes max(1, d) rounds, and R when that is more.
TEST(DepthRounds, TokensAreSolvedByAsManyRoundsAsTheyAreAway) {
  const Figure figure = figure_of("depth-rounds", {{"nodes", 5}, {"rounds", 6}, {"tokens", 1000}});
  std::vector<double> away;
  Generator generator(1);
  for (int t = 0; t < 1000; ++t) away.push_back(static_cast<double>(generator.integers(0, 5).value()));
  for (int R = 1; R <= 6; ++R) {
    double solved = 0, rounds = 0;
    for (double d : away) {
      solved += d <= R;
      rounds += std::min(std::max(1.0, d), static_cast<double>(R));
    }
    const auto i = static_cast<std::size_t>(R - 1);
    EXPECT_NEAR(series_of(figure, "solved", "solved").y[i], solved / 1000, 1e-12);
    EXPECT_NEAR(series_of(figure, "rounds", "rounds used, mean").y[i], rounds / 1000, 1e-12);
    EXPECT_EQ(series_of(figure, "cost", "parameters, shared").y[i], 1);
    EXPECT_EQ(series_of(figure, "cost", "parameters, unrolled").y[i], R);
    EXPECT_EQ(series_of(figure, "cost", "operations").y[i], R);
    EXPECT_EQ(series_of(figure, "cost", "K,V bytes").y[i], R);
  }
}

TEST(ResetLeak, FadesWithTheGateAndNotWithoutOne) {
  const Figure figure = figure_of("reset-leak", {{"alpha", 0.9}});
  for (const char* label : {"gated delta", "SSD"}) {
    EXPECT_GT(series_of(figure, "leak", label).y.front(), 0.5) << label;
    EXPECT_LT(series_of(figure, "leak", label).y.back(), 1e-9) << label;
  }
  EXPECT_GT(series_of(figure, "leak", "outer product").y.back(), 0.3);
}

}  // namespace
}  // namespace linearmem
