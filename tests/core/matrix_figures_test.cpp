// Figures that show matrices: the numbers in their cells are those of the definitions, and each planted mistake shows where it should.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "linearmem/experiments.hpp"

namespace linearmem {
namespace {

Figure figure_of(const char* name, const Settings& settings) {
  auto figure = run_experiment(name, settings);
  EXPECT_TRUE(figure.ok()) << figure.status().message();
  return figure.ok() ? std::move(figure).value() : Figure{};
}

struct Shown {
  std::vector<double> cells;
  std::int64_t columns;
  double operator()(std::int64_t row, std::int64_t column) const { return cells.at(static_cast<std::size_t>(row * columns + column)); }
};

Shown shown(const Figure& figure, const std::string& panel, const std::string& label) {
  for (const Panel& candidate : figure.panels)
    for (const Series& series : candidate.series)
      if (candidate.name == panel && series.label == label) {
        for (double value : series.y) EXPECT_LE(std::abs(value), candidate.limit) << panel << " " << label;
        return {series.y, candidate.columns};
      }
  ADD_FAILURE() << panel << " " << label;
  return {{}, 1};
}

TEST(SoftmaxKernel, WeighsAsLM04Says) {
  const Figure figure = figure_of("softmax-kernel", {});
  for (const char* label : {"softmax", "kernel"}) {
    const Shown weights = shown(figure, "weights", label);
    for (std::int64_t t = 0; t < 8; ++t) {
      double sum = 0;
      for (std::int64_t s = 0; s < 8; ++s) {
        sum += weights(t, s);
        if (s > t) {
          EXPECT_EQ(weights(t, s), 0) << label;
        }
      }
      EXPECT_NEAR(sum, 1, 1e-5) << label;  // the kernel's eps
    }
  }
  double largest = 0;
  for (double value : shown(figure, "outputs", "difference").cells) largest = std::max(largest, std::abs(value));
  EXPECT_NEAR(largest, 0.92144279053506, 1e-12);
}

TEST(SoftmaxKernel, WithoutTheMaskEveryTokenIsWeighed) {
  const Shown weights = shown(figure_of("softmax-kernel", {{"causal", 0}, {"tokens", 5}}), "weights", "kernel");
  EXPECT_EQ(weights.columns, 5);
  for (double weight : weights.cells) EXPECT_GT(weight, 0);
}

TEST(RecurrentState, EveryTokenAddsUp) {
  for (double token = 1; token <= 8; ++token) {
    const Figure figure = figure_of("recurrent-state", {{"token", token}});
    const Shown value = shown(figure, "write", "value"), key = shown(figure, "count", "written");
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(shown(figure, "count", "before")(i, 0) + key(i, 0), shown(figure, "count", "after")(i, 0), 1e-14);
      for (std::int64_t j = 0; j < 3; ++j) {
        EXPECT_NEAR(shown(figure, "write", "written")(i, j), key(i, 0) * value(0, j), 1e-15);
        EXPECT_NEAR(shown(figure, "write", "before")(i, j) + shown(figure, "write", "written")(i, j), shown(figure, "write", "after")(i, j), 1e-14);
      }
    }
    const Shown steps = shown(figure, "outputs", "step by step"), back = shown(figure, "outputs", "looking back");
    EXPECT_EQ(steps.cells.size(), static_cast<std::size_t>(3 * token));
    for (std::size_t i = 0; i < steps.cells.size(); ++i) EXPECT_NEAR(steps.cells[i], back.cells.at(i), 1e-12);
    for (std::int64_t j = 0; j < 3; ++j)
      EXPECT_NEAR(shown(figure, "sum", "sum")(0, j) / (shown(figure, "weight", "weight")(0, 0) + 1e-6), back(static_cast<std::int64_t>(token) - 1, j), 1e-12);
  }
  const Shown outputs = shown(figure_of("recurrent-state", {}), "outputs", "looking back");
  const double first_rows[] = {-0.5793013823065131, -0.19619590026124073, 0.8987635397834051, 0.32426122155186393, -0.7868605387163932, 0.011504930759062667};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(outputs.cells.at(i), first_rows[i], 1e-12);  // LM05
}

TEST(RecurrentState, ReadingFirstLeavesTheFirstOutputEmpty) {
  const Figure figure = figure_of("recurrent-state", {{"order", 1}, {"token", 2}});
  const Shown steps = shown(figure, "outputs", "step by step"), back = shown(figure, "outputs", "looking back");
  for (std::int64_t j = 0; j < 3; ++j) EXPECT_EQ(steps(0, j), 0);
  EXPECT_GT(std::abs(steps(1, 0) - back(1, 0)), 0.1);
}

TEST(Correction, ReadsFollowTheClosedForms) {
  for (const auto& [rho, alpha, beta] : {std::array{0.5, 1.0, 1.0}, std::array{0.9, 0.7, 0.6}, std::array{0.0, 0.5, 2.0}, std::array{-0.4, 0.0, 1.0}}) {
    const Figure figure = figure_of("correction", {{"rho", rho}, {"alpha", alpha}, {"beta", beta}});
    const Shown first = shown(figure, "reads", "first key"), second = shown(figure, "reads", "second key");
    EXPECT_NEAR(first(0, 0), alpha * (1 - beta * rho * rho), 1e-15);
    EXPECT_NEAR(first(0, 1), beta * rho, 1e-15);
    EXPECT_NEAR(second(0, 0), alpha * rho * (1 - beta), 1e-15);
    EXPECT_NEAR(second(0, 1), beta, 1e-15);
    for (std::int64_t j = 0; j < 2; ++j)
      EXPECT_NEAR(shown(figure, "reads", "orthogonal key, before")(0, j), shown(figure, "reads", "orthogonal key, after")(0, j), 1e-15);
    for (std::int64_t i = 0; i < 2; ++i)
      for (std::int64_t j = 0; j < 2; ++j)
        EXPECT_NEAR(shown(figure, "state", "decayed")(i, j) + shown(figure, "state", "written")(i, j), shown(figure, "state", "after")(i, j), 1e-15);
    const Panel& strength = figure.panels.back();
    EXPECT_EQ(strength.series.at(2).x, (std::vector<double>{beta, beta}));
    EXPECT_NEAR(strength.series.at(2).y.at(1), std::hypot(second(0, 0), second(0, 1) - 1), 1e-15);
  }
}

TEST(Correction, AnErrorMeasuredBeforeTheDecayIsAnotherRule) {
  const auto second = [](double alpha, double order) { return shown(figure_of("correction", {{"alpha", alpha}, {"order", order}}), "reads", "second key"); };
  EXPECT_NEAR(second(0.5, 1)(0, 0), 0.5 * 0.5 - 0.5, 1e-15);  // alpha rho - beta rho
  EXPECT_NEAR(second(0.5, 0)(0, 0), 0, 1e-15);
  EXPECT_EQ(second(1, 1).cells, second(1, 0).cells);
}

TEST(ScanMatrix, IsTheProductOfTheDecaysInBetween) {
  for (double tokens : {2.0, 8.0, 13.0})
    for (double chunk : {1.0, 3.0, 4.0, 16.0}) {
      const Figure figure = figure_of("scan-matrix", {{"tokens", tokens}, {"chunk", chunk}});
      const Shown decays = shown(figure, "decays", "decay of each token"), matrix = shown(figure, "matrix", "one matrix");
      for (std::int64_t j = 0; j < matrix.columns; ++j) {
        double product = 1;
        for (std::int64_t i = j; i >= 0; --i) {
          EXPECT_NEAR(matrix(j, i), product, 1e-14);
          product *= decays(0, i);
        }
        for (std::int64_t i = j + 1; i < matrix.columns; ++i) EXPECT_EQ(matrix(j, i), 0);
      }
      for (double value : shown(figure, "matrix", "difference").cells) EXPECT_NEAR(value, 0, 1e-14);
    }
}

TEST(ScanMatrix, AnErrorByOneShowsOnlyBeyondItsChunk) {
  for (double boundary : {1.0, 2.0}) {
    const Figure figure = figure_of("scan-matrix", {{"chunk", 3}, {"boundary", boundary}});
    const Shown difference = shown(figure, "matrix", "difference"), chunked = shown(figure, "matrix", "in chunks"), matrix = shown(figure, "matrix", "one matrix");
    const Shown decays = shown(figure, "decays", "decay of each token");
    for (std::int64_t j = 0; j < 8; ++j)
      for (std::int64_t i = 0; i < 8; ++i) {
        if (i > j || i / 3 == j / 3) {
          EXPECT_NEAR(difference(j, i), 0, 1e-15);
        } else if (boundary == 1) {
          double missing = 1;
          for (std::int64_t first = 3; first <= j; first += 3) missing *= first > i ? decays(0, first) : 1;
          EXPECT_NEAR(chunked(j, i) * missing, matrix(j, i), 1e-14);
        } else {
          if (i % 3 == 2) {
            EXPECT_EQ(chunked(j, i), 0);
          }
          EXPECT_GT(std::abs(difference(j, i)), 1e-3);
        }
      }
  }
}

TEST(SegmentRows, ReachWhatTheLimitKeeps) {
  for (double limit : {0.0, 3.0, 7.0, 64.0}) {
    const Figure figure = figure_of("segment-rows", {{"limit", limit}, {"length", 4}, {"segments", 5}});
    const Shown rows = shown(figure, "rows", "segment by segment");
    const std::vector<double>& reach = figure.panels.at(1).series.at(1).y;
    for (std::int64_t s = 0; s < 5; ++s) {
      const std::int64_t kept = std::min<std::int64_t>(static_cast<std::int64_t>(limit), 4 * s);
      for (std::int64_t t = 0; t < 20; ++t) EXPECT_EQ(rows(s, t), t / 4 == s ? -0.5 : t < 4 * s && t >= 4 * s - kept ? 1 : 0) << s << " " << t;
      for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(reach.at(static_cast<std::size_t>(4 * s + i)), static_cast<double>(kept + i + 1));
    }
  }
}

}  // namespace
}  // namespace linearmem
