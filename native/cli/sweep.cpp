// linearmem sweep NAME: the numbers behind a figure, as JSON or CSV.
#include <unistd.h>

#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "linearmem/experiments.hpp"
#include "settings.hpp"
#include "verb.hpp"
#include "wall_clock.hpp"

namespace linearmem::cli {
namespace {

struct SweepArguments {
  std::string name;
  std::vector<std::string> settings;
  bool json = false, csv = false, list = false;
};

nlohmann::ordered_json to_json(const Axis& axis) {
  return {{"quantity", axis.quantity}, {"unit", axis.unit}, {"logarithmic", axis.logarithmic}};
}

nlohmann::ordered_json to_json(const Panel& panel) {
  nlohmann::ordered_json series = nlohmann::ordered_json::array();
  for (const Series& line : panel.series) {
    series.push_back({{"memory", line.memory}, {"label", line.label}, {"points", line.points}, {"x", line.x}, {"y", line.y}});
    if (!line.low.empty()) series.back().update({{"low", line.low}, {"high", line.high}});
  }
  nlohmann::ordered_json json = {{"name", panel.name}, {"x", to_json(panel.x)}, {"y", to_json(panel.y)}, {"series", std::move(series)}};
  for (const Band& band : panel.bands) json["bands"].push_back({{"label", band.label}, {"from", band.from}, {"to", band.to}});
  if (panel.columns > 0) json.update({{"columns", panel.columns}, {"limit", panel.limit}});
  return json;
}

void print_json(const Experiment& experiment, const Settings& settings, const Figure& figure) {
  nlohmann::ordered_json used = nlohmann::ordered_json::object(), panels = nlohmann::ordered_json::array();
  for (const SettingSpec& setting : experiment.settings)
    used[setting.name] = settings.count(setting.name) ? settings.at(setting.name) : setting.default_value;
  for (const Panel& panel : figure.panels) panels.push_back(to_json(panel));
  const nlohmann::ordered_json report = {{"experiment", experiment.name},
                                         {"question", experiment.question},
                                         {"not_shown", experiment.not_shown},
                                         {"settings", std::move(used)},
                                         {"panels", std::move(panels)}};
  std::cout << report.dump(2) << "\n";
}

// Quoted as RFC 4180 has it, always: labels hold commas.
std::string field(const std::string& text) {
  std::string quoted = "\"";
  for (char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

// An end of an interval; empty where the series has none.
std::string end_of(const std::vector<double>& ends, std::size_t i) { return ends.empty() ? "" : number_text(ends[i]); }

void print_csv(const Figure& figure) {
  std::cout << "panel,memory,label,x,y,low,high\n";
  for (const Panel& panel : figure.panels)
    for (const Series& series : panel.series)
      for (std::size_t i = 0; i < series.x.size(); ++i)
        std::cout << field(panel.name) << "," << field(series.memory) << "," << field(series.label) << "," << number_text(series.x[i])
                  << "," << number_text(series.y[i]) << "," << end_of(series.low, i) << "," << end_of(series.high, i) << "\n";
}

// A line on the terminal that is written over; nothing where standard error goes elsewhere.
Watch progress_on_terminal() {
  if (!isatty(STDERR_FILENO)) return {};
  return [last = -1](double progress) mutable {
    if (const int percent = static_cast<int>(100 * progress); percent != last) std::cerr << "\r" << (last = percent) << " %" << std::flush;
    return true;
  };
}

// The experiments of core, whose numbers are the same everywhere, and the one of this machine's times.
std::vector<const Experiment*> all_experiments() {
  std::vector<const Experiment*> all;
  for (const Experiment& experiment : experiments()) all.push_back(&experiment);
  all.push_back(&bench::wall_clock_experiment());
  return all;
}

Result<const Experiment*> find(const std::string& name) {
  std::string known;
  for (const Experiment* experiment : all_experiments()) {
    if (experiment->name == name) return experiment;
    known += (known.empty() ? "" : ", ") + std::string(experiment->name);
  }
  return Status::invalid("experiment " + name + " is not one of " + known);
}

Result<int> list_experiments() {
  for (const Experiment* listed : all_experiments()) {
    const Experiment& experiment = *listed;
    std::cout << experiment.name << "\n    " << experiment.question << "\n";
    for (const SettingSpec& setting : experiment.settings)
      std::cout << "    " << setting.name << "=" << number_text(setting.default_value) << "  " << setting.meaning << ", "
                << number_text(setting.minimum) << " to " << number_text(setting.maximum) << (setting.step == 1 ? ", whole" : "") << "\n";
  }
  return kDone;
}

Result<int> sweep(const SweepArguments& arguments) {
  if (arguments.list) return list_experiments();
  if (arguments.name.empty()) return Status::invalid("sweep needs a NAME; sweep --list names the experiments");
  if (arguments.json == arguments.csv) return Status::invalid("sweep needs one of --json and --csv");
  const auto experiment = find(arguments.name);
  if (!experiment.ok()) return experiment.status();
  const auto settings = parse_number_settings(arguments.settings);
  if (!settings.ok()) return settings.status();
  const auto figure = run_experiment(*experiment.value(), settings.value(), progress_on_terminal());
  if (isatty(STDERR_FILENO)) std::cerr << "\r\033[K";
  if (!figure.ok()) return figure.status();
  if (arguments.json) print_json(*experiment.value(), settings.value(), figure.value());
  if (arguments.csv) print_csv(figure.value());
  return kDone;
}

}  // namespace

void add_sweep(CLI::App& app, Verb& chosen) {
  const auto arguments = std::make_shared<SweepArguments>();
  CLI::App* verb = app.add_subcommand("sweep", "Compute the numbers of a figure");
  verb->add_option("NAME", arguments->name, "An experiment, for example memory-tradeoff");
  verb->add_option("--set", arguments->settings, "key=value, a setting of the experiment; may be repeated")->take_all()->expected(1);
  verb->add_flag("--json", arguments->json, "One JSON object on standard output");
  verb->add_flag("--csv", arguments->csv, "One line per point on standard output");
  verb->add_flag("--list", arguments->list, "Name the experiments and their settings, and stop");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return sweep(*arguments); }; });
}

}  // namespace linearmem::cli
