// What holds for every layer, in both precisions: pieces of any size give what one call gives; packed, batched, padded or alone, on any
// threads, the same bits; a state goes back to where it was; what a slot held before never matters; sizes are those of the ledger.
#include <gtest/gtest.h>

#include "core/layer_cases.hpp"

namespace linearmem::test {
namespace {

template <typename T>
class Layers : public testing::Test {};
using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(Layers, Precisions);

template <typename T>
Guarded<T, 3> drawn_hidden(std::int64_t B, std::int64_t tokens, std::int64_t width, std::uint64_t seed) {
  Numbers numbers(seed);
  Guarded<T, 3> hidden({B, tokens, width});
  hidden.fill(numbers, -1.5, 1.5);
  return hidden;
}

// Visits a layer of each kind.
template <typename T, typename Visit>
void each_layer(Visit visit) {
  std::uint64_t seed = 100;
  for (const LayerSizes& sizes : small_layers()) {
    const auto layer = layer_of<T>(sizes, drawn_weights(sizes, seed++));
    SCOPED_TRACE(std::string(layer->kind()) + " " + std::to_string(sizes.index()));
    visit(*layer);
  }
}

TYPED_TEST(Layers, PiecesOfAnySizeGiveWhatOneCallGives) {
  using T = TypeParam;
  each_layer<T>([](const Layer<T>& layer) {
    constexpr std::int64_t kTokens = 31;
    const auto hidden = drawn_hidden<T>(1, kTokens, layer.width(), 7);
    Guarded<T, 3> whole(hidden.view().extents());
    OneRequest<T> all(layer);
    all.take(hidden.view(), 0, kTokens, whole.view());
    const auto in_pieces = [&](auto next) {
      Guarded<T, 3> out(hidden.view().extents());
      OneRequest<T> request(layer);
      for (std::int64_t begin = 0, end = 0; begin < kTokens; begin = end) {
        end = std::min(begin + next(begin), kTokens);
        request.take(hidden.view(), begin, end, out.view());
      }
      EXPECT_LE(relative_difference(out.view(), whole.view()), tolerance<T>());
      const std::vector<T> state = request.state(), expected = all.state();
      const auto size = static_cast<std::int64_t>(state.size());
      EXPECT_LE(relative_difference(View<const T, 1>(state.data(), {size}), View<const T, 1>(expected.data(), {size})), tolerance<T>());
      EXPECT_TRUE(out.guards_intact());
    };
    in_pieces([](std::int64_t) { return std::int64_t{1}; });
    for (std::int64_t cut = 1; cut < kTokens; cut += 3) in_pieces([&](std::int64_t begin) { return begin == 0 ? cut : kTokens; });
    in_pieces([](std::int64_t begin) { return begin % 2 == 0 ? std::int64_t{3} : std::int64_t{8}; });
  });
}

// Requests of given lengths packed into one call, after some tokens that each took in before.
template <typename T>
struct Packed {
  std::vector<std::int64_t> lengths, before;
  std::vector<std::int64_t> slots;  // of as many rows as there are requests, and two more
};

TYPED_TEST(Layers, PackedRequestsGiveTheBitsOfEachAlone) {
  using T = TypeParam;
  each_layer<T>([](const Layer<T>& layer) {
    const Packed<T> p{{3, 0, 1, 9, 2}, {0, 4, 5, 2, 0}, {6, 2, 0, 3, 1}};
    const LayerStateLayout layout = layer.state_layout();
    StateStore<T> store(layout, 7);
    const std::vector<StateRows<T>> states = store.rows();
    const std::vector<std::int64_t> cu = {0, 3, 3, 4, 13, 15};
    const auto hidden = drawn_hidden<T>(1, 15, layer.width(), 9);
    Guarded<T, 3> out(hidden.view().extents());
    std::vector<OneRequest<T>> alone(5, OneRequest<T>(layer));
    for (std::size_t n = 0; n < 5; ++n) {  // the tokens before, one request after the other
      const auto earlier = drawn_hidden<T>(1, p.before[n], layer.width(), 20 + n);
      Guarded<T, 3> ignored(earlier.view().extents());
      alone[n].take(earlier.view(), 0, p.before[n], ignored.view());
      const std::int64_t none = 0;
      ASSERT_TRUE(layer.forward({.hidden = earlier.view(), .states = states, .slots = std::span(&p.slots[n], 1), .seen = {&none, {1}}, .out = ignored.view()}).ok());
    }
    const Status status = layer.forward({.hidden = hidden.view(), .cu_seqlens = {cu.data(), {6}}, .states = states, .slots = p.slots,
                                         .seen = {p.before.data(), {5}}, .out = out.view()});
    ASSERT_TRUE(status.ok()) << status.message();
    for (std::size_t n = 0; n < 5; ++n) {
      const auto own = tokens_of(hidden.view(), cu[n], cu[n + 1]);
      Guarded<T, 3> expected(own.extents());
      alone[n].take(own, 0, p.lengths[n], expected.view());
      const T* got = out.data() + cu[n] * layer.width();
      EXPECT_TRUE(p.lengths[n] == 0 || std::memcmp(got, expected.data(), sizeof(T) * p.lengths[n] * layer.width()) == 0) << n;
      EXPECT_TRUE(equal_bits(store.row(layout, p.slots[n]), alone[n].state())) << n;
    }
  });
}

TYPED_TEST(Layers, PaddingReachesNothing) {
  using T = TypeParam;
  each_layer<T>([](const Layer<T>& layer) {
    constexpr std::int64_t kTokens = 8;
    auto hidden = drawn_hidden<T>(3, kTokens, layer.width(), 11);
    const std::vector<std::uint8_t> mask = {0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (std::int64_t i = 0; i < 3 * kTokens; ++i)
      if (!mask[i]) std::fill_n(hidden.data() + i * layer.width(), layer.width(), std::numeric_limits<T>::quiet_NaN());
    StateStore<T> store(layer.state_layout(), 3);
    const std::vector<StateRows<T>> states = store.rows();
    Guarded<T, 3> out(hidden.view().extents());
    const LayerCall<T> call{.hidden = hidden.view(), .mask = {mask.data(), {3, kTokens}}, .states = states, .out = out.view()};
    ASSERT_TRUE(layer.forward(call).ok());
    for (std::int64_t b = 0; b < 3; ++b) {
      Tensor<T, 3> kept({1, taken_tokens(call, b), layer.width()});
      Guarded<T, 3> expected(kept.extents());
      for (std::int64_t t = 0, to = 0; t < kTokens; ++t)
        if (mask[b * kTokens + t]) std::copy_n(&hidden.view()(b, t, 0), layer.width(), &kept(0, to++, 0));
      OneRequest<T> request(layer);
      request.take(kept.view(), 0, kept.extents()[1], expected.view());
      EXPECT_TRUE(equal_bits(store.row(layer.state_layout(), b), request.state()));
      for (std::int64_t t = 0, to = 0; t < kTokens; ++t, to += mask[b * kTokens + t - 1])
        for (std::int64_t m = 0; m < layer.width(); ++m) EXPECT_EQ(out.view()(b, t, m), mask[b * kTokens + t] ? expected.view()(0, to, m) : T{0});
    }
  });
}

TYPED_TEST(Layers, RollbackThenContinueIsAsIfItHadNeverGoneOn) {
  using T = TypeParam;
  each_layer<T>([](const Layer<T>& layer) {
    const auto hidden = drawn_hidden<T>(1, 20, layer.width(), 12);
    Guarded<T, 3> out(hidden.view().extents()), again(hidden.view().extents());
    OneRequest<T> request(layer);
    request.take(hidden.view(), 0, 9, out.view());
    const OneRequest<T> checkpoint = request;
    const auto draft = drawn_hidden<T>(1, 7, layer.width(), 13);
    Guarded<T, 3> rejected(draft.view().extents());
    request.take(draft.view(), 0, 7, rejected.view());
    OneRequest<T> back = checkpoint, straight = checkpoint;
    back.take(hidden.view(), 9, 20, out.view());
    straight.take(hidden.view(), 9, 20, again.view());
    EXPECT_EQ(std::memcmp(&out.view()(0, 9, 0), &again.view()(0, 9, 0), sizeof(T) * 11 * layer.width()), 0);
    EXPECT_TRUE(equal_bits(back.state(), straight.state()));
  });
}

TYPED_TEST(Layers, StridesAreHonouredAndThreadsChangeNoBit) {
  using T = TypeParam;
  class Backwards final : public Executor {
   public:
    std::int64_t width() const override { return 3; }
    std::int64_t least_work() const override { return 0; }
    void run(std::int64_t count, Item item, const void* context) const override {
      for (std::int64_t index = count; index-- > 0;) item(context, index);
    }
  };
  each_layer<T>([](const Layer<T>& layer) {
    const auto hidden = drawn_hidden<T>(2, 13, layer.width(), 14);
    Guarded<T, 3> out(hidden.view().extents());
    ASSERT_TRUE(layer.forward({.hidden = hidden.view(), .out = out.view()}).ok());
    Turned<T, 3> turned(View<const T, 3>(hidden.view())), turned_out(hidden.view().extents());
    const Backwards executor;
    ASSERT_TRUE(layer.forward({.hidden = turned.view(), .executor = &executor, .out = turned_out.view()}).ok());
    EXPECT_EQ(relative_difference(turned_out.view(), out.view()), 0);
  });
}

TYPED_TEST(Layers, NoTokensAndNoRequestsAreNoTrouble) {
  using T = TypeParam;
  each_layer<T>([](const Layer<T>& layer) {
    Tensor<T, 3> none({2, 0, layer.width()}), nobody({1, 0, layer.width()});
    StateStore<T> store(layer.state_layout(), 2);
    const std::vector<StateRows<T>> states = store.rows();
    const std::int64_t zero = 0;
    ASSERT_TRUE(layer.forward({.hidden = none.view(), .states = states, .out = none.view()}).ok());
    for (T value : store.row(layer.state_layout(), 1)) EXPECT_EQ(value, 0);
    EXPECT_TRUE(layer.forward({.hidden = nobody.view(), .cu_seqlens = {&zero, {1}}, .states = states, .out = nobody.view()}).ok());
  });
}

TYPED_TEST(Layers, TheStateIsAsLargeAsTheLedgerCounts) {
  each_layer<TypeParam>([](const Layer<TypeParam>& layer) {
    const LayerStateLayout layout = layer.state_layout();
    const auto counted = layout.ledger_bytes();
    ASSERT_TRUE(counted.ok()) << counted.status().message();
    EXPECT_EQ(layout.bytes(), counted.value());
    EXPECT_GT(layout.bytes(), 0);
    for (const LayerSizes& sizes : small_layers())
      if (layer_of<TypeParam>(sizes, drawn_weights(sizes, 1))->kind() == layer.kind() && layer_state_layout(sizes, layout.parts[0].dtype).parts == layout.parts) return;
    ADD_FAILURE() << "the layout is not that of any sizes";
  });
}

TEST(LayerRefusals, ACallThatDoesNotFitIsRefusedAndWritesNothing) {
  const LayerSizes sizes = UniversalTransformerSizes{.model_width = 4, .heads = 1, .key_width = 2, .value_width = 2, .inner_width = 3, .rounds = 2, .context = 5};
  const auto layer = layer_of<double>(sizes, drawn_weights(sizes, 1));
  Tensor<double, 3> hidden({2, 3, 4}, 0.5), wrong({2, 3, 5}), out({2, 3, 4}, 9);
  StateStore<double> store(layer->state_layout(), 2);
  const std::vector<StateRows<double>> states = store.rows();
  const std::vector<std::int64_t> twice = {1, 1}, outside = {0, 2}, late = {0, 3}, negative = {-1, 0};
  const auto message = [&](const LayerCall<double>& call) { return layer->forward(call).message(); };
  EXPECT_EQ(message({.hidden = wrong.view(), .out = out.view()}), "universal-transformer: M differs: the layer has 4, hidden has 5");
  EXPECT_EQ(message({.hidden = hidden.view(), .states = states, .slots = twice, .out = out.view()}), "universal-transformer: slot 1 is given to two requests");
  EXPECT_EQ(message({.hidden = hidden.view(), .states = states, .slots = outside, .out = out.view()}), "universal-transformer: slot 2 is outside the 2 rows of states");
  EXPECT_EQ(message({.hidden = hidden.view(), .states = std::span(states).first(1), .out = out.view()}), "universal-transformer: states has 1 parts, the layer keeps 2");
  EXPECT_EQ(message({.hidden = hidden.view(), .states = states, .seen = {late.data(), {2}}, .out = out.view()}),
            "universal-transformer: the history of request 1 would hold 3 + 3 tokens, it has room for 5");
  EXPECT_EQ(message({.hidden = hidden.view(), .seen = {late.data(), {2}}, .out = out.view()}), "universal-transformer: seen is 3 at request 1, but no states are given");
  EXPECT_EQ(message({.hidden = hidden.view(), .states = states, .seen = {negative.data(), {2}}, .out = out.view()}),
            "universal-transformer: seen of request 0 is -1, must be from 0 to 281474976710656");
  std::vector<StateRows<double>> narrow = states;
  narrow[1].stride = 19;
  EXPECT_EQ(message({.hidden = hidden.view(), .states = narrow, .out = out.view()}), "universal-transformer: states: rows of values are 19 apart, one takes 20");
  const std::vector<std::int64_t> endless = {std::numeric_limits<std::int64_t>::max(), 0};
  EXPECT_EQ(message({.hidden = hidden.view(), .states = states, .seen = {endless.data(), {2}}, .out = out.view()}),
            "universal-transformer: seen of request 0 is 9223372036854775807, must be from 0 to 281474976710656");
  std::vector<StateRows<double>> nowhere = states;
  nowhere[0].data = nullptr;
  EXPECT_EQ(message({.hidden = hidden.view(), .states = nowhere, .out = out.view()}), "universal-transformer: states: keys has no storage for its 2 rows");
  for (double value : out.values()) EXPECT_EQ(value, 9);
  for (double value : store.row(layer->state_layout(), 1)) EXPECT_TRUE(std::isnan(value));
}

TYPED_TEST(Layers, APartOfNoElementsNeedsNoStorage) {
  using T = TypeParam;
  const LayerSizes sizes = Mamba2Sizes{.model_width = 3, .heads = 2, .head_width = 2, .state_width = 2, .conv_width = 1};
  const auto layer = layer_of<T>(sizes, drawn_weights(sizes, 8));
  const auto hidden = drawn_hidden<T>(2, 5, 3, 9);
  Tensor<T, 3> alone({2, 5, 3}), out({2, 5, 3});
  Tensor<T, 2> recurrent({2, 8});
  const std::vector<StateRows<T>> states = {{nullptr, 2, 0}, {recurrent.view().data(), 2, 8}};
  ASSERT_TRUE(layer->forward({.hidden = hidden.view(), .out = alone.view()}).ok());
  const Status status = layer->forward({.hidden = hidden.view(), .states = states, .out = out.view()});
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(equal_bits(alone.values(), out.values()));
  // No requests at all.
  const std::vector<StateRows<T>> none = {{nullptr, 0, 0}, {nullptr, 0, 8}};
  const Status nobody = layer->forward({.hidden = {nullptr, {0, 5, 3}}, .states = none, .out = {nullptr, {0, 5, 3}}});
  EXPECT_TRUE(nobody.ok()) << nobody.message();
}

TEST(LayerRefusals, PositionsThatAConfigurationTurnsOtherwiseAreRefused) {
  const auto message = [](const std::string& fields, const char* kind = "window-attention") {
    return layer_options(kind, R"({"hidden_size": 8, "sliding_window": 4, )" + fields + "}").status().message();
  };
  EXPECT_EQ(message(R"("rope_scaling": {"type": "linear", "factor": 2.0})"),
            "config: type of rope_scaling is the text \"linear\"; rotary positions are not scaled here");
  EXPECT_EQ(message(R"("text_config": {"rope_parameters": {"rope_type": "yarn", "rope_theta": 5}})"),
            "config: rope_type of rope_parameters is the text \"yarn\"; rotary positions are not scaled here");
  EXPECT_EQ(message(R"("partial_rotary_factor": 0.25)"), "config: partial_rotary_factor is 0.25; here the whole head turns");
  for (const char* same : {R"("rope_scaling": null)", R"("rope_parameters": {"rope_type": "default", "rope_theta": 5})", R"("partial_rotary_factor": 1)"})
    EXPECT_EQ(message(same), "") << same;
  EXPECT_EQ(message(R"("partial_rotary_factor": 0.25, "rope_scaling": {"type": "yarn"})", "gated-delta-net"), "");  // it has no positions
}

TEST(LayerRefusals, EveryWrongWeightIsNamed) {
  const LayerSizes sizes = GatedDeltaNetSizes{.model_width = 6, .key_heads = 1, .value_heads = 2, .key_width = 3, .value_width = 5};
  NamedTensors weights = drawn_weights(sizes, 2);
  weights.erase("A_log");
  weights.erase("out_proj.weight");
  weights["conv1d.weight"] = to_named(std::vector<double>(64), {16, 4});
  weights["dt_bias"] = to_named(std::vector<std::int64_t>(2), {2});
  weights["conv1d.bias"] = to_named(std::vector<double>(16), {16});
  const auto layer = make_layer<float>(sizes, weights);
  ASSERT_FALSE(layer.ok());
  EXPECT_EQ(layer.status().message(),
            "gated-delta-net: weights missing: A_log [2], out_proj.weight [6,10]; not known: conv1d.bias; "
            "of another shape: conv1d.weight is [16,4], must be [16,1,4]; not floating: dt_bias is I64");
}

TEST(LayerRefusals, EveryWrongOptionIsNamed) {
  const auto message = [](const char* kind, std::map<std::string, std::string> options) { return read_layer_sizes(kind, options).status().message(); };
  EXPECT_EQ(message("gated-delta", {}),
            "layer kind gated-delta is not one of gated-delta-net, mamba2, linear-transformer, universal-transformer, window-attention");
  EXPECT_EQ(message("window-attention", {{"hidden_size", "6"}, {"num_attention_heads", "x"}, {"window", "4"}}),
            "window-attention: unknown option \"window\"; option num_attention_heads takes a whole number or none, got \"x\"; "
            "option sliding_window is missing: tokens seen, the query's own included");
  EXPECT_EQ(message("window-attention", {{"hidden_size", "6"}, {"num_attention_heads", "3"}, {"num_key_value_heads", "2"}, {"head_dim", "5"}, {"sliding_window", "0"}}),
            "window-attention: window is 0, must be from 1 to 1048576; heads is 3, not a multiple of key heads, which is 2; "
            "head width is 5, not a multiple of 2, the halves that turn together, which is 2");
  const auto limits = [&](const char* text) {
    return message("mamba2", {{"hidden_size", "6"}, {"num_heads", "2"}, {"head_dim", "3"}, {"state_size", "4"}, {"time_step_limit", text}});
  };
  EXPECT_EQ(limits("0.001,0.1"), "");
  EXPECT_EQ(limits("[0.0, Infinity]"), "");
  for (const char* wrong : {"0.1", "0.2,0.1", "-1,2", "inf,inf", "0,x", "0,1,2"})
    EXPECT_EQ(limits(wrong), "mamba2: option time_step_limit takes LEAST,MOST, two numbers from 0 on, the second may be inf, got \"" + std::string(wrong) + "\"");
}

}  // namespace
}  // namespace linearmem::test
