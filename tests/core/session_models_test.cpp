// Sessions over the layers of published models, all five kinds in one stack and each by itself.
#include <gtest/gtest.h>

#include "core/session_driver.hpp"

namespace linearmem {
namespace {

using test::drawn_weights;
using test::equal_bits;
using test::Feed;
using test::kNaN;
using test::layer_of;
using test::must;
using test::Numbers;
using test::relative_difference;
using test::SessionDriver;
using test::tolerance;

constexpr std::int64_t M = 12;

std::vector<LayerSizes> stack_sizes() {
  return {GatedDeltaNetSizes{.model_width = M, .key_heads = 2, .value_heads = 6, .key_width = 5, .value_width = 7, .conv_width = 4},
          WindowAttentionSizes{.model_width = M, .heads = 6, .key_heads = 2, .head_width = 4, .window = 5, .bias = true},
          Mamba2Sizes{.model_width = M, .heads = 6, .head_width = 5, .groups = 3, .state_width = 7},
          LinearTransformerSizes{.model_width = M, .heads = 2, .key_width = 3, .value_width = 5, .inner_width = 23},
          UniversalTransformerSizes{.model_width = M, .heads = 2, .key_width = 3, .value_width = 5, .inner_width = 9, .rounds = 2, .context = 40}};
}

template <typename T>
struct Stack {
  std::vector<std::unique_ptr<Layer<T>>> layers;

