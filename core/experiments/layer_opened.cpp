// One small Gated DeltaNet layer opened up: every tensor between its input and its output, token by token, and its state around one token.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "experiments/lists.hpp"
#include "experiments/matrix_panel.hpp"
#include "foundation/activation.hpp"
#include "layers/kinds.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kT = 8, kM = 6, kK = 4, kV = 4, kW = 4;
constexpr GatedDeltaNetSizes kSizes{.model_width = kM, .key_heads = 1, .value_heads = 1, .key_width = kK, .value_width = kV, .conv_width = kW};

// hidden [T,M], then matrices over the square root of their columns, in the order of weights_of; the rate of forgetting is a setting.
struct Drawn {
  explicit Drawn(const Settings& settings) {
    Generator generator(static_cast<std::uint64_t>(settings.at("seed")));
    hidden = generator.normal_vector(kT * kM);
    for (const LayerWeight& weight : layers::weights_of(kSizes)) {
      std::vector<double> values;
      if (weight.shape.size() > 1) {
        std::int64_t count = 1;
        for (std::int64_t extent : weight.shape) count *= extent;
        values = generator.normal_vector(static_cast<std::size_t>(count), 0, 1 / std::sqrt(static_cast<double>(weight.shape.back())));
      } else {
        const double value = weight.name == "A_log" ? std::log(settings.at("rate")) : weight.name == "norm.weight" ? 1 : 0;
        values.assign(static_cast<std::size_t>(weight.shape[0]), value);
      }
      weights.emplace(weight.name, to_named(values, weight.shape));
    }
  }
  std::vector<double> hidden;
  NamedTensors weights;
};

// Tensors by name, [T, ...] each.
class Tensors final : public LayerTap<double> {
 public:
  void take(std::string_view name, std::span<const std::int64_t> shape, const double* values) override {
    std::int64_t count = 1;
    for (std::int64_t extent : shape) count *= extent;
    by_name[std::string(name)].assign(values, values + count);
  }
  std::map<std::string, std::vector<double>> by_name;
};

// The recurrent state [K,V] after `tokens` tokens, and what the layer showed on the way.
Status remember(const Layer<double>& layer, const Drawn& drawn, std::int64_t tokens, Tensors* tap, std::vector<double>& S) {
  std::vector<double> conv((2 * kK + kV) * (kW - 1)), out(static_cast<std::size_t>(tokens * kM));
  S.assign(kK * kV, 0);
  const StateRows<double> states[] = {{conv.data(), 1, static_cast<std::int64_t>(conv.size())}, {S.data(), 1, kK * kV}};
  return layer.forward({.hidden = {drawn.hidden.data(), {1, tokens, kM}}, .states = states, .tap = tap, .out = {out.data(), {1, tokens, kM}}});
}

std::vector<double> each(std::vector<double> values, double (*of)(double)) {
  for (double& value : values) value = of(value);
  return values;
}

// Matrices of a panel up to the token, on the scale of all tokens.
class Rows {
 public:
  Rows(const Tensors& tensors, std::int64_t token) : tensors_(tensors), token_(token) {}

  Series operator()(const char* label, const std::vector<double>& all) {
    for (double value : all) limit_ = std::max(limit_, std::abs(value));
    return matrix_series("gated_delta_rule", label, {all.begin(), all.begin() + token_ * static_cast<std::int64_t>(all.size()) / kT});
  }
  Series operator()(const char* label, const char* name) { return (*this)(label, tensors_.by_name.at(name)); }
  const std::vector<double>& of(const char* name) const { return tensors_.by_name.at(name); }

  Panel panel(const char* name, std::int64_t columns, std::vector<Series> matrices) {
    return matrix_panel(name, columns, std::move(matrices), std::exchange(limit_, 0));
  }

 private:
  const Tensors& tensors_;
  std::int64_t token_;
  double limit_ = 0;  // largest of the panel under way
};

Result<Figure> run(const Settings& settings) {
  const std::int64_t token = whole(settings, "token");
  const Drawn drawn(settings);
  const auto layer = layers::make_kind<double>(kSizes, drawn.weights);  // this kind alone: a page waits for no other
  Tensors tensors;
  std::vector<std::vector<double>> states(kT + 1);  // after no token, after one, ...
  double reach = 0;                                 // a scale that stays as the tokens step
  for (std::int64_t t = 0; t <= kT; ++t) {
    std::vector<double>& S = states[static_cast<std::size_t>(t)];
    if (Status status = remember(*layer, drawn, t, t == kT ? &tensors : nullptr, S); !status.ok()) return status;
    for (double value : S) reach = std::max(reach, std::abs(value));
  }
  const std::vector<double>&before = states[static_cast<std::size_t>(token - 1)], &after = states[static_cast<std::size_t>(token)];
  Rows rows(tensors, token);
  const auto exp_of = [](double g) { return std::exp(g); };
  const auto silu_of = [](double z) { return silu(z); };
  std::vector<Panel> panels;
  panels.push_back(rows.panel("hidden", kM, {rows("hidden", drawn.hidden)}));
  panels.push_back(rows.panel("convolution", 2 * kK + kV, {rows("projected", "mixed_qkv")}));
  panels.push_back(rows.panel("heads", kK, {rows("query", "query"), rows("key", "key"), rows("value", "value")}));
  panels.push_back(rows.panel("gates", 1, {rows("decay", each(rows.of("g"), exp_of)), rows("strength", "beta")}));
  panels.push_back(matrix_panel("state", kV, {matrix_series("gated_delta_rule", "before", before), matrix_series("gated_delta_rule", "after", after)}, reach));
  panels.push_back(rows.panel("answer", kV, {rows("read", "core_attn_out"), rows("gate", each(rows.of("z"), silu_of)), rows("gated", "norm")}));
  panels.push_back(rows.panel("out", kM, {rows("out", "out")}));
  return Figure{std::move(panels)};
}

}  // namespace

Experiment layer_opened_experiment() {
  return {"layer-opened",
          "What happens inside one layer of a model?",
          "Random weights of one head: a trained layer has learned what to keep. Norms, residuals and the feed-forward part around it are left out.",
          {{"token", "the newest token", 3, 1, kT, 1},
           {"rate", "exp(A_log): how fast the head forgets", 1, 0.01, 16, 0},
           {"seed", "of hidden states and weights", 1, 0, 4294967295.0, 1}},
          run};
}

}  // namespace linearmem
