// experiments(), experiment(): figure data from core/experiments.
#include "linearmem/experiments.hpp"

#include <emscripten/bind.h>

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

val experiment_to_val(const Experiment& experiment) {
  val object = val::object();
  object.set("name", text(experiment.name));
  object.set("question", text(experiment.question));
  object.set("notShown", text(experiment.not_shown));
  object.set("settings", to_array(experiment.settings, setting_to_val));
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
  return object;
}

val panel_to_val(const Panel& panel) {
  val object = val::object();
  object.set("name", text(panel.name));
  object.set("x", axis_to_val(panel.x));
  object.set("y", axis_to_val(panel.y));
  object.set("series", to_array(panel.series, series_to_val));
  return object;
}

val all_experiments() { return to_array(experiments(), experiment_to_val); }

val experiment(const std::string& name, const val& values) {
  return guarded([&]() -> Result<val> {
    Settings settings;
    for (const std::string& key : keys_of(values)) settings[key] = values[key].as<double>();
    const auto figure = run_experiment(name, settings);
    if (!figure.ok()) return figure.status();
    val object = val::object();
    object.set("panels", to_array(figure.value().panels, panel_to_val));
    return object;
  });
}

EMSCRIPTEN_BINDINGS(linearmem_experiments) {
  emscripten::function("experiments", &all_experiments);
  emscripten::function("experiment", &experiment);
}

}  // namespace
}  // namespace linearmem::wasm
