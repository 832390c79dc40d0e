#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "experiments/lists.hpp"

namespace linearmem {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

Status check(const Experiment& experiment, const SettingSpec& setting, double value) {
  const std::string name = std::string(experiment.name) + ": " + setting.name;
  if (!(value >= setting.minimum && value <= setting.maximum))
    return Status::invalid(name + " is " + number(value) + ", must be from " + number(setting.minimum) + " to " + number(setting.maximum));
  if (setting.step == 1 && value != std::floor(value)) return Status::invalid(name + " is " + number(value) + ", must be a whole number");
  return {};
}

// A figure that was computed at once.
class Finished final : public ExperimentRun {
 public:
  explicit Finished(Figure figure) : figure_(std::move(figure)) {}
  void step() override {}
  double progress() const override { return 1; }
  Figure figure() const override { return figure_; }

 private:
  Figure figure_;
};

}  // namespace

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> list = {
      memory_tradeoff_experiment(), picture_readback_experiment(),         interference_growth_experiment(), least_squares_experiment(),
      responses_experiment(),       truncated_exponentials_experiment(), softmax_weights_experiment(),     logn_sharpening_experiment(),
      noisy_query_experiment(),     hopfield_experiment(),        knn_neighbours_experiment()};
  return list;
}

Result<const Experiment*> find_experiment(std::string_view name) {
  std::string known;
  for (const Experiment& experiment : experiments()) {
    if (experiment.name == name) return &experiment;
    known += (known.empty() ? "" : ", ") + std::string(experiment.name);
  }
  return Status::invalid("experiment " + std::string(name) + " is not one of " + known);
}

Result<std::unique_ptr<ExperimentRun>> start_experiment(std::string_view name, const Settings& settings) {
  const auto found = find_experiment(name);
  if (!found.ok()) return found.status();
  const Experiment& experiment = *found.value();
  Settings complete;
  std::string known;
  for (const SettingSpec& setting : experiment.settings) {
    complete[setting.name] = setting.default_value;
    known += (known.empty() ? "" : ", ") + std::string(setting.name);
  }
  for (const auto& [key, value] : settings) {
    if (!complete.count(key)) return Status::invalid(std::string(name) + ": setting " + key + " is not one of " + known);
    complete[key] = value;
  }
  for (const SettingSpec& setting : experiment.settings)
    if (Status status = check(experiment, setting, complete[setting.name]); !status.ok()) return status;
  if (experiment.start) return experiment.start(complete);
  Result<Figure> figure = experiment.run(complete);
  if (!figure.ok()) return figure.status();
  return std::unique_ptr<ExperimentRun>(std::make_unique<Finished>(std::move(figure).value()));
}

Result<Figure> run_experiment(std::string_view name, const Settings& settings, const Watch& watch) {
  auto run = start_experiment(name, settings);
  if (!run.ok()) return run.status();
  while (run.value()->progress() < 1) {
    run.value()->step();
    if (watch && !watch(run.value()->progress())) return Status(StatusCode::cancelled, std::string(name) + ": stopped before it was finished");
  }
  return run.value()->figure();
}

}  // namespace linearmem
