// The figure of a layer opened up: its matrices follow from each other as the layer's formulas say, whatever token is the newest.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "linearmem/experiments.hpp"

namespace linearmem {
namespace {

std::vector<double> cells(const Figure& figure, const std::string& panel, const std::string& label) {
  for (const Panel& candidate : figure.panels)
    for (const Series& series : candidate.series)
      if (candidate.name == panel && series.label == label) return series.y;
  ADD_FAILURE() << panel << " " << label;
  return {};
}

Figure opened(const Settings& settings) {
  auto figure = run_experiment("layer-opened", settings);
  EXPECT_TRUE(figure.ok()) << figure.status().message();
  return figure.ok() ? std::move(figure).value() : Figure{};
}

TEST(LayerOpened, TheStateStepsByTheGatedDeltaRule) {
  for (double token : {1.0, 2.0, 5.0, 8.0}) {
    const Figure figure = opened({{"token", token}, {"rate", 0.5}});
    const auto newest = [&](const char* panel, const char* label, std::size_t width) {
      const std::vector<double> all = cells(figure, panel, label);
      EXPECT_EQ(all.size(), static_cast<std::size_t>(token) * width) << label;
      return std::vector<double>(all.end() - static_cast<std::ptrdiff_t>(width), all.end());
    };
    auto q = newest("heads", "query", 4), k = newest("heads", "key", 4);
    const auto v = newest("heads", "value", 4);
    for (auto* row : {&q, &k}) {
      const double root = std::sqrt(std::inner_product(row->begin(), row->end(), row->begin(), 1e-6));
      for (double& value : *row) value /= root;
    }
    const double alpha = newest("gates", "decay", 1)[0], beta = newest("gates", "strength", 1)[0];
    const auto before = cells(figure, "state", "before"), after = cells(figure, "state", "after");
    for (std::size_t j = 0; j < 4; ++j) {
      double seen = 0, read = 0;
      for (std::size_t i = 0; i < 4; ++i) seen += k[i] * alpha * before[i * 4 + j];
      for (std::size_t i = 0; i < 4; ++i) {
        const double expected = alpha * before[i * 4 + j] + k[i] * beta * (v[j] - seen);
        EXPECT_NEAR(after[i * 4 + j], expected, 1e-13);
        read += q[i] / 2 * expected;
      }
      EXPECT_NEAR(newest("answer", "read", 4)[j], read, 1e-13);
    }
    const auto read = newest("answer", "read", 4), gate = newest("answer", "gate", 4), gated = newest("answer", "gated", 4);
    const double mean = std::inner_product(read.begin(), read.end(), read.begin(), 0.0) / 4;
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(gated[j], read[j] / std::sqrt(mean + 1e-6) * gate[j], 1e-12);
  }
}

TEST(LayerOpened, EarlierRowsDoNotChange) {
  const Figure early = opened({{"token", 3}}), late = opened({{"token", 8}});
  for (std::size_t p = 0; p < early.panels.size(); ++p) {
    EXPECT_EQ(early.panels[p].limit, late.panels[p].limit) << early.panels[p].name;
    if (early.panels[p].name == "state") continue;
    for (std::size_t s = 0; s < early.panels[p].series.size(); ++s) {
      const std::vector<double>&few = early.panels[p].series[s].y, &all = late.panels[p].series[s].y;
      EXPECT_EQ(few.size() * 8, all.size() * 3);
      EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin())) << early.panels[p].name << " " << early.panels[p].series[s].label;
    }
  }
}

}  // namespace
}  // namespace linearmem