  Stack() {
    for (const LayerSizes& sizes : stack_sizes()) layers.push_back(layer_of<T>(sizes, drawn_weights(sizes, layers.size())));
  }
  std::vector<const Layer<T>*> all() const {
    std::vector<const Layer<T>*> pointers;
    for (const auto& layer : layers) pointers.push_back(layer.get());
    return pointers;
  }
};

template <typename T>
class SessionModels : public testing::Test {
 protected:
  Stack<T> stack;
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(SessionModels, Precisions);

TYPED_TEST(SessionModels, PackedRequestsHaveTheBitsOfEachAlone) {
  SessionDriver<TypeParam> shared({.requests = 4}, this->stack.all()), alone({.requests = 1}, this->stack.all());
  std::vector<RequestHandle> requests;
  for (int r = 0; r < 4; ++r) requests.push_back(must(shared->open()));
  constexpr std::int64_t kCalls[][4] = {{3, 0, 9, 1}, {1, 7, 0, 1}, {1, 1, 1, 1}, {8, 2, 5, 0}};  // tokens of each request
  std::vector<std::vector<TypeParam>> outs(4);
  std::int64_t at[4] = {};
  for (const auto& lengths : kCalls) {
    std::vector<Feed> feeds;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t r = (i + 2) % 4;
      feeds.push_back({requests[r], r, at[r], at[r] + lengths[r]});
      at[r] += lengths[r];
    }
    const auto pieces = shared.run(feeds);
    for (std::size_t i = 0; i < 4; ++i) outs[(i + 2) % 4].insert(outs[(i + 2) % 4].end(), pieces[i].begin(), pieces[i].end());
  }
  const RequestHandle one = must(alone->open());
  for (std::size_t r = 0; r < 4; ++r) {
    must(alone->reset(one));
    std::vector<TypeParam> out;
    std::int64_t from = 0;
    for (const auto& lengths : kCalls) {
      for (TypeParam value : alone.run(Feed{one, r, from, from + lengths[r]})) out.push_back(value);
      from += lengths[r];
    }
    EXPECT_TRUE(equal_bits(outs[r], out)) << r;
    EXPECT_TRUE(equal_bits(shared.state(requests[r]), alone.state(one))) << r;
  }
}

TYPED_TEST(SessionModels, StepsEqualPrefillInEveryLayer) {
  constexpr std::int64_t L = 21;
  for (const Layer<TypeParam>* layer : this->stack.all()) {
    SessionDriver<TypeParam> driver({.requests = 2}, {layer});
    const RequestHandle whole = must(driver->open()), steps = must(driver->open());
    const auto expected = driver.run(Feed{whole, 3, 0, L});
    std::vector<TypeParam> got;
    for (std::int64_t t = 0; t < L; ++t)
      for (TypeParam value : driver.run(Feed{steps, 3, t, t + 1})) got.push_back(value);
    ASSERT_EQ(got.size(), expected.size());
    const auto view = [](const std::vector<TypeParam>& values) { return View<const TypeParam, 1>(values.data(), {static_cast<std::int64_t>(values.size())}); };
    EXPECT_LE(relative_difference(view(got), view(expected)), tolerance<TypeParam>()) << layer->kind();
  }
}

TYPED_TEST(SessionModels, RollbackForkSaveAndLoadLeaveNoTrace) {
  SessionDriver<TypeParam> driver({.requests = 4, .checkpoints = 2}, this->stack.all());
  const RequestHandle plain = must(driver->open()), drafted = must(driver->open());
  driver.run({{plain, 1, 0, 7}, {drafted, 1, 0, 7}});
  const CheckpointHandle seven = must(driver->checkpoint(drafted));
  const RequestHandle forked = must(driver->fork(drafted));
  driver.run({{forked, 6, 7, 12}, {drafted, 5, 7, 10}});
  must(driver->rollback(seven));
  const auto bytes = must(driver->save(std::vector<SavedRequest>{{1, drafted}}));
  const RequestHandle loaded = must(driver->load(bytes, "kept"))[0].request;
  for (std::int64_t t = 7; t < 19; t += 3) {
    const auto pieces = driver.run({{loaded, 1, t, t + 3}, {plain, 1, t, t + 3}, {drafted, 1, t, t + 3}});
    EXPECT_TRUE(equal_bits(pieces[0], pieces[1]) && equal_bits(pieces[2], pieces[1])) << t;
  }
  EXPECT_TRUE(equal_bits(driver.state(loaded), driver.state(plain)) && equal_bits(driver.state(drafted), driver.state(plain)));
  EXPECT_FALSE(equal_bits(driver.state(forked), driver.state(plain)));
}

// Everything the slots held before is NaN.
TYPED_TEST(SessionModels, ARecycledSlotIsAsAFreshOne) {
  SessionDriver<TypeParam> used({.requests = 2}, this->stack.all()), fresh({.requests = 2}, this->stack.all());
  const RequestHandle sick = must(used->open());
  for (int step = 0; step < 9; ++step) must(used.step({sick}, kNaN));
  must(used->close(sick));
  const std::vector<Feed> again = {{must(used->open()), 1, 0, 6}, {must(used->open()), 2, 0, 2}};
  const std::vector<Feed> first = {{must(fresh->open()), 1, 0, 6}, {must(fresh->open()), 2, 0, 2}};
  EXPECT_EQ(again[0].request.slot, sick.slot);
  EXPECT_EQ(used.run(again), fresh.run(first));
  for (std::size_t r = 0; r < 2; ++r) EXPECT_TRUE(equal_bits(used.state(again[r].request), fresh.state(first[r].request)));
}

TYPED_TEST(SessionModels, PaddingIsNotCountedAndNaNInItReachesNothing) {
  SessionDriver<TypeParam> driver({.requests = 3}, this->stack.all());
  const std::vector<RequestHandle> padded = {must(driver->open()), must(driver->open())};
  const RequestHandle plain = must(driver->open());
  const std::vector<std::uint8_t> mask = {0, 1, 1, 1, 0, 0};
  Tensor<TypeParam, 3> hidden({2, 3, M}, static_cast<TypeParam>(0.5)), out({2, 3, M}, static_cast<TypeParam>(kNaN));
  for (std::int64_t at = 0; at < 6; ++at)
    if (!mask[static_cast<std::size_t>(at)]) std::fill_n(&hidden(at / 3, at % 3, 0), M, static_cast<TypeParam>(kNaN));
  must(driver->forward({.requests = padded, .hidden = hidden.view(), .mask = {mask.data(), {2, 3}}, .out = out.view()}));
  EXPECT_EQ(must(driver->tokens(padded[0])), 2);
  EXPECT_EQ(must(driver->tokens(padded[1])), 1);
  for (TypeParam value : out.values()) ASSERT_FALSE(std::isnan(value));
  must(driver.step({plain}));
  EXPECT_TRUE(equal_bits(driver.state(plain), driver.state(padded[1])));
}

TYPED_TEST(SessionModels, SizesAreTheLedgersAndAFullHistoryIsRefusedBeforeAnyLayerGoesOn) {
  SessionDriver<TypeParam> driver({.requests = 1}, this->stack.all());
  std::int64_t ledger = 0;
  for (const LayerStateLayout& layout : driver->layouts()) ledger += must(layout.ledger_bytes());
  EXPECT_EQ(driver->bytes_per_request(), ledger);
  const RequestHandle request = must(driver->open());
  driver.run(Feed{request, 1, 0, 40});
  const auto state = driver.state(request);
  EXPECT_EQ(driver.step({request}).message(),
            "sessions: request 0 of the call would have 41 tokens; layer 4 (universal-transformer) has room for 40");
  EXPECT_TRUE(equal_bits(driver.state(request), state));
}

}  // namespace
}  // namespace linearmem
