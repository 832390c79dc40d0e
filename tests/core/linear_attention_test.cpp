// Linear attention: agreement of the forms, invariance, masks by selection, refusals.
#include "linearmem/linear_attention.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "core/support.hpp"
#include "core/ways.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using test::relative_difference;
using test::tokens_of;
using test::tolerance;
using test::Turned;
using test::Way;

struct Shape {
  std::int64_t B, T, H, Hk, K, V;
};

struct Options {
  Feature feature = Feature::elu1;
  bool normalize = true;
  bool causal = true;
  bool masked = false;
  bool with_state = true;
};

template <typename T>
struct Problem {
  Problem(const Shape& s, const Options& options, std::uint64_t seed)
      : q({s.B, s.T, s.H, s.K}), k({s.B, s.T, s.Hk, s.K}), v({s.B, s.T, s.Hk, s.V}), state({s.B, s.H, s.K, s.V}), z({s.B, s.H, s.K}),
        mask({s.B, s.T}, 1), o({s.B, s.T, s.H, s.V}), final_state({s.B, s.H, s.K, s.V}), final_z({s.B, s.H, s.K}) {
    Numbers numbers(seed);
    q.fill(numbers, -1, 1);
    k.fill(numbers, -1, 1);
    v.fill(numbers, -1, 1);
    state.fill(numbers, -1, 1);
    z.fill(numbers, 0, 1);  // a denominator stays away from 0
    arguments = {.q = q.view(), .k = k.view(), .v = v.view(), .feature = options.feature, .normalize = options.normalize,
                 .causal = options.causal, .o = o.view(), .final_state = final_state.view(), .final_z = final_z.view()};
    if (options.with_state) arguments.state = state.view();
    if (options.with_state) arguments.z = z.view();
    if (options.masked) hide(numbers);
  }

  // About a third of the tokens; what they hold is NaN.
  void hide(Numbers& numbers) {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    each_index<2>(mask.extents(), [&](const Extents<2>& at) {
      if (numbers.whole(0, 2) > 0) return;
      mask.view()[at] = 0;
      for (std::int64_t h = 0; h < k.view().extent(2); ++h) {
        for (std::int64_t i = 0; i < k.view().extent(3); ++i) k.view()(at[0], at[1], h, i) = nan;
        for (std::int64_t j = 0; j < v.view().extent(3); ++j) v.view()(at[0], at[1], h, j) = nan;
      }
    });
    arguments.key_mask = mask.view();
  }

  Guarded<T, 4> q, k, v, state;
  Guarded<T, 3> z;
  Tensor<std::uint8_t, 2> mask;
  Guarded<T, 4> o, final_state;
  Guarded<T, 3> final_z;
  LinearAttentionArguments<T> arguments;
};

std::vector<Way> all_ways() { return test::ways({Form::reference, Form::recurrent, Form::explicit_}, {0, 1, 4}); }

template <typename T>
void run(Problem<T>& problem, const Way& way) {
  problem.arguments.form = way.form;
  problem.arguments.chunk = way.chunk;
  const Status status = linear_attention(problem.arguments);
  ASSERT_TRUE(status.ok()) << status.message();
}

// The same inputs in float64, so that a float32 form is held to the exact answer of its own inputs.
template <typename T>
Problem<double> reference_of(const Problem<T>& problem, const Shape& shape, const Options& options) {
  Problem<double> exact(shape, options, 0);
  convert(problem.q.view(), exact.q.view());
  convert(problem.k.view(), exact.k.view());
  convert(problem.v.view(), exact.v.view());
  convert(problem.state.view(), exact.state.view());
  convert(problem.z.view(), exact.z.view());
  exact.mask = problem.mask;
  if (options.masked) exact.arguments.key_mask = exact.mask.view();
  run(exact, {Form::reference});
  return exact;
}

template <typename T>
void expect_agrees(const Problem<T>& problem, const Problem<double>& exact, const std::string& what) {
  EXPECT_LE(relative_difference(problem.o.view(), exact.o.view()), tolerance<T>()) << what;
  EXPECT_LE(relative_difference(problem.final_state.view(), exact.final_state.view()), tolerance<T>()) << what;
  EXPECT_LE(relative_difference(problem.final_z.view(), exact.final_z.view()), tolerance<T>()) << what;
  EXPECT_TRUE(problem.o.guards_intact() && problem.final_state.guards_intact() && problem.final_z.guards_intact()) << what;
}

