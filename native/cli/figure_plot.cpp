#include "figure_plot.hpp"

#include <algorithm>
#include <cmath>

#include "settings.hpp"

namespace linearmem::cli {
namespace {

// Okabe and Ito's colours, with a dash pattern and a marker of its own so that the figure also works in grey.
struct Look {
  const char* memory;
  const char* words;
  const char* color;
  const char* dash;  // gnuplot dashtype
  int marker;        // gnuplot pointtype
};

constexpr Look kLooks[] = {
    {"softmax_attention", "softmax attention", "#000000", "solid", 7},
    {"window", "window", "#7f7f7f", "(18,8)", 5},
    {"linear_attention", "linear attention", "#0072b2", "solid", 9},
    {"outer_product", "outer product", "#56b4e9", "(3,5)", 0},
    {"delta_rule", "delta rule", "#d55e00", "solid", 13},
    {"gated_delta_rule", "gated delta rule", "#e69f00", "(12,5,3,5)", 3},
    {"selective_scan", "selective scan", "#009e73", "(10,6)", 1},
    {"least_squares", "least squares", "#cc79a7", "(6,6)", 2},
    {"knn_memory", "kNN memory", "#9a6a00", "solid", 15},
    {"relu", "ReLU", "#8a7fd6", "(2,4)", 9},
    {"squared_relu", "squared ReLU", "#5d4fb8", "(7,4)", 5},
    {"cubed_relu", "cubed ReLU", "#352a80", "(12,4)", 13},
    {"sampled_median", "median", "#a3562e", "solid", 13},
    {"sampled_mean", "mean", "#5b6b1e", "solid", 5},
    {"causal_conv", "causal convolution", "#4d7c8a", "(4,3,1,3)", 11},
    {"whole_model", "", "#a0195b", "solid", 13},
    {"device_memory", "", "#7f7f7f", "(2,3)", 0},
};
constexpr Look kPlain = {"", "", "#000000", "solid", 0};

const Look& look_of(const std::string& memory) {
  for (const Look& look : kLooks)
    if (memory == look.memory) return look;
  return kPlain;
}

std::string literal(const std::string& text) {
  std::string quoted = "'";
  for (char letter : text) quoted += letter == '\'' ? "''" : std::string(1, letter);
  return quoted + "'";
}

std::string label_of(const Series& series) {
  const std::string words = look_of(series.memory).words;
  if (words.empty() || words == series.label) return series.label;
  return words + ", " + series.label;
}

// 1 048 576, with thin spaces.
std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), "\u2009");
  return digits;
}

std::string bytes_text(int power) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return grouped(std::int64_t{1} << (power % 10)) + "\u2009" + units[power / 10];
}

struct Range {
  double low = 0, high = 1;
};

Range range_of(const Panel& panel, bool vertical) {
  const Axis& axis = vertical ? panel.y : panel.x;
  Range range{HUGE_VAL, -HUGE_VAL};
  for (const Series& series : panel.series)
    for (double value : vertical ? series.y : series.x) range = {std::min(range.low, value), std::max(range.high, value)};
  if (axis.logarithmic) return {range.low / (vertical ? 2 : 1), range.high * (vertical ? 2 : 1)};
  if (!vertical) return range;
  const double margin = 0.05 * (range.high > range.low ? range.high - range.low : 1);
  return {range.low - margin, range.high + margin};
}

// Where value lies on the axis, 0 to 1.
double place(const Axis& axis, const Range& range, double value) {
  if (!axis.logarithmic) return (value - range.low) / (range.high - range.low);
  return std::log(value / range.low) / std::log(range.high / range.low);
}

