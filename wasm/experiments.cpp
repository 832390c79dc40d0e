// experiments(), experiment(); startExperiment(), stepExperiment(), figureSoFar(): figure data from core/experiments.
#include "experiments.hpp"

#include <emscripten/bind.h>

#include <memory>
#include <utility>

#include "boundary.hpp"

namespace linearmem::wasm {
namespace {

val setting_to_val(const SettingSpec& setting) {
  val object = val::object();
  object.set("name", text(setting.name));
  object.set("meaning", text(setting.meaning));
  object.set("default", setting.default_value);
  object.set("minimum", setting.minimum);
  object.set("maximum", setting.maximum);
  object.set("step", setting.step);
  return object;
}

val axis_to_val(const Axis& axis) {
  val object = val::object();
  object.set("quantity", text(axis.quantity));
  object.set("unit", text(axis.unit));
  object.set("logarithmic", axis.logarithmic);
  return object;
}

val series_to_val(const Series& series) {
  val object = val::object();
  object.set("memory", text(series.memory));
  object.set("label", text(series.label));
  object.set("x", typed_array("Float64Array", series.x.data(), series.x.size() * sizeof(double)));
  object.set("y", typed_array("Float64Array", series.y.data(), series.y.size() * sizeof(double)));
  object.set("low", typed_array("Float64Array", series.low.data(), series.low.size() * sizeof(double)));
  object.set("high", typed_array("Float64Array", series.high.data(), series.high.size() * sizeof(double)));
  object.set("points", series.points);
  return object;
}

val band_to_val(const Band& band) {
  val object = val::object();
  object.set("label", text(band.label));
  object.set("from", band.from);
  object.set("to", band.to);
  return object;
}

val panel_to_val(const Panel& panel) {
  val object = val::object();
  object.set("name", text(panel.name));
  object.set("x", axis_to_val(panel.x));
  object.set("y", axis_to_val(panel.y));
  object.set("series", to_array(panel.series, series_to_val));
  object.set("bands", to_array(panel.bands, band_to_val));
  object.set("columns", static_cast<double>(panel.columns));
  object.set("limit", panel.limit);
  return object;
}

}  // namespace

val experiment_to_val(const Experiment& experiment) {
  val object = val::object();
  object.set("name", text(experiment.name));
  object.set("question", text(experiment.question));
  object.set("notShown", text(experiment.not_shown));
  object.set("settings", to_array(experiment.settings, setting_to_val));
  return object;
}

Settings settings_of(const val& values) {
  Settings settings;
  for (const std::string& key : keys_of(values)) settings[key] = values[key].as<double>();
  return settings;
}

val figure_to_val(const Figure& figure) {
  val object = val::object();
  object.set("panels", to_array(figure.panels, panel_to_val));
  return object;
}

namespace {

val all_experiments() { return to_array(experiments(), experiment_to_val); }

// The one run under way; starting another drops it.
std::unique_ptr<ExperimentRun> under_way;

val start(const std::string& name, const val& values) {
  return guarded([&] { return begin(start_experiment(name, settings_of(values))); });
}

val step(double milliseconds) {
  return guarded([&]() -> Result<val> {
    if (!under_way) return Status::invalid("no experiment is under way");
    for (const double end = emscripten_get_now() + milliseconds; under_way->progress() < 1 && emscripten_get_now() < end;)
      if (Status status = under_way->step(); !status.ok()) return status;
    return val(under_way->progress());
  });
}

val figure_so_far() {
  return guarded([&]() -> Result<val> {
    if (!under_way) return Status::invalid("no experiment is under way");
    return figure_to_val(under_way->figure());
  });
}

// The whole figure in one call.
val experiment(const std::string& name, const val& values) {
  start(name, values);
  step(1e12);
  return figure_so_far();
}

}  // namespace

Result<val> begin(Result<std::unique_ptr<ExperimentRun>> run) {
  if (!run.ok()) return run.status();
  under_way = std::move(run).value();
  return val(under_way->progress());
}

EMSCRIPTEN_BINDINGS(linearmem_experiments) {
  emscripten::function("experiments", &all_experiments);
  emscripten::function("experiment", &experiment);
  emscripten::function("startExperiment", &start);
  emscripten::function("stepExperiment", &step);
  emscripten::function("figureSoFar", &figure_so_far);
}

}  // namespace linearmem::wasm
