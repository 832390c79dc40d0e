// RM08, RM10, RM11, RM12: what a fixed state can hold, and for how long.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "claims/checks.hpp"
#include "claims/lists.hpp"
#include "claims/memories.hpp"
#include "experiments/hybrid_recall.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/recall_tasks.hpp"

namespace linearmem {
namespace {

// RM08

constexpr AssociativeRecallTask kRecall{.rows = 1000, .pairs = 16, .key_vocabulary = 64, .value_vocabulary = 64, .seed = 61};

// Rows in which a key, or a value, comes twice, or in which the label is not the value that stands behind the one key asked for.
struct Faults {
  double keys = 0, values = 0, answers = 0;
};

Faults faults(const TaskBatch& batch) {
  Faults found;
  const std::int64_t pairs = kRecall.pairs, last = 2 * pairs;
  for (std::int64_t row = 0; row < kRecall.rows; ++row) {
    std::set<std::int64_t> keys, values, behind;
    for (std::int64_t i = 0; i < pairs; ++i) {
      keys.insert(batch.tokens(row, 2 * i));
      values.insert(batch.tokens(row, 2 * i + 1));
      if (batch.tokens(row, 2 * i) == batch.tokens(row, last)) behind.insert(batch.tokens(row, 2 * i + 1));
    }
    found.keys += static_cast<std::int64_t>(keys.size()) != pairs;
    found.values += static_cast<std::int64_t>(values.size()) != pairs;
    found.answers += behind != std::set<std::int64_t>{batch.labels(row, last)};
  }
  return found;
}

std::vector<Check> recall_batch(const Mistakes& mistakes) {
  auto made = make_task(kRecall), again = make_task(kRecall);
  AssociativeRecallTask other = kRecall;
  ++other.seed;
  const auto next = make_task(other);
  if (!made.ok() || !again.ok() || !next.ok()) return {};
  if (mistakes.count(Mistake::repeated_keys)) {
    Generator generator(kRecall.seed);
    for (std::int64_t row = 0; row < kRecall.rows; ++row)
      for (std::int64_t i = 0; i < kRecall.pairs; ++i)
        made.value().tokens(row, 2 * i) = generator.integers(1, kRecall.key_vocabulary, Endpoint::included).value();
  }
  const Faults found = faults(made.value());
  const std::string digest = task_digest(made.value());
  return Checks()
      .exact("rows of 1000 in which a key comes twice", 0, found.keys)
      .exact("rows of 1000 in which a value comes twice", 0, found.values)
      .exact("rows of 1000 whose label is not the one value behind the key asked for", 0, found.answers)
      .stated("the same seed again: digests that are equal", "1", digest == task_digest(again.value()),
              digest == task_digest(again.value()))
      .stated("the next seed: digests that are equal", "0", digest == task_digest(next.value()), digest != task_digest(next.value()))
      .list();
}

// RM10

constexpr std::array<StateType, 4> kStateTypes = {StateType::float64, StateType::float32, StateType::float16, StateType::bfloat16};

// sum of `tokens` pairs k v, and nothing else: the outer product's state after each token is the output of a query of 1.
template <typename T>
std::vector<double> sums(const std::vector<double>& values, std::int64_t tokens, std::int64_t V, std::optional<StateType> state) {
  const std::vector<T> ones(static_cast<std::size_t>(tokens), 1), v(values.begin(), values.end());
  std::vector<T> o(v.size());
  const View<const T, 4> keys(ones.data(), {1, tokens, 1, 1});
  const Status status = linear_attention(LinearAttentionArguments<T>{.q = keys,
                                                                     .k = keys,
                                                                     .v = {v.data(), {1, tokens, 1, V}},
                                                                     .feature = Feature::identity,
                                                                     .normalize = false,
                                                                     .form = Form::recurrent,
                                                                     .state_type = state,
                                                                     .o = {o.data(), {1, tokens, 1, V}}});
  return status.ok() ? std::vector<double>(o.begin(), o.end()) : std::vector<double>(v.size(), std::nan(""));
}

// |S - the float64 reference's S| / |the reference's| after `tokens` tokens of V values that are uniform on [0, 1).
double drift(const std::vector<double>& values, std::int64_t tokens, std::int64_t V, StateType type, bool single) {
  const std::vector<double> exact = sums<double>(values, tokens, V, {});
  const std::vector<double> kept =
      single && type == StateType::float64 ? sums<float>(values, tokens, V, {}) : sums<double>(values, tokens, V, type);
  double off = 0, size = 0;
  for (auto i = static_cast<std::size_t>((tokens - 1) * V); i < exact.size(); ++i) {
    off += (kept[i] - exact[i]) * (kept[i] - exact[i]);
    size += exact[i] * exact[i];
  }
  return std::sqrt(off / size);
}

std::vector<Check> state_formats(const Mistakes& mistakes) {
  constexpr std::int64_t V = 64;
  constexpr std::array<std::int64_t, 3> kLengths = {16, 256, 4096};
  const bool single = mistakes.count(Mistake::single_precision) > 0;
  Generator generator(62);
  std::vector<double> values(static_cast<std::size_t>(kLengths.back() * V));
  for (double& value : values) value = generator.random();
  std::vector<Check> checks;
  double error[4][3];
  for (std::size_t type = 0; type < 4; ++type)
    for (std::size_t length = 0; length < 3; ++length)
      error[type][length] = drift({values.begin(), values.begin() + kLengths[length] * V}, kLengths[length], V, kStateTypes[type], single);
  for (std::size_t type = 1; type < 4; ++type) {
    const std::string name(state_type_name(kStateTypes[type]));
    for (std::size_t length = 0; length < 3; ++length)
      checks.push_back(stated_check(name + ", error after " + std::to_string(kLengths[length]) + " tokens",
                                    "above 4 times that of the format before", error[type][length],
                                    error[type][length] > 4 * error[type - 1][length]));
    checks.push_back(stated_check(name + ", error after 4096 tokens over that after 16", "> 2", error[type][2] / error[type][0],
                                  error[type][2] > 2 * error[type][0]));
  }
  const auto thousandths = [&](StateType type) { return sums<double>(std::vector<double>(1000, 0.001), 1000, 1, type).back(); };
  checks.push_back(exact_check("f64: state that is kept in the arithmetic's own format, error after 4096 tokens", 0, error[0][2]));
  checks.push_back(exact_check("bf16: 1000 times 0.001", 0.5, thousandths(StateType::bfloat16)));
  checks.push_back(value_check("f32: 1000 times 0.001", 1, thousandths(StateType::float32), 1e-4));
  return checks;
}

// RM11, RM12

std::vector<std::int64_t> numbers(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(end - begin));
  std::iota(list.begin(), list.end(), begin);
  return list;
}

// Share of all pairs (or of the newest alone, as often) that are decoded, over four seeds; NaN where the door refuses.
double recall(Recalling kind, std::int64_t M, std::int64_t K, bool newest) {
  double hits = 0;
  for (std::uint64_t seed = 63; seed < 67; ++seed) {
    Generator generator(seed);
    const RecallPairs pairs = random_pairs(generator, M, K, K);
    const std::vector<std::int64_t> asked = newest ? std::vector<std::int64_t>(static_cast<std::size_t>(M), M - 1) : numbers(0, M);
    const auto right = recalled({.kind = kind, .beta = 64}, pairs, {asked, asked});
    if (!right.ok()) return std::nan("");
    hits += static_cast<double>(right.value());
  }
  return hits / static_cast<double>(4 * M);
}

std::vector<Check> capacity(const Mistakes& mistakes) {
  constexpr std::array<std::int64_t, 3> kPairs = {8, 32, 128}, kWidths = {8, 16, 32};
  const bool newest = mistakes.count(Mistake::newest_only) > 0;
  std::vector<Check> checks;
  for (std::int64_t K : kWidths) {
    const std::string at = ", K = V = " + std::to_string(K);
    double kept = 1;
    for (std::int64_t M : kPairs) kept = std::min(kept, recall(Recalling::softmax, M, K, newest));
    checks.push_back(exact_check("explicit keys and values" + at + ": least recall of 8, 32, 128 pairs", 1, kept));
    for (Recalling kind : {Recalling::outer_product, Recalling::delta}) {
      double share[3];
      for (std::size_t i = 0; i < 3; ++i) share[i] = recall(kind, kPairs[i], K, newest);
      const std::string name = kind == Recalling::delta ? "delta" : "outer product";
      checks.push_back(stated_check(name + at + ": recall of 128 pairs", "below that of 32, which is at most that of 8", share[2],
                                    share[2] < share[1] && share[1] <= share[0]));
      checks.push_back(stated_check(name + at + ": recall of 128 pairs", "< 0.6", share[2], share[2] < 0.6));
      if (K == 32) checks.push_back(stated_check(name + at + ": recall of 8 pairs", "1", share[0], share[0] == 1));
    }
  }
  return checks;
}

// Shares decoded inside the window and beyond it.
struct InAndOut {
  double inside = 0, beyond = 0;
};

InAndOut stack_recall(Stack stack, bool newest) {
  constexpr std::int64_t kPairs = 48, kWidth = 24, kSeeds = 2;
  const StackSettings settings{.window = 13};  // 12 pairs and the query's own token
  InAndOut share;
  for (std::uint64_t seed = 70; seed < 70 + kSeeds; ++seed) {
    Generator generator(seed);
    const RecallPairs pairs = random_pairs(generator, kPairs, kWidth, kWidth);
    const std::int64_t first_inside = kPairs - settings.window + 1;
    std::vector<std::int64_t> asked = numbers(0, kPairs);
    if (newest) std::fill(asked.begin(), asked.end(), kPairs - 1);
    const auto answers = stack_answers(stack, settings, pairs, asked);
    if (!answers.ok()) return {std::nan(""), std::nan("")};
    for (std::int64_t i = 0; i < kPairs; ++i) {
      const bool hit = answers.value()[static_cast<std::size_t>(i)] == asked[static_cast<std::size_t>(i)];
      (i < first_inside ? share.beyond : share.inside) += hit;
    }
  }
  return {share.inside / (kSeeds * 12), share.beyond / (kSeeds * 36)};
}

std::vector<Check> hybrid_stack(const Mistakes& mistakes) {
  const bool newest = mistakes.count(Mistake::newest_only) > 0;
  const InAndOut window = stack_recall(Stack::window, newest), recurrence = stack_recall(Stack::recurrence, newest),
                 both = stack_recall(Stack::both, newest);
  return Checks()
      .stated("window alone, inside the window", "1", window.inside, window.inside == 1)
      .stated("window alone, beyond it", "< 0.1", window.beyond, window.beyond < 0.1)
      .stated("recurrence alone, inside", "below 1", recurrence.inside, recurrence.inside < 1)
      .stated("recurrence alone, beyond", "above the window alone", recurrence.beyond, recurrence.beyond > window.beyond)
      .stated("both, inside", "at least the better of the two", both.inside, both.inside >= std::max(window.inside, recurrence.inside))
      .stated("both, beyond", "at least the better of the two", both.beyond, both.beyond >= std::max(window.beyond, recurrence.beyond))
      .list();
}

}  // namespace

