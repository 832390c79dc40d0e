// A kNN memory in the plane: which records a query finds, what they weigh, and what that does to the model's distribution. A poisoned
// record stands where the query is; a record of another permission domain is refused before anything is searched.
#include <algorithm>
#include <cmath>

#include "experiments/lists.hpp"
#include "linearmem/knn_identity.hpp"
#include "linearmem/knn_memory.hpp"
#include "linearmem/random.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kTokens = 5;
constexpr std::int64_t kPoison = 4;  // the token that the poisoned record puts forward
constexpr double kModel[kTokens] = {0.1, 0.2, 0.25, 0.4, 0.05};
constexpr double kCentres[3][2] = {{-0.5, -0.3}, {0.5, -0.4}, {0, 0.55}};  // of the records of tokens 0, 1 and 2
constexpr const char* kNames[kTokens] = {"token A", "token B", "token C", "token D", "token E"};
constexpr const char* kLooks[kTokens] = {"linear_attention", "delta_rule", "selective_scan", "window", "gated_delta_rule"};

struct Memory {
  std::vector<double> keys;  // [M,2]
  std::vector<std::int64_t> tokens;
  std::int64_t count() const { return static_cast<std::int64_t>(tokens.size()); }
};

KnnIdentity identity_of(const char* domain) {
  return {.model = "plane", .model_version = "1", .tokenizer = "letters", .dimension = 2, .metric = Metric::squared_l2, .domain = domain};
}

Memory filled(const Settings& settings) {
  Memory memory;
  Generator generator(static_cast<std::uint64_t>(settings.at("seed")));
  for (std::int64_t i = 0; i < whole(settings, "records"); ++i) {
    const std::int64_t token = i % 3;
    for (int axis = 0; axis < 2; ++axis) memory.keys.push_back(kCentres[token][axis] + 0.22 * generator.standard_normal());
    memory.tokens.push_back(token);
  }
  if (settings.at("poison") == 0) return memory;
  for (const char* axis : {"query_x", "query_y"}) memory.keys.push_back(settings.at(axis));
  memory.tokens.push_back(kPoison);
  return memory;
}

struct Found {
  explicit Found(std::int64_t R) : ids({1, R}), tokens({1, R}), distances({1, R}), weights({1, R}) {}
  Tensor<std::int64_t, 2> ids, tokens;
  Tensor<double, 2> distances, weights, memory{{1, kTokens}}, mixed{{1, kTokens}};
};

Status look_up(const Memory& memory, const Settings& settings, Found& found) {
  const double query[] = {settings.at("query_x"), settings.at("query_y")};
  const Status searched = knn_search(KnnSearchArguments<double>{.keys = {memory.keys.data(), {memory.count(), 2}},
                                                                .queries = {query, {1, 2}},
                                                                .k = whole(settings, "k"),
                                                                .at_most_k = true,
                                                                .ids = found.ids.view(),
                                                                .distances = found.distances.view()});
  if (!searched.ok()) return searched;
  for (std::int64_t r = 0; r < found.ids.extents()[1]; ++r) found.tokens(0, r) = memory.tokens[static_cast<std::size_t>(found.ids(0, r))];
  const Status spread = knn_distribution({.distances = found.distances.view(),
                                          .tokens = found.tokens.view(),
                                          .temperature = settings.at("temperature"),
                                          .weights = found.weights.view(),
                                          .prob = found.memory.view()});
  if (!spread.ok()) return spread;
  return knn_interpolate(
      {.memory = found.memory.view(), .model = {kModel, {1, kTokens}}, .weight = settings.at("weight"), .mixed = found.mixed.view()});
}

Series points_named(const char* look, const char* label) {
  Series series{look, label, {}, {}};
  series.points = true;
  return series;
}

// The record of another domain, where it would have stood, and the sentence that keeps it out.
void add_refusal(const Settings& settings, Panel& panel) {
  Series refused = points_named("least_squares", "refused");
  const Status status =
      check_expectation("memory", identity_of("own"), expect_all(identity_of(settings.at("foreign") == 0 ? "own" : "foreign")));
  if (!status.ok()) {
    refused.x.push_back(settings.at("query_x")), refused.y.push_back(settings.at("query_y"));
    double left = refused.x.front(), right = left;  // over the whole panel
    for (const Series& series : panel.series)
      for (double x : series.x) left = std::min(left, x), right = std::max(right, x);
    panel.bands.push_back({status.message(), left, right});
  }
  panel.series.push_back(std::move(refused));
}

