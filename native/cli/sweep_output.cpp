#include "sweep_output.hpp"

#include <nlohmann/json.hpp>

#include "settings.hpp"

namespace linearmem::cli {
namespace {

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

// Quoted as RFC 4180 has it, always: labels hold commas.
std::string field(const std::string& text) {
  std::string quoted = "\"";
  for (char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

// An end of an interval; empty where the series has none.
std::string end_of(const std::vector<double>& ends, std::size_t i) { return ends.empty() ? "" : number_text(ends[i]); }

}  // namespace

std::string figure_json(const Experiment& experiment, const Settings& settings, const Figure& figure) {
  nlohmann::ordered_json used = nlohmann::ordered_json::object(), panels = nlohmann::ordered_json::array();
  for (const SettingSpec& setting : experiment.settings)
    used[setting.name] = settings.count(setting.name) ? settings.at(setting.name) : setting.default_value;
  for (const Panel& panel : figure.panels) panels.push_back(to_json(panel));
  const nlohmann::ordered_json report = {{"experiment", experiment.name},
                                         {"question", experiment.question},
                                         {"not_shown", experiment.not_shown},
                                         {"settings", std::move(used)},
                                         {"panels", std::move(panels)}};
  return report.dump(2) + "\n";
}

std::string figure_csv(const Figure& figure) {
  std::string text = "panel,memory,label,x,y,low,high\n";
  for (const Panel& panel : figure.panels)
    for (const Series& series : panel.series)
      for (std::size_t i = 0; i < series.x.size(); ++i)
        text += field(panel.name) + "," + field(series.memory) + "," + field(series.label) + "," + number_text(series.x[i]) + "," +
                number_text(series.y[i]) + "," + end_of(series.low, i) + "," + end_of(series.high, i) + "\n";
  return text;
}

}  // namespace linearmem::cli