void add_recall_claims(std::vector<Claim>& list) {
  using M = Mistake;
  list.push_back({"RM08",
                  "recall_tasks",
                  "A batch of associative recall has no key and no value twice in a row, asks for a key it has, and comes back with the "
                  "same digest from the same seed.",
                  "Ba et al. 2016, Using Fast Weights to Attend to the Recent Past",
                  "default_rng(61): 1000 rows of 16 pairs out of 64 keys and 64 values, then one key",
                  {M::repeated_keys},
                  recall_batch});
  list.push_back({"RM10",
                  "linear_attention",
                  "The narrower the format of a state, the more it drifts, and the longer the more: float64, float32, float16, bfloat16; "
                  "1000 times 0.001 stops at 0.5 in bfloat16.",
                  "Higham 2002, Accuracy and Stability of Numerical Algorithms",
                  "default_rng(62): v = random() (4096,64), all keys 1; state rounded to nearest even after each of 16, 256, 4096 tokens",
                  {M::single_precision},
                  state_formats});
  list.push_back(
      {"RM11",
       "recall_tasks",
       "A memory of fixed size fails once there are more pairs than it can hold; explicit keys and values recall them all.",
       "Arora et al. 2024, Zoology; Jelassi et al. 2024, Repeat After Me",
       "seeds 63 to 66: unit keys, then unit values, K = V; every key asked for, the nearest value is the answer; softmax at beta 64",
       {M::newest_only},
       capacity});
  list.push_back(
      {"RM12",
       "hybrid",
       "A window and a recurrence in one stack recall at least as much as the better of the two alone, inside the window and beyond it.",
       "De et al. 2024, Griffin; Ren et al. 2024, Samba",
       "seeds 70, 71: 48 pairs, K = V = 24; a window of 12 pairs, beta 64; the delta rule; weights written down, not trained",
       {M::newest_only},
       hybrid_stack});
}

}  // namespace linearmem
