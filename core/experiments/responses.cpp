// How the response sets the limit: powers of a ReLU, terms of an exponential, softmax sharpened or not, queries with noise.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "experiments/lists.hpp"
#include "experiments/sampled.hpp"
#include "foundation/unit_rows.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kLastOfTheory = 10000000;
const ResponseRule kLinear{.response = Response::linear};
ResponseRule relu(int power) { return {.response = Response::relu, .power = power}; }
ResponseRule truncated(int terms, double beta) { return {.response = Response::truncated_exp, .terms = terms, .beta = beta}; }
ResponseRule softmax(double beta) { return {.response = Response::softmax, .beta = beta}; }

struct Line {
  const char* memory;
  const char* label;
  ResponseRule rule;
};

std::vector<ResponseRule> rules_of(const std::vector<Line>& lines) {
  std::vector<ResponseRule> rules;
  for (const Line& line : lines) rules.push_back(line.rule);
  return rules;
}

std::vector<std::int64_t> samples(const Settings& settings) { return logarithmic_items(2, whole(settings, "items"), 8); }

// A line of theory and points of samples for each response.
Panel against_items(const char* name, const Settings& settings, const Samplers& samplers, const std::vector<Line>& lines) {
  Panel panel{name, {"stored items M", "", true}, {"RMS of R", "", true}, {}};
  const std::vector<std::int64_t> theory = logarithmic_items(2, kLastOfTheory, 48), items = samples(settings);
  for (const Line& line : lines)
    panel.series.push_back(theory_series(line.memory, line.label, line.rule, whole(settings, "key_width"), theory));
  for (std::size_t i = 0; i < lines.size(); ++i)
    panel.series.push_back(sampled_series(lines[i].memory, (std::string(lines[i].label) + ", sampled").c_str(), samplers[0], i, items));
  return panel;
}

std::vector<Line> response_lines(const Settings& settings) {
  return {{"outer_product", "linear", kLinear},
          {"relu", "ReLU", relu(1)},
          {"squared_relu", "squared ReLU", relu(2)},
          {"cubed_relu", "cubed ReLU", relu(3)},
          {"softmax_attention", "exponential", softmax(settings.at("beta"))}};
}

std::vector<Line> truncated_lines(const Settings& settings) {
  const double beta = settings.at("beta");
  return {{"relu", "2 terms", truncated(2, beta)},
          {"squared_relu", "3 terms", truncated(3, beta)},
          {"cubed_relu", "4 terms", truncated(4, beta)},
          {"softmax_attention", "exponential", softmax(beta)}};
}

std::vector<Line> sharpening_lines(const Settings& settings) {
  ResponseRule sharpened = softmax(settings.at("beta"));
  sharpened.sharpen_beyond = whole(settings, "trained_items");
  return {{"softmax_attention", "fixed beta", softmax(settings.at("beta"))}, {"cubed_relu", "LogN", sharpened}};
}

template <std::vector<Line> (*lines)(const Settings&)>
Result<std::unique_ptr<FigureParts>> start(const Settings& settings, Draw draw) {
  return sampled_parts(settings, {sampling_settings(settings, rules_of(lines(settings)), samples(settings))}, draw);
}

// Softmax weights of one query at several beta, largest first.
Result<Figure> weigh(const Settings& settings) {
  const std::int64_t M = whole(settings, "items"), K = whole(settings, "key_width");
  Generator generator(static_cast<std::uint64_t>(settings.at("first_seed")));
  Tensor<double, 2> keys({M, K}), weights({1, M});
  draw_unit_rows(generator, keys.data(), M, K);
  const std::pair<const char*, double> betas[] = {
      {"beta = 1", 1}, {"beta = 4", 4}, {"beta = 16", 16}, {"beta of the knob", settings.at("beta")}};
  constexpr const char* kMemories[] = {"relu", "squared_relu", "cubed_relu", "softmax_attention"};
  Panel panel{"weights", {"item, best match first", "", false}, {"softmax weight", "", false}, {}};
  for (std::size_t line = 0; line < 4; ++line) {
    const View<const double, 2> query(keys.data(), {1, K});
    const Status status = associative_weights(
        {.keys = std::as_const(keys).view(), .queries = query, .rule = softmax(betas[line].second), .weights = weights.view()});
    if (!status.ok()) return status;
    Series series{kMemories[line], betas[line].first, {}, weights.values()};
    std::sort(series.y.begin(), series.y.end(), std::greater<>());
    series.x.resize(series.y.size());
    std::iota(series.x.begin(), series.x.end(), 1.0);
    panel.series.push_back(series);
  }
  return Figure{{panel}};
}

