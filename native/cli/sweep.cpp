// linearmem sweep NAME: the numbers behind a figure, as JSON or CSV.
#include <iostream>
#include <memory>
#include <optional>

#include <nlohmann/json.hpp>

#include "backend.hpp"
#include "linearmem/target.hpp"
#include "settings.hpp"
#include "staged_file.hpp"
#include "sweep_output.hpp"
#include "sweep_run.hpp"
#include "threads.hpp"
#include "verb.hpp"
#include "wall_clock.hpp"

namespace linearmem::cli {
namespace {

struct SweepArguments {
  std::string name, preset, output, backend = kProcessor;
  std::vector<std::string> settings;
  std::int64_t threads = 1;
  bool json = false, csv = false, list = false, estimate = false;
};

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
    for (const Preset& preset : experiment.presets) {
      std::cout << "    --preset " << preset.name << ":";
      for (const auto& [key, value] : preset.settings) std::cout << " " << key << "=" << number_text(value);
      std::cout << "\n";
    }
  }
  return kDone;
}

// Those of the preset, and over them those that were set by themselves.
Result<Settings> chosen_settings(const Experiment& experiment, const SweepArguments& arguments) {
  auto settings = parse_number_settings(arguments.settings);
  if (!settings.ok() || arguments.preset.empty()) return settings;
  std::string known;
  for (const Preset& preset : experiment.presets) {
    if (preset.name == arguments.preset) {
      settings.value().insert(preset.settings.begin(), preset.settings.end());
      return settings;
    }
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  return Status::invalid("--preset " + arguments.preset + " is not one of " + experiment.name +
                         "'s, which are: " + (known.empty() ? "none" : known));
}

// What makes two runs the same. Sums on another backend differ in their last bits.
std::string header_of(const Experiment& experiment, const Settings& settings, const Backend* backend) {
  nlohmann::ordered_json all;
  for (const SettingSpec& setting : experiment.settings)
    all[setting.name] = number_text(settings.count(setting.name) ? settings.at(setting.name) : setting.default_value);
  nlohmann::ordered_json header{{"sweep", experiment.name}, {"build", build_id()}, {"settings", std::move(all)}};
  if (backend) header["backend"] = backend->name();
  return header.dump();
}

Status write_whole(const std::string& path, const std::string& text) {
  auto file = StagedFile::create(path);
  if (!file.ok()) return file.status();
  if (Status status = file.value().append(text); !status.ok()) return status;
  return file.value().commit();
}

Result<int> sweep(const SweepArguments& arguments) {
  if (arguments.list) return list_experiments();
  if (arguments.name.empty()) return Status::invalid("sweep needs a NAME; sweep --list names the experiments");
  if (!arguments.estimate && arguments.json == arguments.csv) return Status::invalid("sweep needs one of --json and --csv");
  const auto found = find(arguments.name);
  if (!found.ok()) return found.status();
  const Experiment& experiment = *found.value();
  const auto settings = chosen_settings(experiment, arguments);
  if (!settings.ok()) return settings.status();
  if (&experiment == &bench::wall_clock_experiment() && arguments.threads != 1)
    return Status::invalid("--threads is " + std::to_string(arguments.threads) + "; wall-clock takes 1, or its parts would disturb each other");
  const auto executor = executor_of(arguments.threads);
  if (!executor.ok()) return executor.status();
  const auto backend = backend_of(arguments.backend);
  if (!backend.ok()) return backend.status();
  const auto parts = experiment_parts(experiment, settings.value(), backend.value().get());
  if (!parts.ok()) return parts.status();
  if (arguments.estimate || !arguments.preset.empty()) {  // a preset may take long: it says so before it begins
    const auto sentence = estimate_parts(*parts.value(), arguments.threads);
    if (!sentence.ok()) return sentence.status();
    (arguments.estimate ? std::cout : std::cerr) << sentence.value() << std::endl;
    if (arguments.estimate) return kDone;
  }
  std::optional<PartialFile> partial;
  if (!arguments.output.empty() && parts.value()->count() > 0) {
    auto opened = PartialFile::open(arguments.output + ".partial", header_of(experiment, settings.value(), backend.value().get()), parts.value()->count());
    if (!opened.ok()) return opened.status();
    partial.emplace(std::move(opened).value());
  }
  const auto figure = run_parts(*parts.value(), *executor.value(), partial ? &*partial : nullptr);
  if (!figure.ok()) return figure.status();
  const std::string text = arguments.json ? figure_json(experiment, settings.value(), figure.value()) : figure_csv(figure.value());
  if (arguments.output.empty()) {
    std::cout << text;
    return kDone;
  }
  if (Status status = write_whole(arguments.output, text); !status.ok()) return status;
  if (partial) partial->remove();
  return kDone;
}

}  // namespace

void add_sweep(CLI::App& app, Verb& chosen) {
  const auto arguments = std::make_shared<SweepArguments>();
  CLI::App* verb = app.add_subcommand("sweep", "Compute the numbers of a figure");
  verb->add_option("NAME", arguments->name, "An experiment, for example memory-tradeoff");
  verb->add_option("--set", arguments->settings, "key=value, a setting of the experiment; may be repeated")->take_all()->expected(1);
  verb->add_option("--preset", arguments->preset, "Settings under a name, for example large; --set goes before them");
  verb->add_option(
      "--output", arguments->output,
      "File to write to instead of standard output; FILE.partial beside it keeps what is finished, and the same command goes on from it");
  add_threads(*verb, arguments->threads);
  add_backend(*verb, arguments->backend);
  verb->add_flag("--json", arguments->json, "One JSON object");
  verb->add_flag("--csv", arguments->csv, "One line per point");
  verb->add_flag("--estimate", arguments->estimate, "Say about how long it takes, and stop");
  verb->add_flag("--list", arguments->list, "Name the experiments, their settings and presets, and stop");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return sweep(*arguments); }; });
}

}  // namespace linearmem::cli
