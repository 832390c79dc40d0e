// Every layer against its published formulas, float64, to 1e-10: small odd sizes of each kind, and Qwen3-Next's and Mamba-2's own heads, widths
// and names of weights at a reduced model width.
#include <gtest/gtest.h>

#include <set>

#include "core/layer_cases.hpp"
#include "core/layer_oracle.hpp"

namespace linearmem::test {
namespace {

Matrix oracle(const GatedDeltaNetSizes& s, const OracleWeights& w, const Matrix& x) { return gated_delta_net(s, w, x); }
Matrix oracle(const Mamba2Sizes& s, const OracleWeights& w, const Matrix& x) { return mamba2(s, w, x); }
Matrix oracle(const LinearTransformerSizes& s, const OracleWeights& w, const Matrix& x) { return linear_transformer(s, w, x); }
Matrix oracle(const UniversalTransformerSizes& s, const OracleWeights& w, const Matrix& x) { return universal_transformer(s, w, x); }
Matrix oracle(const WindowAttentionSizes& s, const OracleWeights& w, const Matrix& x) { return window_attention(s, w, x); }

OracleWeights plain(const NamedTensors& weights) {
  OracleWeights values;
  for (const auto& [name, tensor] : weights) values[name] = floating_values<double>(name, tensor).value();
  return values;
}

// The largest difference, relative to 1 or the largest expected value, of the layer from its formulas.
template <typename T>
double distance(const LayerSizes& sizes, const NamedTensors& weights, std::int64_t tokens) {
  const auto layer = layer_of<T>(sizes, weights);
  Numbers numbers(5);
  Guarded<double, 3> drawn({1, tokens, layer->width()});
  drawn.fill(numbers, -1.2, 1.2);
  Tensor<T, 3> hidden(drawn.view().extents());
  convert(View<const double, 3>(drawn.view()), hidden.view());
  Guarded<T, 3> out(drawn.view().extents());
  const Status status = layer->forward({.hidden = hidden.view(), .out = out.view()});
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(out.guards_intact());
  Matrix x;
  for (std::int64_t t = 0; t < tokens; ++t) x.emplace_back(drawn.data() + t * layer->width(), drawn.data() + (t + 1) * layer->width());
  const Matrix expected = std::visit([&](const auto& s) { return oracle(s, plain(weights), x); }, sizes);
  Tensor<double, 3> wanted(drawn.view().extents());
  for (std::int64_t t = 0; t < tokens; ++t) std::copy(expected[t].begin(), expected[t].end(), &wanted(0, t, 0));
  return relative_difference(out.view(), wanted.view());
}

TEST(LayerFormulas, EveryKindAtSmallOddSizes) {
  std::uint64_t seed = 1;
  for (const LayerSizes& sizes : small_layers())
    for (std::int64_t tokens : {1, 2, 19}) {
      const NamedTensors weights = drawn_weights(sizes, seed++);
      EXPECT_LE(distance<double>(sizes, weights, tokens), 1e-10) << sizes.index() << ", tokens " << tokens;
      EXPECT_LE(distance<float>(sizes, weights, tokens), 2e-5) << sizes.index() << ", tokens " << tokens;
    }
}

void expect_names(const LayerSizes& sizes, const std::map<std::string, std::vector<std::int64_t>>& published) {
  std::map<std::string, std::vector<std::int64_t>> names;
  for (const LayerWeight& weight : layer_weights(sizes)) names[weight.name] = weight.shape;
  EXPECT_EQ(names, published);
}

// Qwen/Qwen3-Next-80B-A3B-Instruct, config.json, with hidden_size 40 for 2048.
TEST(LayerFormulas, Qwen3NextsOwnHeadsAndNames) {
  const GatedDeltaNetSizes sizes{.model_width = 40, .key_heads = 16, .value_heads = 32, .key_width = 128, .value_width = 128, .conv_width = 4};
  expect_names(sizes, {{"in_proj_qkvz.weight", {12288, 40}}, {"in_proj_ba.weight", {64, 40}}, {"conv1d.weight", {8192, 1, 4}}, {"dt_bias", {32}},
                       {"A_log", {32}}, {"norm.weight", {128}}, {"out_proj.weight", {40, 4096}}});
  EXPECT_LE(distance<double>(sizes, drawn_weights(sizes, 77), 7), 1e-10);
}

// state-spaces/mamba2-130m: 24 heads of 64, state 128, one group, width 4; hidden_size 32 for 768.
TEST(LayerFormulas, Mamba2sOwnHeadsAndNames) {
  const Mamba2Sizes sizes{.model_width = 32, .heads = 24, .head_width = 64, .groups = 1, .state_width = 128, .conv_width = 4};
  expect_names(sizes, {{"in_proj.weight", {3352, 32}}, {"conv1d.weight", {1792, 1, 4}}, {"conv1d.bias", {1792}}, {"dt_bias", {24}}, {"A_log", {24}},
                       {"D", {24}}, {"norm.weight", {1536}}, {"out_proj.weight", {32, 1536}}});
  EXPECT_LE(distance<double>(sizes, drawn_weights(sizes, 78), 9), 1e-10);
}

class Names final : public LayerTap<double> {
 public:
  void take(std::string_view name, std::span<const std::int64_t> shape, const double* values) override {
    std::int64_t count = 1;
    for (std::int64_t extent : shape) count *= extent;
    EXPECT_EQ(shape[0], 3) << name;
    for (std::int64_t i = 0; i < count; ++i) EXPECT_TRUE(std::isfinite(values[i])) << name;
    seen.emplace(name, std::vector<std::int64_t>(shape.begin(), shape.end()));
  }
  std::map<std::string, std::vector<std::int64_t>, std::less<>> seen;
};

TEST(LayerFormulas, ATapSeesEveryIntermediateTensor) {
  const GatedDeltaNetSizes sizes{.model_width = 6, .key_heads = 2, .value_heads = 4, .key_width = 3, .value_width = 5};
  const auto layer = layer_of<double>(sizes, drawn_weights(sizes, 3));
  Tensor<double, 3> hidden({1, 3, 6}, 0.5), out({1, 3, 6});
  Names names;
  ASSERT_TRUE(layer->forward({.hidden = hidden.view(), .tap = &names, .out = out.view()}).ok());
  const std::map<std::string, std::vector<std::int64_t>, std::less<>> expected = {
      {"mixed_qkv", {3, 32}}, {"z", {3, 4, 5}}, {"b", {3, 4}}, {"a", {3, 4}}, {"beta", {3, 4}}, {"g", {3, 4}}, {"query", {3, 2, 3}}, {"key", {3, 2, 3}},
      {"value", {3, 4, 5}}, {"core_attn_out", {3, 4, 5}}, {"norm", {3, 4, 5}}, {"out", {3, 6}}};
  EXPECT_EQ(names.seen, expected);
}

}  // namespace
}  // namespace linearmem::test