std::string text(const Shape& s, const Options& options, const Way& way) {
  std::ostringstream out;
  out << way << " " << feature_name(options.feature) << (options.normalize ? " normalized" : "") << (options.causal ? " causal" : "")
      << (options.masked ? " masked" : "") << (options.with_state ? " with state" : "") << " T " << s.T << " K " << s.K << " V " << s.V;
  return out.str();
}

const Shape kShapes[] = {
    {1, 1, 1, 1, 1, 1}, {2, 5, 2, 1, 3, 5},   {1, 65, 4, 2, 8, 17}, {3, 64, 3, 3, 16, 1},  {1, 129, 1, 1, 33, 31},
    {1, 7, 2, 2, 1, 17}, {2, 63, 3, 1, 7, 64}, {1, 3, 2, 1, 64, 65}, {1, 200, 1, 1, 15, 9}, {1, 0, 2, 2, 4, 4},
};

const Options kOptions[] = {
    {},
    {.masked = true},
    {.causal = false},
    {.causal = false, .masked = true, .with_state = false},
    {.with_state = false},
    {.feature = Feature::relu},
    {.feature = Feature::relu, .normalize = false, .causal = false},
    {.feature = Feature::identity, .normalize = false, .masked = true},
    {.normalize = false, .with_state = false},
};

template <typename T>
class LinearAttention : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(LinearAttention, Precisions);

TYPED_TEST(LinearAttention, EveryFormAgreesWithTheReference) {
  for (const Shape& shape : kShapes)
    for (const Options& options : kOptions) {
      const Problem<double> exact = reference_of(Problem<TypeParam>(shape, options, 11), shape, options);
      for (const Way& way : all_ways()) {
        Problem<TypeParam> problem(shape, options, 11);
        run(problem, way);
        expect_agrees(problem, exact, text(shape, options, way));
      }
    }
}

TYPED_TEST(LinearAttention, EveryChunkSizeAgrees) {
  const Shape shape{2, 9, 2, 1, 5, 6};
  for (const Options& options : kOptions)
    for (std::int64_t chunk = 1; chunk <= shape.T + 1; ++chunk) {
      Problem<TypeParam> problem(shape, options, 12);
      run(problem, {Form::chunked, chunk});
      expect_agrees(problem, reference_of(problem, shape, options), text(shape, options, {Form::chunked, chunk}));
    }
}

template <typename T>
LinearAttentionArguments<T> part_of(const Problem<T>& p, std::int64_t begin, std::int64_t end) {
  LinearAttentionArguments<T> part = p.arguments;
  part.q = tokens_of(part.q, begin, end);
  part.k = tokens_of(part.k, begin, end);
  part.v = tokens_of(part.v, begin, end);
  part.key_mask = tokens_of(part.key_mask, begin, end);
  part.o = tokens_of(part.o, begin, end);
  return part;
}

TYPED_TEST(LinearAttention, EverySplitOfTheRecurrentFormGivesTheSameBits) {
  const Shape shape{1, 70, 2, 1, 6, 19};
  Problem<TypeParam> whole(shape, {.masked = true}, 13);
  run(whole, {Form::recurrent});
  for (std::int64_t split = 0; split <= shape.T; ++split) {
    Problem<TypeParam> parts(shape, {.masked = true}, 13);
    Guarded<TypeParam, 4> carried({1, 2, 6, 19});
    Guarded<TypeParam, 3> counted({1, 2, 6});
    auto first = part_of(parts, 0, split), second = part_of(parts, split, shape.T);
    first.final_state = carried.view();
    first.final_z = counted.view();
    second.state = carried.view();
    second.z = counted.view();
    ASSERT_TRUE(linear_attention(first).ok() && linear_attention(second).ok());
    EXPECT_TRUE(parts.o.same_bits(whole.o) && parts.final_state.same_bits(whole.final_state)) << split;
    EXPECT_TRUE(parts.final_z.same_bits(whole.final_z)) << split;
  }
}

