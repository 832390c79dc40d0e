// The hybrid stack: what does not meet. Sequences, batch rows, rows out of sight, the states of its layers, a window and what lies behind it.
#include "core/hybrid_problem.hpp"

namespace linearmem {
namespace {

using namespace test::stacks;

template <typename T>
class HybridIsolation : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(HybridIsolation, Precisions);

TYPED_TEST(HybridIsolation, PackedSequencesEqualEachAloneBitForBit) {
  const std::vector<std::int64_t> bounds = {0, 0, 4, 5, 11};
  const Shape shape{{W, S, A}, 1, 11, 4, 2, 3, 5, 4, 4, 3}, one{{W, S, A}, 1, 11, 4, 2, 3, 5, 4, 1, 3};
  for (const Way& way : kWays) {
    Problem<TypeParam> packed(shape, 45);
    packed.arguments.cu_seqlens = {bounds.data(), {5}};
    packed.arguments.form = way.form;
    packed.arguments.chunk = way.chunk;
    expect_ok(packed.arguments);
    for (std::int64_t n = 0; n < 4; ++n) {
      Problem<TypeParam> alone(shape, 45);
      States<TypeParam> before(one, 3), after(one, 3);
      const auto copy = [n](const auto& all, auto& single) { std::copy_n(all.view().data() + n * single.size(), single.size(), single.data()); };
      const auto expect_same = [n](const auto& all, auto& single) {
        for (std::int64_t i = 0; i < single.size(); ++i) EXPECT_EQ(all.view().data()[n * single.size() + i], single.data()[i]) << n;
      };
      copy(packed.before.window_k, before.window_k), copy(packed.before.window_v, before.window_v), copy(packed.before.count, before.count);
      copy(packed.before.delta, before.delta), copy(packed.before.linear, before.linear), copy(packed.before.z, before.z);
      alone.arguments.form = way.form;
      alone.arguments.chunk = way.chunk;
      run_tokens(alone, bounds[n], bounds[n + 1], before, after);
      for (std::int64_t i = bounds[n] * 4; i < bounds[n + 1] * 4; ++i) EXPECT_EQ(packed.y.data()[i], alone.y.data()[i]) << n;
      expect_same(packed.after.window_k, after.window_k), expect_same(packed.after.window_v, after.window_v);
      expect_same(packed.after.count, after.count), expect_same(packed.after.delta, after.delta);
      expect_same(packed.after.linear, after.linear), expect_same(packed.after.z, after.z);
    }
  }
}

TYPED_TEST(HybridIsolation, BatchRowsDoNotMeetEvenWhereOneHoldsNaN) {
  for (const Way& way : kWays) {
    Problem<TypeParam> clean(kCarried, 46), spoiled(kCarried, 46);
    clean.arguments.form = spoiled.arguments.form = way.form;
    clean.arguments.chunk = spoiled.arguments.chunk = way.chunk;
    for (std::int64_t t = 0; t < kCarried.T; ++t) spoiled.hidden.view()(1, t, 0) = std::numeric_limits<TypeParam>::quiet_NaN();
    expect_ok(clean.arguments);
    expect_ok(spoiled.arguments);
    EXPECT_TRUE(std::isnan(spoiled.y.view()(1, 0, 0)));
    for (std::int64_t t = 0; t < kCarried.T; ++t)
      for (std::int64_t d = 0; d < kCarried.D; ++d) EXPECT_EQ(spoiled.y.view()(0, t, d), clean.y.view()(0, t, d)) << form_name(way.form);
  }
}

TYPED_TEST(HybridIsolation, RowsThatHoldNoTokenOrAreOutOfSightMayBeNaN) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  Shape shape = kCarried;
  shape.P = 6;
  for (const Way& way : kWays) {
    Problem<TypeParam> clean(shape, 47), spoiled(shape, 47);
    clean.arguments.form = spoiled.arguments.form = way.form;
    clean.arguments.chunk = spoiled.arguments.chunk = way.chunk;
    for (auto* problem : {&clean, &spoiled}) problem->before.count(0) = 2, problem->before.count(1) = 5;
    each_index<5>(spoiled.before.window_k.view().extents(), [&](const Extents<5>& at) {
      const bool seen = at[1] == 0 ? at[2] < 2 : at[2] >= 2 && at[2] < 5;  // window 4 sees three rows back
      if (!seen) spoiled.before.window_k.view()[at] = nan;
    });
    each_index<5>(spoiled.before.window_v.view().extents(), [&](const Extents<5>& at) {
      const bool seen = at[1] == 0 ? at[2] < 2 : at[2] >= 2 && at[2] < 5;
      if (!seen) spoiled.before.window_v.view()[at] = nan;
    });
    expect_ok(clean.arguments);
    expect_ok(spoiled.arguments);
    EXPECT_TRUE(spoiled.y.same_bits(clean.y) && spoiled.after.same_bits(clean.after)) << form_name(way.form);
  }
}

// Each kind of layer sees its own state and no other.
TYPED_TEST(HybridIsolation, StatesAreKeptApart) {
  const Shape shape{{W, S, A}, 1, 3, 4, 1, 3, 3, 3, -1, 2};
  Problem<TypeParam> plain(shape, 48), delta(shape, 48), linear(shape, 48);
  for (auto* problem : {&plain, &delta, &linear}) {
    problem->before.count(0) = 2;
    if (problem == &delta) problem->before.delta.data()[0] += 1;
    if (problem == &linear) problem->before.linear.data()[0] += 1;
    expect_ok(problem->arguments);
  }
  EXPECT_TRUE(delta.after.window_k.same_bits(plain.after.window_k));  // the layer below has not heard of it
  EXPECT_FALSE(delta.after.delta.same_bits(plain.after.delta));
  EXPECT_FALSE(delta.after.z.same_bits(plain.after.z));               // the layer above has
  EXPECT_TRUE(linear.after.window_k.same_bits(plain.after.window_k) && linear.after.delta.same_bits(plain.after.delta));
  EXPECT_FALSE(linear.y.same_bits(plain.y));
}

// A token out of every window's reach is forgotten by window layers and remembered by the others.
TYPED_TEST(HybridIsolation, AWindowForgetsWhatAStateRemembers) {
  for (const auto& [layers, remembers] : std::vector<std::pair<Layers, bool>>{{{W, W}, false}, {{W, S}, true}, {{A, W}, true}}) {
    const Shape shape{layers, 1, 9, 4, 1, 3, 3, 2};
    Problem<TypeParam> plain(shape, 49, false), changed(shape, 49, false);
    changed.hidden.view()(0, 0, 0) += 1;
    expect_ok(plain.arguments);
    expect_ok(changed.arguments);
    bool same = true;
    for (std::int64_t d = 0; d < 4; ++d) same = same && plain.y.view()(0, 8, d) == changed.y.view()(0, 8, d);
    EXPECT_EQ(same, !remembers);
  }
}

}  // namespace
}  // namespace linearmem
