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

class Backend;

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

// One part of a figure under way: call step() until progress() is 1. Each step takes some milliseconds, not many.
class PartRun {
 public:
  virtual ~PartRun() = default;
  virtual Status step() = 0;            // an error ends the run
  virtual double progress() const = 0;  // 0 to 1
  virtual std::vector<double> values() const = 0;  // what the part adds to the figure, once progress is 1
};

// A figure that takes time, in parts that know nothing of each other: in any order, on any threads and after any interruption each has
// the same values, and the same values draw the same figure. Parts may be started and stepped on different threads at once.
class FigureParts {
 public:
  virtual ~FigureParts() = default;
  virtual std::int64_t count() const = 0;
  virtual double work(std::int64_t part) const = 0;  // multiply-adds, roughly: how parts compare in time
  virtual Result<std::unique_ptr<PartRun>> start(std::int64_t part) const = 0;
  virtual Figure draw(const std::vector<std::vector<double>>& values) const = 0;  // one for each part; empty: not known yet

  // Parts started from now on compute on `backend`, which must outlive them. Error: unavailable, where the figure or the backend cannot.
  virtual Status compute_on(const Backend& backend);
};

// A figure under way: call step() until progress() is 1. Each step takes some milliseconds, not many.
class ExperimentRun {
 public:
  virtual ~ExperimentRun() = default;
  virtual Status step() = 0;            // an error ends the run
  virtual double progress() const = 0;  // 0 to 1, by work
  virtual Figure figure() const = 0;    // what is known so far
};

// Settings under a name, for a figure that is worth more time than its default.
struct Preset {
  const char* name;  // "large"
  Settings settings;
};

struct Experiment {
  const char* name;  // "memory-tradeoff"
  const char* question;
  const char* not_shown;  // what the figure does not show
  std::vector<SettingSpec> settings;
  // One of the two; called with every setting present and within its limits.
  Result<Figure> (*run)(const Settings& settings);
  Result<std::unique_ptr<FigureParts>> (*parts)(const Settings& settings) = nullptr;
  std::vector<Preset> presets = {};
};

const std::vector<Experiment>& experiments();
// Errors: an unknown name; the message lists those that are known.
Result<const Experiment*> find_experiment(std::string_view name);

// The settings with defaults filled in. Errors: unknown names and values outside the limits, naming both numbers.
Result<Settings> complete_settings(const Experiment& experiment, const Settings& settings);

// All complete the settings first; errors are those of that, and of the name. No parts where the experiment has no `parts`; backend: null for this
// processor.
Result<std::unique_ptr<FigureParts>> experiment_parts(const Experiment& experiment, const Settings& settings, const Backend* backend = nullptr);
Result<std::unique_ptr<ExperimentRun>> start_experiment(std::string_view name, const Settings& settings);
Result<std::unique_ptr<ExperimentRun>> start_experiment(const Experiment& experiment, const Settings& settings);

// Runs parts one after the other. Hears of progress after each step and answers whether to go on; a stopped run is StatusCode::cancelled.
using Watch = std::function<bool(double progress)>;
Result<Figure> run_experiment(std::string_view name, const Settings& settings, const Watch& watch = {});
Result<Figure> run_experiment(const Experiment& experiment, const Settings& settings, const Watch& watch = {});

}  // namespace linearmem