TYPED_TEST(LinearAttention, PackedSequencesEqualEachAloneBitForBit) {
  const std::vector<std::int64_t> bounds = {0, 0, 3, 3, 11, 12};
  for (const Options& options : {Options{}, Options{.causal = false, .masked = true}})
    for (const Way& way : all_ways()) {
      Problem<TypeParam> packed({1, 12, 2, 1, 5, 7}, options, 14);
      Problem<TypeParam> states({5, 0, 2, 1, 5, 7}, options, 15);  // one state for each sequence
      packed.arguments.cu_seqlens = {bounds.data(), {6}};
      packed.arguments.state = states.state.view();
      packed.arguments.z = states.z.view();
      packed.arguments.final_state = states.final_state.view();
      packed.arguments.final_z = states.final_z.view();
      run(packed, way);
      for (std::int64_t n = 0; n < 5; ++n) {
        Problem<TypeParam> alone({1, 12, 2, 1, 5, 7}, options, 14);
        std::copy_n(states.state.data() + n * 70, 70, alone.state.data());
        std::copy_n(states.z.data() + n * 10, 10, alone.z.data());
        alone.arguments = part_of(alone, bounds[n], bounds[n + 1]);
        run(alone, way);
        for (std::int64_t i = bounds[n] * 14; i < bounds[n + 1] * 14; ++i) EXPECT_EQ(packed.o.data()[i], alone.o.data()[i]) << way;
        for (std::int64_t i = 0; i < 70; ++i) EXPECT_EQ(states.final_state.data()[n * 70 + i], alone.final_state.data()[i]) << way;
        for (std::int64_t i = 0; i < 10; ++i) EXPECT_EQ(states.final_z.data()[n * 10 + i], alone.final_z.data()[i]) << way;
      }
    }
}

TYPED_TEST(LinearAttention, BatchRowsAndHeadsEqualEachAlone) {
  for (const Way& way : all_ways()) {
    Problem<TypeParam> batch({3, 10, 4, 2, 6, 5}, {}, 16);
    run(batch, way);
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t h = 0; h < 4; ++h) {
        Tensor<TypeParam, 4> o({1, 10, 1, 5});
        auto one = [&](const View<const TypeParam, 4>& x, std::int64_t head) {
          return View<const TypeParam, 4>(&x(b, 0, head, 0), {1, x.extent(1), 1, x.extent(3)}, x.strides());
        };
        const View<const TypeParam, 4> state(&batch.state.view()(b, h, 0, 0), {1, 1, 6, 5});
        const View<const TypeParam, 3> z(&batch.z.view()(b, h, 0), {1, 1, 6});
        ASSERT_TRUE(linear_attention({.q = one(batch.arguments.q, h), .k = one(batch.arguments.k, h / 2),
                                      .v = one(batch.arguments.v, h / 2), .state = state, .z = z, .form = way.form, .chunk = way.chunk,
                                      .o = o.view()}).ok());
        for (std::int64_t t = 0; t < 10; ++t)
          for (std::int64_t j = 0; j < 5; ++j) EXPECT_EQ(o(0, t, 0, j), batch.o.view()(b, t, h, j)) << way;
      }
  }
}

TYPED_TEST(LinearAttention, StridedViewsEqualPackedCopies) {
  for (const Way& way : all_ways()) {
    Problem<TypeParam> packed({2, 9, 2, 1, 4, 6}, {}, 17), strided({2, 9, 2, 1, 4, 6}, {}, 17);
    run(packed, way);
    Turned<TypeParam, 4> q(strided.arguments.q), k(strided.arguments.k), v(strided.arguments.v), state(strided.arguments.state);
    Turned<TypeParam, 3> z(strided.arguments.z), final_z({2, 2, 4});
    Turned<TypeParam, 4> o({2, 9, 2, 6}), final_state({2, 2, 4, 6});
    strided.arguments = {.q = q.view(), .k = k.view(), .v = v.view(), .state = state.view(), .z = z.view(), .o = o.view(),
                         .final_state = final_state.view(), .final_z = final_z.view()};
    run(strided, way);
    EXPECT_EQ(relative_difference(o.view(), packed.o.view()), 0) << way;
    EXPECT_EQ(relative_difference(final_state.view(), packed.final_state.view()), 0) << way;
    EXPECT_EQ(relative_difference(final_z.view(), packed.final_z.view()), 0) << way;
  }
}