Panel plane(const Memory& memory, const Settings& settings, const Found& found) {
  Panel panel{"plane", {"first component", "", false}, {"second component", "", false}, {}};
  for (std::int64_t token = 0; token < kTokens; ++token) {
    Series series = points_named(kLooks[token], kNames[token]);
    for (std::int64_t i = 0; i < memory.count(); ++i)
      if (memory.tokens[static_cast<std::size_t>(i)] == token) {
        series.x.push_back(memory.keys[static_cast<std::size_t>(2 * i)]);
        series.y.push_back(memory.keys[static_cast<std::size_t>(2 * i + 1)]);
      }
    if (token != kTokens - 2) panel.series.push_back(std::move(series));  // no record has token D
  }
  // From the query to each neighbour and back: one line that shows who was found.
  Series rays{"softmax_attention", "query and its neighbours", {}, {}};
  const auto visit = [&](double x, double y) { rays.x.push_back(x), rays.y.push_back(y); };
  for (std::int64_t r = 0; r < found.ids.extents()[1]; ++r) {
    const auto i = static_cast<std::size_t>(found.ids(0, r));
    visit(memory.keys[2 * i], memory.keys[2 * i + 1]);
    visit(settings.at("query_x"), settings.at("query_y"));
  }
  panel.series.push_back(std::move(rays));
  add_refusal(settings, panel);
  return panel;
}

Panel weights(const Settings& settings, const Found& found) {
  Panel panel{"weights", {"squared distance", "", false}, {"weight", "", false}, {}};
  Series curve{"softmax_attention", "exp(-d / T), scaled", {}, {}};
  const std::int64_t R = found.ids.extents()[1];
  const double nearest = found.distances(0, 0), farthest = found.distances(0, R - 1), reach = farthest > 0 ? farthest : 1;
  for (int i = 0; i <= 60; ++i) {
    curve.x.push_back(reach * i / 60);
    curve.y.push_back(found.weights(0, 0) * std::exp((nearest - curve.x.back()) / settings.at("temperature")));
  }
  // Left of the nearest the curve would rise beyond every weight there is.
  const auto before = std::lower_bound(curve.x.begin(), curve.x.end(), nearest) - curve.x.begin();
  curve.x.erase(curve.x.begin(), curve.x.begin() + before), curve.y.erase(curve.y.begin(), curve.y.begin() + before);
  panel.series.push_back(std::move(curve));
  Series neighbours = points_named("knn_memory", "neighbours");
  for (std::int64_t r = 0; r < R; ++r) neighbours.x.push_back(found.distances(0, r)), neighbours.y.push_back(found.weights(0, r));
  panel.series.push_back(std::move(neighbours));
  return panel;
}

Panel distribution(const Found& found) {
  Panel panel{"tokens", {"token, 0 for A to 4 for E", "", false}, {"probability", "", false}, {}};
  Series model{"window", "model", {}, {}}, memory{"knn_memory", "memory", {}, {}}, mixed{"softmax_attention", "mixed", {}, {}};
  for (std::int64_t y = 0; y < kTokens; ++y) {
    for (Series* series : {&model, &memory, &mixed}) series->x.push_back(static_cast<double>(y));
    model.y.push_back(kModel[y]), memory.y.push_back(found.memory(0, y)), mixed.y.push_back(found.mixed(0, y));
  }
  panel.series = {model, memory, mixed};
  return panel;
}

Result<Figure> run(const Settings& settings) {
  const Memory memory = filled(settings);
  Found found(knn_columns(memory.count(), whole(settings, "k"), true));
  if (Status status = look_up(memory, settings, found); !status.ok()) return status;
  return Figure{{plane(memory, settings, found), weights(settings, found), distribution(found)}};
}

}  // namespace

Experiment knn_neighbours_experiment() {
  return {"knn-neighbours",
          "What does a memory of near contexts add to a model's guess?",
          "Keys of a real model have hundreds of columns; two are drawn here. The model's distribution is fixed.",
          {{"temperature", "divides squared distances", 0.1, 0.001, 10, 0},
           {"weight", "of the memory in the mixture", 0.5, 0, 1, 0},
           {"k", "neighbours at most", 8, 1, 60, 1},
           {"poison", "1: a record of token E stands where the query is", 0, 0, 1, 1},
           {"foreign", "1: a record of another domain is offered", 0, 0, 1, 1},
           {"query_x", "first component of the query", 0.1, -1.5, 1.5, 0},
           {"query_y", "second component of the query", 0.1, -1.5, 1.5, 0},
           {"records", "records in the memory", 30, 3, 60, 1},
           {"seed", "where the records stand", 7, 0, 1000, 1}},
          run};
}

}  // namespace linearmem
