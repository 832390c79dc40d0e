// What was measured, for people (a Markdown table) and for programs (JSON).
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace linearmem::bench {

struct LevelSpeed {
  std::string name;
  double bytes = 0;
  double read = 0, update = 0;  // bytes per second
};

// The machine's own limits, the best of several samples.
struct MachineLimits {
  double flops32 = 0, flops64 = 0;
  std::vector<LevelSpeed> levels;
};

MachineLimits machine_limits(const MeasureOptions& options);

std::string limits_table(const MachineLimits& limits, const MeasureOptions& options);
std::string table_head(const MeasureOptions& options);
std::string table_line(const Measurement& result, const MeasureOptions& options);
std::string json_text(const MachineLimits& limits, const MeasureOptions& options, const std::vector<Measurement>& results);

}  // namespace linearmem::bench
