// Figure data: each experiment is a function from settings to series of numbers. Drawing happens elsewhere.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem {

struct SettingSpec {
  const char* name;     // "beta": command line, URL and knob
  const char* meaning;  // "how hard the write overwrites"
  double default_value;
  double minimum;
  double maximum;
  double step;  // 1 for whole numbers; 0 where any value goes
};

using Settings = std::map<std::string, double>;

struct Axis {
  const char* quantity;  // "prefix length"
  const char* unit;      // "tokens", "bytes", "" for a pure number
  bool logarithmic = false;
};

struct Series {
  std::string memory;  // which colour and line: "softmax_attention", "delta_rule", ... (a room, or a rule within one)
  std::string label;
  std::vector<double> x, y;
};

struct Panel {
  std::string name;
  Axis x, y;
  std::vector<Series> series;
};

struct Figure {
  std::vector<Panel> panels;
};

struct Experiment {
  const char* name;  // "memory-tradeoff"
  const char* question;
  const char* not_shown;  // what the figure does not show
  std::vector<SettingSpec> settings;
  Result<Figure> (*run)(const Settings& settings);  // called with every setting present and within its limits
};

const std::vector<Experiment>& experiments();
Result<const Experiment*> find_experiment(std::string_view name);

// Fills in defaults; refuses unknown names and values outside the limits, naming both numbers.
Result<Figure> run_experiment(std::string_view name, const Settings& settings);

}  // namespace linearmem
