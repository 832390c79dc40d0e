// What time does to what was stored: recall against the distance back, and of keys that were written again or resemble others.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "experiments/hybrid_recall.hpp"
#include "experiments/lists.hpp"
#include "experiments/recall_parts.hpp"
#include "experiments/sampled.hpp"

namespace linearmem {
namespace {

// Distances back, in pairs: 1 is the newest.

std::vector<std::int64_t> distances(std::int64_t M) { return logarithmic_items(1, M, 12); }

SeedQuestions at_distances(const RecallCase& one, std::int64_t, Generator& generator) {
  SeedQuestions seed{random_pairs(generator, one.M, one.K, one.V), {}};
  for (std::int64_t distance : distances(one.M)) {
    seed.questions.asked.push_back(one.M - distance);
    seed.group.push_back(seed.group.size());
  }
  seed.questions.expected = seed.questions.asked;
  return seed;
}

Series over_distances(const MemoryName& name, std::int64_t M, const std::vector<double>& values) {
  Series series = share_series(name);
  const std::vector<std::int64_t> all = distances(M);
  for (std::size_t i = 0; i < all.size(); ++i) add_share(series, static_cast<double>(all[i]), values, i);
  return series;
}

constexpr Recalling kAging[] = {Recalling::softmax, Recalling::window,      Recalling::outer_product, Recalling::linear_attention,
                                Recalling::delta,   Recalling::gated_delta, Recalling::ssd};

RecallCase case_of(const Settings& settings, Recalling kind) {
  const std::int64_t K = whole(settings, "key_width");
  return {.memory = {.kind = kind,
                     .beta = settings.at("beta"),
                     .window = whole(settings, "window"),
                     .alpha = settings.count("alpha") ? settings.at("alpha") : 1},
          .M = whole(settings, "pairs"),
          .K = K,
          .V = K};
}

Figure draw_distance(const Settings& settings, const std::vector<RecallCase>&, const std::vector<std::vector<double>>& values) {
  Panel panel{"distance", {"pairs back", "", true}, {"recalled", "", false}, {}};
  for (std::size_t i = 0; i < std::size(kAging); ++i)
    panel.series.push_back(over_distances(name_of(kAging[i]), whole(settings, "pairs"), values[i]));
  return {{panel}};
}

Result<std::unique_ptr<FigureParts>> distance_parts(const Settings& settings) {
  RecallPlan plan{.groups = distances(whole(settings, "pairs")).size(), .make = at_distances, .draw = draw_distance};
  for (Recalling kind : kAging) plan.cases.push_back(case_of(settings, kind));
  return recall_parts(settings, std::move(plan));
}

// Conflicts: M different keys, each written several times, or in couples.

SeedQuestions in_conflict(const RecallCase& one, std::int64_t queries, Generator& generator) {
  const RecallPairs once = random_pairs(generator, one.M, one.K, 1);
  RecallPairs pairs = random_pairs(generator, one.M * one.rewrites, one.K, one.V);
  const std::vector<std::int64_t> order = generator.permutation(one.M * one.rewrites);
  std::vector<std::int64_t> newest(static_cast<std::size_t>(one.M));
  for (std::int64_t t = 0; t < one.M * one.rewrites; ++t) {
    const std::int64_t key = order[static_cast<std::size_t>(t)] % one.M, first = key - key % 2;
    newest[static_cast<std::size_t>(key)] = t;
    const double* own = once.keys.data() + key * one.K;
    const double* partner = once.keys.data() + first * one.K;
    double along = 0, squares = 0;  // the second of a couple: rho times the first, and the rest across it
    for (std::int64_t c = 0; c < one.K; ++c) along += own[c] * partner[c];
    for (std::int64_t c = 0; c < one.K; ++c) squares += (own[c] - along * partner[c]) * (own[c] - along * partner[c]);
    for (std::int64_t c = 0; c < one.K; ++c)
      pairs.keys(t, c) = key == first
                             ? own[c]
                             : one.rho * partner[c] + std::sqrt(1 - one.rho * one.rho) * (own[c] - along * partner[c]) / std::sqrt(squares);
  }
  SeedQuestions seed{std::move(pairs), {}};
  for (std::int64_t key : generator.permutation(one.M)) {
    if (static_cast<std::int64_t>(seed.questions.asked.size()) == queries) break;
    seed.questions.asked.push_back(newest[static_cast<std::size_t>(key)]);
  }
  seed.questions.expected = seed.questions.asked;
  return seed;
}

constexpr std::int64_t kRewrites[] = {1, 2, 3, 4, 6, 8};
constexpr double kSimilar[] = {0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99};
constexpr Recalling kConflicting[] = {Recalling::softmax,     Recalling::outer_product, Recalling::delta,
                                      Recalling::gated_delta, Recalling::ssd,           Recalling::least_squares};

template <typename Values, typename X>
Panel conflict_panel(Panel panel, const Values& places, X x, const std::vector<std::vector<double>>& values, std::size_t& part) {
  for (Recalling kind : kConflicting) {
    panel.series.push_back(share_series(name_of(kind)));
    for (const auto& place : places) add_share(panel.series.back(), x(place), values[part++]);
  }
  return panel;
}

Figure draw_conflict(const Settings&, const std::vector<RecallCase>&, const std::vector<std::vector<double>>& values) {
  std::size_t part = 0;
  const auto number = [](auto place) { return static_cast<double>(place); };
  Panel rewrites = conflict_panel({"rewrites", {"times each key is written", "", false}, {"newest value recalled", "", false}, {}},
                                  kRewrites, number, values, part);
  Panel similar = conflict_panel({"similar", {"inner product of the two keys of a couple", "", false}, {"recalled", "", false}, {}},
                                 kSimilar, number, values, part);
  return {{std::move(rewrites), std::move(similar)}};
}

Result<std::unique_ptr<FigureParts>> conflict_parts(const Settings& settings) {
  RecallPlan plan{.make = in_conflict, .draw = draw_conflict};
  const auto add = [&](Recalling kind, std::int64_t rewrites, double rho) {
    const std::int64_t K = whole(settings, "key_width");
    plan.cases.push_back({.memory = {.kind = kind, .beta = settings.at("beta"), .alpha = settings.at("alpha")},
                          .M = whole(settings, "keys"),
                          .K = K,
                          .V = K,
                          .rewrites = rewrites,
                          .rho = rho});
  };
  for (Recalling kind : kConflicting)
    for (std::int64_t rewrites : kRewrites) add(kind, rewrites, 0);
  for (Recalling kind : kConflicting)
    for (double rho : kSimilar) add(kind, 1, rho);
  return recall_parts(settings, std::move(plan));
}

// The hybrid stack, by distance.

constexpr Stack kStacks[] = {Stack::window, Stack::recurrence, Stack::both};
constexpr const char* kStackMemories[] = {"window", "delta_rule", "cubed_relu"};

Result<std::vector<std::int64_t>> answer_with_stack(const RecallCase& one, const RecallPairs& pairs,
                                                    const std::vector<std::int64_t>& asked) {
  return stack_answers(one.stack, {.window = one.memory.window + 1, .beta = one.memory.beta}, pairs, asked);
}

Figure draw_hybrid(const Settings& settings, const std::vector<RecallCase>&, const std::vector<std::vector<double>>& values) {
  const std::int64_t M = whole(settings, "pairs");
  Panel panel{"hybrid", {"pairs back", "", true}, {"recalled", "", false}, {}};
  for (std::size_t i = 0; i < 3; ++i) panel.series.push_back(over_distances({kStackMemories[i], stack_name(kStacks[i])}, M, values[i]));
  panel.bands.push_back({"inside the window", 1, static_cast<double>(std::min(M, whole(settings, "window")))});
  return {{panel}};
}

Result<std::unique_ptr<FigureParts>> hybrid_parts(const Settings& settings) {
  RecallPlan plan{
      .groups = distances(whole(settings, "pairs")).size(), .make = at_distances, .answer = answer_with_stack, .draw = draw_hybrid};
  for (Stack stack : kStacks) {
    plan.cases.push_back(case_of(settings, Recalling::delta));
    plan.cases.back().stack = stack;
  }
  return recall_parts(settings, std::move(plan));
}

SettingSpec key_width(double width, double most) { return {"key_width", "key width K, and value width", width, 4, most, 1}; }

}  // namespace

Experiment recall_distance_experiment() {
  return {"recall-distance",
          "How far back does each memory reach?",
          "Random keys, so that nothing but time and load decides; a trained gate would forget what it no longer needs, this one forgets "
          "evenly.",
          {recall_alpha(0.9),
           {"window", "pairs the window keeps", 16, 1, 1024, 1},
           {"pairs", "stored pairs M", 128, 2, 1024, 1},
           key_width(32, 64),
           recall_beta(),
           recall_seeds(120),
           recall_first_seed()},
          nullptr,
          distance_parts,
          {{"large", {{"seeds", 2000}, {"pairs", 1024}}}}};
}

Experiment recall_conflict_experiment() {
  return {"recall-conflict",
          "What if a key is written again, or resembles another?",
          "Keys are written again in random order, all equally often; explicit K,V here is one softmax over all pairs, without any sense "
          "of time.",
          {{"keys", "different keys", 16, 2, 128, 1},
           recall_alpha(0.95),
           key_width(32, 64),
           recall_beta(),
           recall_seeds(24),
           recall_first_seed()},
          nullptr,
          conflict_parts,
          {{"large", {{"seeds", 1000}}}}};
}

Experiment hybrid_ablation_experiment() {
  return {"hybrid-ablation",
          "What does a window bring to a recurrence, and the recurrence to it?",
          "Weights that were written down for this task, not trained; one head, no convolution and no feed-forward part.",
          {{"window", "pairs the window keeps", 12, 1, 256, 1},
           {"pairs", "stored pairs M", 48, 2, 256, 1},
           key_width(24, 64),
           {"beta", "how sharply the window picks one key", 64, 1, 256, 0},
           recall_seeds(40),
           recall_first_seed()},
          nullptr,
          hybrid_parts,
          {{"large", {{"seeds", 1000}}}}};
}

}  // namespace linearmem