std::string axis_commands(char letter, const Axis& axis, const Range& range) {
  const std::string name(1, letter);
  const bool bytes = std::string(axis.unit) == "bytes";
  const std::string unit = axis.unit[0] && !bytes ? std::string(" (") + axis.unit + ")" : "";
  std::string script = "set " + name + "range [" + number_text(range.low) + ":" + number_text(range.high) + "]\n";
  script += "set " + name + "label " + literal(axis.quantity + unit) + "\n";
  if (!axis.logarithmic) return script + "unset logscale " + name + "\nset " + name + "tics autofreq\n";
  std::string tics;
  for (int power = 0; power <= 60; power += bytes ? 5 : 10) {
    const auto value = std::int64_t{1} << power;
    if (static_cast<double>(value) < range.low || static_cast<double>(value) > range.high) continue;
    tics += (tics.empty() ? "" : ", ") + literal(bytes ? bytes_text(power) : grouped(value)) + " " + std::to_string(value);
  }
  return script + "set logscale " + name + " 2\nset " + name + "tics (" + tics + ")\n";
}

// Heights for the labels at the lines' ends: in order, no two closer than kApart, all inside the panel.
std::vector<double> label_heights(const Panel& panel, const Range& y) {
  constexpr double kApart = 0.055;
  std::vector<double> heights;
  std::vector<std::size_t> order;
  for (const Series& series : panel.series) {
    if (!series.points) order.push_back(heights.size());  // points stand on lines that have names
    heights.push_back(series.y.empty() ? 0.5 : place(panel.y, y, series.y.back()));
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return heights[a] < heights[b]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double floor = i == 0 ? 0.02 : heights[order[i - 1]] + kApart;
    heights[order[i]] = std::max(heights[order[i]], floor);
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    const double ceiling = i + 1 == order.size() ? 0.98 : heights[order[i + 1]] - kApart;
    heights[order[i]] = std::min(heights[order[i]], ceiling);
  }
  return heights;
}

std::string data_block(const std::string& name, const Series& series) {
  std::string block = name + " << EOD\n";
  for (std::size_t i = 0; i < series.x.size(); ++i) block += number_text(series.x[i]) + " " + number_text(series.y[i]) + "\n";
  return block + "EOD\n";
}

std::string panel_commands(const Panel& panel, std::size_t number) {
  const Range x = range_of(panel, false), y = range_of(panel, true);
  const std::vector<double> heights = label_heights(panel, y);
  std::string data, labels, lines;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    const Look& look = look_of(series.memory);
    const std::string block = "$panel" + std::to_string(number) + "_line" + std::to_string(i);
    const std::string color = std::string("rgb '") + look.color + "'";
    data += data_block(block, series);
    lines += (i == 0 ? "plot " : ", \\\n     ") + block + " using 1:2 notitle with ";
    if (series.points) {
      lines += "points linewidth 2 linecolor " + color + " pointtype 6 pointsize 1.4";
      continue;
    }
    labels +=
        "set label " + literal(label_of(series)) + " at graph 1.02, graph " + number_text(heights[i]) + " left textcolor " + color + "\n";
    lines += std::string(look.marker ? "linespoints" : "lines") + " linewidth 2 linecolor " + color + " dashtype " + look.dash;
    if (look.marker)
      lines += " pointtype " + std::to_string(look.marker) + " pointsize 0.8 pointinterval " +
               std::to_string(std::max<std::size_t>(1, series.x.size() / 6));
  }
  return data + "unset label\n" + axis_commands('x', panel.x, x) + axis_commands('y', panel.y, y) + labels + lines + "\n";
}

}  // namespace

std::string gnuplot_script(const Figure& figure, Picture picture, const std::filesystem::path& output) {
  const auto panels = std::max<std::size_t>(1, figure.panels.size());
  const std::string terminal = picture == Picture::svg ? "svg" : "pngcairo";
  std::string script = "set encoding utf8\nset terminal " + terminal + " noenhanced size " + std::to_string(760 * panels) +
                       ",460 font 'sans,12' background '#ffffff'\n";
  script += "set output " + literal(output.string()) +
            "\nset border 3 linecolor rgb '#555555'\nset tics nomirror out\nset grid back linetype 1 linewidth 1 linecolor rgb '#dddddd'\n";
  script += "set rmargin 32\nset lmargin 11\nset multiplot layout 1," + std::to_string(panels) + "\n";
  for (std::size_t i = 0; i < figure.panels.size(); ++i) script += panel_commands(figure.panels[i], i);
  return script + "unset multiplot\nunset output\n";
}

}  // namespace linearmem::cli
