// What a memory costs and what it confuses: bytes against prefix length, and the error of a read after a similar key was written.
#include <cmath>
#include <vector>

#include "experiments/lists.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/ledger.hpp"
#include "linearmem/linear_attention.hpp"

namespace linearmem {
namespace {

constexpr int kLongestPrefixPower = 20;
constexpr int kCosineSteps = 40;

Result<Panel> storage(const Settings& settings) {
  const std::int64_t K = whole(settings, "key_width"), V = whole(settings, "value_width");
  const int bits = static_cast<int>(8 * whole(settings, "element_bytes"));
  const Precision precision{.kv_bits = bits, .state_bits = bits};
  const LayerShape history{.kind = LayerKind::full_attention, .heads = 1, .key_width = K, .value_width = V};
  const LayerShape recent{.kind = LayerKind::window_attention, .heads = 1, .key_width = K, .value_width = V, .window = whole(settings, "window")};
  const LayerShape fixed{.kind = LayerKind::linear_attention, .heads = 1, .key_width = K, .value_width = V, .normalizer = true};
  Panel panel{"storage", {"prefix length", "tokens", true}, {"storage", "bytes", true}, {}};
  panel.series = {{"softmax_attention", "explicit K,V", {}, {}}, {"window", "window", {}, {}}, {"linear_attention", "state and normalizer", {}, {}}};
  const LayerShape* const shapes[] = {&history, &recent, &fixed};
  for (int power = 0; power <= kLongestPrefixPower; ++power) {
    const std::int64_t tokens = std::int64_t{1} << power;
    for (std::size_t line = 0; line < panel.series.size(); ++line) {
      const auto bytes = layer_bytes(*shapes[line], tokens, precision);
      if (!bytes.ok()) return bytes.status();
      panel.series[line].x.push_back(static_cast<double>(tokens));
      panel.series[line].y.push_back(static_cast<double>(bytes.value()));
    }
  }
  return panel;
}

// Two unit keys at inner product rho, the pair's values [1,0] and [0,1].
struct TwoWrites {
  explicit TwoWrites(double rho) : keys{1, 0, rho, std::sqrt(1 - rho * rho)} {}

  View<const double, 4> k() const { return {keys, {1, 2, 1, 2}}; }
  View<const double, 4> v() const { return {values, {1, 2, 1, 2}}; }

  // |k_at S - v_at|
  double error(int at, const double (&S)[4]) const {
    double squares = 0;
    for (int j = 0; j < 2; ++j) {
      const double read = keys[2 * at] * S[j] + keys[2 * at + 1] * S[2 + j];
      squares += (read - values[2 * at + j]) * (read - values[2 * at + j]);
    }
    return std::sqrt(squares);
  }

  double keys[4];
  double values[4] = {1, 0, 0, 1};
};

Status outer_product_state(const TwoWrites& writes, double (&S)[4]) {
  double o[4];
  return linear_attention(LinearAttentionArguments<double>{.q = writes.k(), .k = writes.k(), .v = writes.v(), .feature = Feature::identity,
                                                           .normalize = false, .o = {o, {1, 2, 1, 2}}, .final_state = {S, {1, 1, 2, 2}}});
}

// The first pair is written in full; then the state decays by alpha and the second pair is written at strength beta.
Status delta_state(const TwoWrites& writes, double alpha, double beta, double (&S)[4]) {
  const double strengths[2] = {1, beta}, g[2] = {0, std::log(alpha)};
  double o[4];
  return delta_rule(DeltaRuleArguments<double>{.q = writes.k(), .k = writes.k(), .v = writes.v(), .beta = {strengths, {1, 2, 1}}, .g = {g, {1, 2, 1}},
                                               .scale = 1.0, .o = {o, {1, 2, 1, 2}}, .final_state = {S, {1, 1, 2, 2}}});
}

Result<Panel> crosstalk(const Settings& settings) {
  const double alpha = settings.at("alpha"), beta = settings.at("beta");
  std::vector<Series> series = {{"outer_product", "either key", {}, {}}, {"delta_rule", "old key", {}, {}}, {"delta_rule", "new key", {}, {}},
                                {"gated_delta_rule", "old key", {}, {}}, {"gated_delta_rule", "new key", {}, {}}};
  for (int step = 0; step <= kCosineSteps; ++step) {
    const double rho = static_cast<double>(step) / kCosineSteps;
    const TwoWrites writes(rho);
    double outer[4], delta[4], gated[4];
    for (const Status& status : {outer_product_state(writes, outer), delta_state(writes, 1, beta, delta), delta_state(writes, alpha, beta, gated)})
      if (!status.ok()) return status;
    const double errors[] = {writes.error(0, outer), writes.error(0, delta), writes.error(1, delta), writes.error(0, gated), writes.error(1, gated)};
    for (std::size_t line = 0; line < series.size(); ++line) {
      series[line].x.push_back(rho);
      series[line].y.push_back(errors[line]);
    }
  }
  return Panel{"crosstalk", {"inner product of the two keys", "", false}, {"error of the read", "", false}, series};
}

Result<Figure> run(const Settings& settings) {
  Result<Panel> left = storage(settings), right = crosstalk(settings);
  for (const Result<Panel>* panel : {&left, &right})
    if (!panel->ok()) return panel->status();
  return Figure{{std::move(left).value(), std::move(right).value()}};
}

}  // namespace

Experiment memory_tradeoff_experiment() {
  return {"memory-tradeoff",
          "What does a memory cost, and what does it confuse?",
          "One layer and one head, no weights and no workspace; two keys and two values, not a trained model; bytes, not speed.",
          {{"beta", "how hard the second write overwrites", 1, 0, 2, 0},
           {"alpha", "what the decay keeps before the second write", 0.9, 0, 1, 0},
           {"key_width", "key width K", 64, 1, 1024, 1},
           {"value_width", "value width V", 64, 1, 1024, 1},
           {"element_bytes", "bytes per element", 4, 1, 8, 1},
           {"window", "tokens a window keeps", 1024, 1, 1048576, 1}},
          run};
}

}  // namespace linearmem
