// What is recalled for how many bytes, with how many pairs, in which shape and at which precision of a state.
#include <algorithm>
#include <cmath>

#include "experiments/lists.hpp"
#include "experiments/recall_parts.hpp"
#include "experiments/sampled.hpp"

namespace linearmem {
namespace {

constexpr Recalling kAll[] = {Recalling::softmax, Recalling::window,      Recalling::outer_product, Recalling::linear_attention,
                              Recalling::delta,   Recalling::gated_delta, Recalling::ssd,           Recalling::least_squares};

constexpr std::int64_t kWidths[] = {4, 8, 16, 32, 64}, kTheoryWidths[] = {4, 6, 8, 11, 16, 22, 32, 45, 64};
constexpr std::int64_t kMostPairs = 512;

RecallMemory memory_of(const Settings& settings, Recalling kind) {
  return {.kind = kind,
          .beta = settings.at("beta"),
          .window = settings.count("window") ? whole(settings, "window") : 16,
          .alpha = settings.at("alpha")};
}

// Bytes on one panel, pairs on the other. The window has the knob's key width and from one pair to all of them on the first.

std::vector<RecallCase> byte_cases(const Settings& settings) {
  const std::int64_t M = whole(settings, "pairs"), K = whole(settings, "key_width");
  std::vector<RecallCase> cases;
  for (Recalling kind : kAll) {
    const RecallMemory memory = memory_of(settings, kind);
    if (kind == Recalling::window)
      for (std::int64_t W = 1; W <= M; W *= 2) {
        cases.push_back({.memory = memory, .M = M, .K = K, .V = K});
        cases.back().memory.window = W;
      }
    else
      for (std::int64_t width : kWidths) cases.push_back({.memory = memory, .M = M, .K = width, .V = width});
  }
  for (std::int64_t width : kTheoryWidths)
    cases.push_back({.memory = {.kind = Recalling::outer_product}, .M = M, .K = width, .V = width, .theory = true});
  return cases;
}

std::vector<RecallCase> pair_cases(const Settings& settings) {
  const std::int64_t K = whole(settings, "key_width");
  std::vector<RecallCase> cases;
  for (Recalling kind : kAll)
    for (std::int64_t M = 4; M <= kMostPairs; M *= 2) cases.push_back({.memory = memory_of(settings, kind), .M = M, .K = K, .V = K});
  for (std::int64_t M : logarithmic_items(4, kMostPairs, 15))
    cases.push_back({.memory = {.kind = Recalling::outer_product}, .M = M, .K = K, .V = K, .theory = true});
  return cases;
}

// A series for each memory among the cases [begin, end), and the line of theory; x: what a case has on the horizontal axis.
template <typename X>
std::vector<Series> series_of(const std::vector<RecallCase>& cases, const std::vector<std::vector<double>>& values, std::size_t begin,
                              std::size_t end, X x) {
  std::vector<Series> list{{"outer_product", "outer product, theory", {}, {}}};
  for (std::size_t i = begin; i < end; ++i) {
    const RecallCase& one = cases[i];
    if (values[i].empty()) continue;
    if (one.theory) {
      list[0].x.push_back(x(one));
      list[0].y.push_back(values[i][0]);
      continue;
    }
    if (list.back().label != name_of(one.memory.kind).label) list.push_back(share_series(name_of(one.memory.kind)));
    add_share(list.back(), x(one), values[i]);
  }
  return list;
}

Figure draw_bytes(const Settings& settings, const std::vector<RecallCase>& cases, const std::vector<std::vector<double>>& values) {
  const std::size_t split = byte_cases(settings).size();
  const auto bytes = [](const RecallCase& one) { return static_cast<double>(recall_bytes(one.memory, one.M, one.K, one.V)); };
  const auto pairs = [](const RecallCase& one) { return static_cast<double>(one.M); };
  return {{{"bytes", {"kept between two tokens", "bytes", true}, {"recalled", "", false}, series_of(cases, values, 0, split, bytes)},
           {"pairs", {"stored pairs M", "", true}, {"recalled", "", false}, series_of(cases, values, split, cases.size(), pairs)}}};
}

Result<std::unique_ptr<FigureParts>> bytes_parts(const Settings& settings) {
  std::vector<RecallCase> cases = byte_cases(settings);
  for (const RecallCase& one : pair_cases(settings)) cases.push_back(one);
  return recall_parts(settings, {.cases = std::move(cases), .make = some_of_all, .draw = draw_bytes});
}

// Shapes K x V of one number of numbers, and precisions of one shape.

constexpr Recalling kShaped[] = {Recalling::outer_product, Recalling::linear_attention, Recalling::delta, Recalling::least_squares};
constexpr Recalling kRounded[] = {Recalling::outer_product, Recalling::linear_attention, Recalling::delta, Recalling::gated_delta};
constexpr std::pair<StateType, int> kPrecisions[] = {
    {StateType::bfloat16, 8}, {StateType::float16, 11}, {StateType::float32, 24}, {StateType::float64, 53}};

std::vector<RecallCase> shape_cases(const Settings& settings) {
  const std::int64_t M = whole(settings, "pairs"), numbers = std::int64_t{1} << whole(settings, "numbers_log2");
  std::vector<RecallCase> cases;
  for (Recalling kind : kShaped)
    for (std::int64_t K = 2; K <= numbers / 2; K *= 2)
      cases.push_back({.memory = memory_of(settings, kind), .M = M, .K = K, .V = numbers / K});
  for (std::int64_t K = 2; K <= numbers / 2; K *= 2)
    cases.push_back({.memory = {.kind = Recalling::outer_product}, .M = M, .K = K, .V = numbers / K, .theory = true});
  return cases;
}

std::vector<RecallCase> precision_cases(const Settings& settings) {
  const std::int64_t M = whole(settings, "pairs"), log2 = whole(settings, "numbers_log2"), K = std::int64_t{1} << log2 / 2,
                     V = std::int64_t{1} << (log2 - log2 / 2);
  std::vector<RecallCase> cases;
  for (Recalling kind : kRounded)
    for (const auto& precision : kPrecisions) {
      cases.push_back({.memory = memory_of(settings, kind), .M = M, .K = K, .V = V});
      cases.back().memory.state = precision.first;
    }
  return cases;
}

Figure draw_shapes(const Settings& settings, const std::vector<RecallCase>& cases, const std::vector<std::vector<double>>& values) {
  const std::size_t split = shape_cases(settings).size();
  const auto width = [](const RecallCase& one) { return static_cast<double>(one.K); };
  const auto bits = [](const RecallCase& one) {
    for (const auto& precision : kPrecisions)
      if (precision.first == one.memory.state) return static_cast<double>(precision.second);
    return 0.0;
  };
  std::vector<Series> rounded = series_of(cases, values, split, cases.size(), bits);
  rounded.erase(rounded.begin());  // no theory here
  return {{{"shape", {"key width K", "", true}, {"recalled", "", false}, series_of(cases, values, 0, split, width)},
           {"precision", {"bits of precision of the state", "", false}, {"recalled", "", false}, std::move(rounded)}}};
}

Result<std::unique_ptr<FigureParts>> shape_parts(const Settings& settings) {
  std::vector<RecallCase> cases = shape_cases(settings);
  for (const RecallCase& one : precision_cases(settings)) cases.push_back(one);
  return recall_parts(settings, {.cases = std::move(cases), .make = some_of_all, .draw = draw_shapes});
}

}  // namespace

Experiment recall_bytes_experiment() {
  return {"recall-bytes",
          "How much is recalled for how many bytes?",
          "Random unit keys and values, K = V, 4 bytes a number, one head: the mechanism, not a trained model, which chooses its keys; no "
          "published "
          "accuracies of trained models. The theory takes rivals as independent.",
          {{"pairs", "stored pairs M", 64, 4, 512, 1},
           {"key_width", "key width K of the window and of the right panel", 32, 4, 64, 1},
           recall_beta(),
           recall_alpha(0.98),
           {"window", "pairs the window keeps on the right", 16, 1, 512, 1},
           recall_seeds(16),
           recall_first_seed()},
          nullptr,
          bytes_parts,
          {{"large", {{"seeds", 1000}}}}};
}

Experiment recall_shape_experiment() {
  return {"recall-shape",
          "Which shape and which precision should a state have?",
          "Random keys; states in other formats are rounded after every write, their arithmetic is not. Recall, not the size of the error.",
          {{"pairs", "stored pairs M", 48, 2, 512, 1},
           {"numbers_log2", "numbers in the state, as a power of two", 10, 4, 14, 1},
           recall_alpha(0.98),
           recall_beta(),
           recall_seeds(16),
           recall_first_seed()},
          nullptr,
          shape_parts,
          {{"large", {{"seeds", 1000}}}}};
}

}  // namespace linearmem
