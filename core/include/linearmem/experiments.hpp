// Figure data: each experiment is a function from settings to series of numbers. Drawing happens elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
  std::vector<double> low = {}, high = {};  // the interval of each y; empty: none
  bool points = false;                      // measured: points with their intervals; otherwise a line
};

// A stretch of the horizontal axis that is shaded.
struct Band {
  std::string label;
  double from, to;
};

struct Panel {
  std::string name;
  Axis x, y;
  std::vector<Series> series;
  std::vector<Band> bands = {};
  std::int64_t columns = 0;  // above 0: each series is a picture, its y the pixels row by row, so many to a row
  double limit = 0;          // of the pictures' one scale, -limit to limit
};

struct Figure {
  std::vector<Panel> panels;
};

// A figure under way: call step() until progress() is 1. Each step takes some milliseconds at most.
class ExperimentRun {
 public:
  virtual ~ExperimentRun() = default;
  virtual void step() = 0;
  virtual double progress() const = 0;  // 0 to 1
  virtual Figure figure() const = 0;    // what is known so far
  virtual Status status() const { return {}; }  // not ok: why it cannot go on; the steps then do nothing
};

struct Experiment {
  const char* name;  // "memory-tradeoff"
  const char* question;
  const char* not_shown;  // what the figure does not show
  std::vector<SettingSpec> settings;
  // One of the two; called with every setting present and within its limits. start: figures that sample, and take time.
  Result<Figure> (*run)(const Settings& settings);
  Result<std::unique_ptr<ExperimentRun>> (*start)(const Settings& settings) = nullptr;
};

const std::vector<Experiment>& experiments();
Result<const Experiment*> find_experiment(std::string_view name);

// The settings with defaults filled in. Errors: unknown names and values outside the limits, naming both numbers.
Result<Settings> complete_settings(const Experiment& experiment, const Settings& settings);

// All complete the settings first.
Result<std::unique_ptr<ExperimentRun>> start_experiment(std::string_view name, const Settings& settings);
Result<std::unique_ptr<ExperimentRun>> start_experiment(const Experiment& experiment, const Settings& settings);

// Hears of progress after each step and answers whether to go on; a stopped run is StatusCode::cancelled.
using Watch = std::function<bool(double progress)>;
Result<Figure> run_experiment(std::string_view name, const Settings& settings, const Watch& watch = {});
Result<Figure> run_experiment(const Experiment& experiment, const Settings& settings, const Watch& watch = {});

}  // namespace linearmem