TYPED_TEST(LinearAttention, StateMayBeUpdatedInPlace) {
  for (const Way& way : all_ways()) {
    Problem<TypeParam> apart({2, 8, 2, 1, 5, 6}, {}, 18), in_place({2, 8, 2, 1, 5, 6}, {}, 18);
    in_place.arguments.final_state = in_place.state.view();
    in_place.arguments.final_z = in_place.z.view();
    run(apart, way);
    run(in_place, way);
    EXPECT_TRUE(in_place.state.same_bits(apart.final_state) && in_place.z.same_bits(apart.final_z)) << way;
  }
}

TEST(LinearAttentionRefusals, NameTheArgumentTheAxisAndBothNumbers) {
  Tensor<double, 4> narrow({2, 4, 2, 2}), odd({2, 4, 3, 3}), odd_v({2, 4, 3, 5}), per_key_head({2, 2, 3, 5});
  Tensor<std::uint8_t, 2> short_mask({2, 3});
  const std::vector<std::int64_t> late = {1, 4};
  auto message = [&](auto change) {
    Problem<double> p({2, 4, 4, 2, 3, 5}, {}, 19);
    change(p.arguments);
    const Status status = linear_attention(p.arguments);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(std::isnan(p.o.data()[0])) << "outputs are untouched when refused";
    return status.message();
  };
  using A = LinearAttentionArguments<double>;
  EXPECT_EQ(message([&](A& a) { a.k = narrow.view(); }), "linear_attention: K differs: q has 3, k has 2");
  EXPECT_EQ(message([&](A& a) { a.k = odd.view(); }), "linear_attention: Hk differs: k has 3, v has 2");
  EXPECT_EQ(message([&](A& a) { a.k = odd.view(); a.v = odd_v.view(); }), "linear_attention: H is 4, not a multiple of Hk, which is 3");
  EXPECT_EQ(message([&](A& a) { a.state = per_key_head.view(); }), "linear_attention: H differs: q has 4, state has 2");
  EXPECT_EQ(message([&](A& a) { a.key_mask = short_mask.view(); }), "linear_attention: T differs: q has 4, key_mask has 3");
  EXPECT_EQ(message([&](A& a) { a.v = {}; }), "linear_attention: v is missing; it is [B,T,Hk,V]");
  EXPECT_EQ(message([&](A& a) { a.z = {}; }), "linear_attention: state is given without z; a normalized read needs both");
  EXPECT_EQ(message([&](A& a) { a.state = {}; }), "linear_attention: z is given without state; a normalized read needs both");
  EXPECT_EQ(message([&](A& a) { a.eps = -1; }), "linear_attention: eps is -1, must be finite and at least 0");
  EXPECT_EQ(message([&](A& a) { a.eps = std::nan(""); }), "linear_attention: eps is nan, must be finite and at least 0");
  EXPECT_EQ(message([&](A& a) { a.cu_seqlens = {late.data(), {2}}; }),
            "linear_attention: cu_seqlens packs its sequences in one row: B is 2, must be 1");
  EXPECT_EQ(message([&](A& a) { a.form = Form::streaming; }),
            "linear_attention: form streaming is not one of reference, recurrent, chunked, explicit");
  EXPECT_EQ(message([&](A& a) { a.chunk = 8; a.form = Form::explicit_; }),
            "linear_attention: chunk is 8, but form is explicit, not chunked");
  EXPECT_EQ(message([&](A& a) { a.chunk = -1; a.form = Form::chunked; }), "linear_attention: chunk is -1, must be at least 1 token");
}

TEST(LinearAttentionFeatures, HaveNames) {
  for (Feature feature : {Feature::elu1, Feature::relu, Feature::identity}) EXPECT_EQ(feature_named(feature_name(feature)), feature);
  EXPECT_EQ(feature_name(Feature::elu1), "elu1");
  EXPECT_EQ(feature_named("elu"), std::nullopt);
}

}  // namespace
}  // namespace linearmem
