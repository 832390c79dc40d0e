#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "experiments/lists.hpp"
#include "foundation/number_text.hpp"
#include "linearmem/backend.hpp"

namespace linearmem {
namespace {

Status check(const Experiment& experiment, const SettingSpec& setting, double value) {
  const std::string name = std::string(experiment.name) + ": " + setting.name;
  if (!(value >= setting.minimum && value <= setting.maximum))
    return Status::invalid(name + " is " + number_text(value) + ", must be from " + number_text(setting.minimum) + " to " + number_text(setting.maximum));
  if (setting.step == 1 && value != std::floor(value)) return Status::invalid(name + " is " + number_text(value) + ", must be a whole number");
  return {};
}

// A figure that was computed at once, without parts.
class Finished final : public FigureParts {
 public:
  explicit Finished(Figure figure) : figure_(std::move(figure)) {}
  std::int64_t count() const override { return 0; }
  double work(std::int64_t) const override { return 0; }
  Result<std::unique_ptr<PartRun>> start(std::int64_t) const override {
    return Status::invalid("a figure without parts has none to start");
  }
  Figure draw(const std::vector<std::vector<double>>&) const override { return figure_; }

 private:
  Figure figure_;
};

// On a backend nothing is computed, only to be refused.
Result<std::unique_ptr<FigureParts>> finished_parts(const Experiment& experiment, const Settings& settings, const Backend* backend) {
  Result<Figure> figure = backend ? Figure{} : experiment.run(settings);
  if (!figure.ok()) return figure.status();
  return std::unique_ptr<FigureParts>(std::make_unique<Finished>(std::move(figure).value()));
}

// The parts of a figure, one after the other.
class InTurn final : public ExperimentRun {
 public:
  explicit InTurn(std::unique_ptr<FigureParts> parts) : parts_(std::move(parts)), values_(static_cast<std::size_t>(parts_->count())) {
    for (std::int64_t part = 0; part < parts_->count(); ++part) all_ += parts_->work(part);
  }

  Status step() override {
    if (part_ == parts_->count()) return {};
    if (!run_) {
      auto run = parts_->start(part_);
      if (!run.ok()) return run.status();
      run_ = std::move(run).value();
    }
    if (Status status = run_->step(); !status.ok()) return status;
    if (run_->progress() < 1) return {};
    values_[static_cast<std::size_t>(part_)] = run_->values();
    done_ += parts_->work(part_++);
    run_.reset();
    return {};
  }
  double progress() const override {
    if (part_ == parts_->count()) return 1;
    const double under_way = run_ ? run_->progress() * parts_->work(part_) : 0;
    return std::min((done_ + under_way) / all_, 0.999);
  }
  Figure figure() const override { return parts_->draw(values_); }

 private:
  std::unique_ptr<FigureParts> parts_;
  std::unique_ptr<PartRun> run_;
  std::vector<std::vector<double>> values_;
  std::int64_t part_ = 0;
  double done_ = 0, all_ = 0;
};

}  // namespace

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> list = list_experiments();
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

Result<Settings> complete_settings(const Experiment& experiment, const Settings& settings) {
  Settings complete;
  std::string known;
  for (const SettingSpec& setting : experiment.settings) {
    complete[setting.name] = setting.default_value;
    known += (known.empty() ? "" : ", ") + std::string(setting.name);
  }
  for (const auto& [key, value] : settings) {
    if (!complete.count(key)) return Status::invalid(std::string(experiment.name) + ": setting " + key + " is not one of " + known);
    complete[key] = value;
  }
  for (const SettingSpec& setting : experiment.settings)
    if (Status status = check(experiment, setting, complete[setting.name]); !status.ok()) return status;
  return complete;
}

Status FigureParts::compute_on(const Backend& backend) {
  return Status::unavailable("backend " + std::string(backend.name()) + " does not compute this figure; it has those that sample interference");
}

Result<std::unique_ptr<FigureParts>> experiment_parts(const Experiment& experiment, const Settings& settings, const Backend* backend) {
  const auto complete = complete_settings(experiment, settings);
  if (!complete.ok()) return complete.status();
  auto parts = experiment.parts ? experiment.parts(complete.value()) : finished_parts(experiment, complete.value(), backend);
  if (!parts.ok() || !backend) return parts;
  if (Status status = parts.value()->compute_on(*backend); !status.ok())
    return Status(status.code(), std::string(experiment.name) + ": " + status.message());
  return parts;
}

Result<std::unique_ptr<ExperimentRun>> start_experiment(std::string_view name, const Settings& settings) {
  const auto found = find_experiment(name);
  return found.ok() ? start_experiment(*found.value(), settings) : found.status();
}

Result<std::unique_ptr<ExperimentRun>> start_experiment(const Experiment& experiment, const Settings& settings) {
  auto parts = experiment_parts(experiment, settings);
  if (!parts.ok()) return parts.status();
  return std::unique_ptr<ExperimentRun>(std::make_unique<InTurn>(std::move(parts).value()));
}

Result<Figure> run_experiment(std::string_view name, const Settings& settings, const Watch& watch) {
  const auto found = find_experiment(name);
  return found.ok() ? run_experiment(*found.value(), settings, watch) : found.status();
}

Result<Figure> run_experiment(const Experiment& experiment, const Settings& settings, const Watch& watch) {
  auto run = start_experiment(experiment, settings);
  if (!run.ok()) return run.status();
  while (run.value()->progress() < 1) {
    if (Status status = run.value()->step(); !status.ok()) return status;
    if (watch && !watch(run.value()->progress()))
      return Status(StatusCode::cancelled, std::string(experiment.name) + ": stopped before it was finished");
  }
  return run.value()->figure();
}

}  // namespace linearmem
