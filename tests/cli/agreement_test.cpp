// linearmem agreement: a line for each form of each mechanism, every number within its precision's tolerance, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/command.hpp"
#include "linearmem/mechanisms.hpp"

namespace linearmem {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, '|');) cells.push_back(cell);
  return cells;
}

TEST(Agreement, HasALineForEachFormWithBothPrecisions) {
  const test::Outcome outcome = test::linearmem({"agreement", "--tokens", "70", "--explicit-tokens", "20", "--width", "8"});
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  std::istringstream lines(outcome.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "| mechanism | form | float64 (tokens) | float32 (tokens) |");
  std::getline(lines, line);
  int count = 0;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    ASSERT_EQ(cells.size(), 5u) << line;
    const double wide = std::stod(cells[3]), narrow = std::stod(cells[4]);
    EXPECT_LE(wide, 1e-12) << line;
    EXPECT_LE(narrow, 1e-5) << line;
    EXPECT_GT(narrow, 1e-9) << line << ": float32 compared with itself";
    ++count;
  }
  for (const char* start : {"| delta-rule | chunked | ", "| gated-delta-rule, g | recurrent | ", "| gated-delta-rule, g_key | explicit | ",
                            "| linear-attention, g_key | chunked | ", "| softmax-attention | streaming | ", "| ssd | chunked | "})
    EXPECT_NE(outcome.out.find(start), std::string::npos) << start;
  EXPECT_GE(count, 2 + 6 * 3);
}

TEST(Agreement, OneMechanismAlone) {
  const test::Outcome outcome = test::linearmem({"agreement", "delta-rule", "--tokens", "16"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2 + 3);
}

TEST(Agreement, Refusals) {
  EXPECT_NE(test::refused({"agreement", "delta"}).find("unknown mechanism \"delta\""), std::string::npos);
  EXPECT_EQ(test::refused({"agreement", "segment-memory"}),
            "segment-memory has nothing to compare: it has one form only, or is made of other mechanisms");
  EXPECT_EQ(test::refused({"agreement", "--tokens", "0"}), "--tokens is 0, must be from 1 to 65536");
  EXPECT_EQ(test::refused({"agreement", "--width", "2000"}), "--width is 2000, must be from 1 to 1024");
}

}  // namespace
}  // namespace linearmem