// R against the match of the query with its own key, at one number of items.
const double kMatches[] = {0.3, 0.45, 0.6, 0.75, 0.9, 1};

std::vector<Line> noisy_lines(const Settings& settings) {
  return {{"outer_product", "linear", kLinear},
          {"squared_relu", "squared ReLU", relu(2)},
          {"softmax_attention", "exponential", softmax(settings.at("beta"))}};
}

Figure draw_noisy(const Settings& settings, const Samplers& samplers) {
  Panel panel{"noise", {"match rho of query and key", "", false}, {"RMS of R", "", true}, {}};
  const std::vector<Line> lines = noisy_lines(settings);
  const std::int64_t M = whole(settings, "items"), K = whole(settings, "key_width");
  for (const Line& line : lines) {
    Series series{line.memory, line.label, {}, {}};
    for (int step = 0; step <= 35; ++step) {
      series.x.push_back(0.3 + 0.02 * step);
      series.y.push_back(rms_interference(line.rule, K, M, series.x.back()));
    }
    panel.series.push_back(series);
  }
  for (std::size_t rule = 0; rule < lines.size(); ++rule) {
    Series points{lines[rule].memory, std::string(lines[rule].label) + ", sampled", {}, {}};
    points.points = true;
    for (std::size_t i = 0; i < samplers.size(); ++i) {
      const SampledRatio ratio = samplers[i].at(rule, 0);
      if (!(ratio.seeds >= 2)) continue;
      points.x.push_back(kMatches[i]);
      points.y.push_back(ratio.rms.value);
      points.low.push_back(ratio.rms.low);
      points.high.push_back(ratio.rms.high);
    }
    panel.series.push_back(points);
  }
  return {{panel}};
}

Result<std::unique_ptr<FigureParts>> start_noisy(const Settings& settings) {
  std::vector<SamplingSettings> sampling;
  for (double match : kMatches) {
    sampling.push_back(sampling_settings(settings, rules_of(noisy_lines(settings)), {whole(settings, "items")}));
    sampling.back().match = match;
  }
  return sampled_parts(settings, sampling, draw_noisy);
}

const SettingSpec kBeta{"beta", "how sharply the exponential picks", 8, 0, 32, 0};

}  // namespace

Experiment responses_experiment() {
  return {"responses",
          "How many items does each response hold?",
          "Random unit keys and values, queries that match their key exactly; R = 1 is where the others weigh as much as the target.",
          {kBeta, key_width_setting(64), items_setting(512), seeds_setting(20), first_seed_setting()},
          nullptr,
          [](const Settings& settings) {
            return start<response_lines>(settings, [](const Settings& s, const Samplers& samplers) {
              return Figure{{against_items("responses", s, samplers, response_lines(s))}};
            });
          }};
}

Experiment truncated_exponentials_experiment() {
  return {
      "truncated-exponentials",
      "How much of an exponential is needed?",
      "Each polynomial is compared with its own answer to a perfect match; with an even number of terms opposite keys can answer below 0.",
      {kBeta, key_width_setting(64), items_setting(512), seeds_setting(20), first_seed_setting()},
      nullptr,
      [](const Settings& settings) {
        return start<truncated_lines>(settings, [](const Settings& s, const Samplers& samplers) {
          return Figure{{against_items("truncated", s, samplers, truncated_lines(s))}};
        });
      }};
}

Experiment softmax_weights_experiment() {
  return {"softmax-weights",
          "Where does the weight of a softmax go?",
          "One query, which matches the first key exactly; weights only, no values.",
          {kBeta, {"items", "stored items M", 32, 2, 256, 1}, {"key_width", "key width K", 16, 2, 256, 1}, first_seed_setting()},
          weigh};
}

Experiment logn_sharpening_experiment() {
  return {"logn-sharpening",
          "Does a growing beta keep up with a growing memory?",
          "Scores of random keys; what a trained model's scores look like is another matter.",
          {kBeta,
           {"trained_items", "items for which beta was meant", 1024, 2, 1048576, 1},
           key_width_setting(64),
           items_setting(512),
           seeds_setting(20),
           first_seed_setting()},
          nullptr,
          [](const Settings& settings) {
            return start<sharpening_lines>(settings, [](const Settings& s, const Samplers& samplers) {
              return Figure{{against_items("sharpening", s, samplers, sharpening_lines(s))}};
            });
          }};
}

Experiment noisy_query_experiment() {
  return {"noisy-query",
          "What does a query lose that only resembles its key?",
          "Noise in a random direction; noise towards another key is worse.",
          {kBeta, {"items", "stored items M", 128, 2, 65536, 1}, key_width_setting(64), seeds_setting(20), first_seed_setting()},
          nullptr,
          start_noisy};
}

}  // namespace linearmem
