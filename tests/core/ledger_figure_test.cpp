// The ledger's figure has the ledger's numbers, and its marks stand where two lines meet.
#include "linearmem/ledger_figure.hpp"

#include <gtest/gtest.h>

#include <string>

namespace linearmem {
namespace {

Figure figure_of(const char* name, const LedgerSettings& settings) {
  const auto model = find_model(name);
  EXPECT_TRUE(model.ok());
  const auto figure = ledger_figure(model.value(), settings);
  EXPECT_TRUE(figure.ok()) << figure.status().message();
  return figure.ok() ? figure.value() : Figure{{{}, {}}};
}

const Series& series_of(const Panel& panel, const std::string& label) {
  for (const Series& series : panel.series)
    if (series.label == label) return series;
  ADD_FAILURE() << "no series " << label;
  return panel.series.front();
}

TEST(LedgerFigure, MarksStandOnBothLines) {
  const Figure figure = figure_of("Qwen3-Next-80B-A3B", {.context = 4096, .batch = 3, .device_bytes = 1 << 30});
  const Series& mark = series_of(figure.panels[0], "break-even: gated delta rule");
  EXPECT_EQ(mark.x, std::vector<double>{1048});
  EXPECT_EQ(mark.y, std::vector<double>{1048.0 * 2048});
  EXPECT_EQ(series_of(figure.panels[0], "gated delta rule").y.front(), 1048.0 * 2048);
  EXPECT_EQ(series_of(figure.panels[0], "grouped query attention").y.front(), 2048);
  EXPECT_EQ(series_of(figure.panels[1], "break-even: this model").y, std::vector<double>{3 * 48 * 1048.0 * 2048});
  EXPECT_EQ(series_of(figure.panels[1], "this model").y.front(), 3 * (12 * 2048.0 + 36 * 1048 * 2048));
  EXPECT_EQ(series_of(figure.panels[1], "in every layer").y.back(), 3 * 48 * 2048.0 * 1048576);
  EXPECT_EQ(series_of(figure.panels[1], "device memory").y.back(), 1 << 30);
  EXPECT_EQ(figure.panels[0].bands.at(0).to, 4096);
}

TEST(LedgerFigure, ReachesTheContextAndComparesWhereThereIsNoAttention) {
  const Figure figure = figure_of("RWKV-7-World-2.9B", {.context = (1 << 22) + 1});
  EXPECT_EQ(figure.panels[0].series.at(0).x.back(), 1 << 23);
  EXPECT_EQ(series_of(figure.panels[0], "full attention instead").y.front(), 2 * 2560 * 2);
  EXPECT_EQ(figure.panels[0].series.size(), 3u);
}

TEST(LedgerFigure, WhatKeepsNothingIsNotDrawn) {
  const Figure figure = figure_of("T5-Large", {});
  for (const Series& series : figure.panels[0].series) EXPECT_NE(series.label, "encoder attention");
}

TEST(LedgerFigure, EveryNamedModelHasOne) {
  for (const NamedModel& named : named_models())
    for (const Panel& panel : figure_of(named.name, {}).panels)
      for (const Series& series : panel.series)
        for (double y : series.y) EXPECT_GT(y, 0) << named.name << " " << series.label;
}

TEST(LedgerFigure, SettingsAreHeldToTheirLimits) {
  EXPECT_EQ(ledger_settings({{"kv_bits", 8}, {"device_gib", 0.5 + 1}}).value().device_bytes, 3ll << 29);
  EXPECT_EQ(ledger_settings({}).value().precision.state_bits, 32);
  EXPECT_EQ(ledger_settings({{"kv_bits", 12}}).status().message(), "ledger: kv_bits is 12, must be 4, 8, 16, 32 or 64");
  EXPECT_EQ(ledger_settings({{"batch", 0}}).status().message(), "ledger: batch is 0, must be from 1 to 65536");
  EXPECT_NE(ledger_settings({{"heads", 1}}).status().message().find("ledger: setting heads is not one of context, batch, "),
            std::string::npos);
  EXPECT_FALSE(run_experiment("ledger", {{"model", 1e6}}).ok());
}

}  // namespace
}  // namespace linearmem
