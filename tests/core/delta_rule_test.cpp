// The delta rule and the gated delta rule: agreement of the forms, invariance, meaning, refusals.
#include "linearmem/delta_rule.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "core/support.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using test::relative_difference;
using test::tolerance;

struct Shape {
  std::int64_t B, T, H, Hv, K, V;
};

template <typename T>
struct Problem {
  Problem(const Shape& s, std::uint64_t seed, bool gated, bool with_state)
      : q({s.B, s.T, s.H, s.K}), k({s.B, s.T, s.H, s.K}), v({s.B, s.T, s.Hv, s.V}), beta({s.B, s.T, s.Hv}), g({s.B, s.T, s.Hv}),
        state({s.B, s.Hv, s.K, s.V}), o({s.B, s.T, s.Hv, s.V}), reads({s.B, s.T, s.Hv, s.V}), final_state({s.B, s.Hv, s.K, s.V}) {
    Numbers numbers(seed);
    q.fill(numbers, -1, 1);
    k.fill(numbers, -1, 1);
    v.fill(numbers, -1, 1);
    beta.fill(numbers, 0, 1);
    g.fill(numbers, -2, 0);
    state.fill(numbers, -1, 1);
    arguments = {.q = q.view(), .k = k.view(), .v = v.view(), .beta = beta.view(), .l2norm = true, .o = o.view(), .reads = reads.view(),
                 .final_state = final_state.view()};
    if (gated) arguments.g = g.view();
    if (with_state) arguments.state = state.view();
  }

  Guarded<T, 4> q, k, v;
  Guarded<T, 3> beta, g;
  Guarded<T, 4> state, o, reads, final_state;
  DeltaRuleArguments<T> arguments;
};

// The same inputs in float64, so that a float32 form is held to the exact answer of its own inputs.
template <typename T>
Problem<double> reference_of(const Problem<T>& problem, const Shape& shape, bool gated, bool with_state) {
  Problem<double> exact(shape, 0, gated, with_state);
  convert(problem.q.view(), exact.q.view());
  convert(problem.k.view(), exact.k.view());
  convert(problem.v.view(), exact.v.view());
  convert(problem.beta.view(), exact.beta.view());
  convert(problem.g.view(), exact.g.view());
  convert(problem.state.view(), exact.state.view());
  exact.arguments.form = Form::reference;
  const Status status = delta_rule(exact.arguments);
  EXPECT_TRUE(status.ok()) << status.message();
  return exact;
}

const Shape kShapes[] = {
    {1, 1, 1, 1, 1, 1}, {2, 5, 1, 1, 3, 5},   {1, 65, 2, 4, 8, 17}, {3, 64, 1, 3, 16, 1},  {1, 129, 1, 1, 33, 31},
    {1, 7, 2, 2, 1, 17}, {2, 63, 3, 3, 7, 64}, {1, 3, 1, 2, 64, 65}, {1, 200, 1, 1, 15, 9}, {1, 0, 2, 2, 4, 4},
};

template <typename T>
class DeltaRule : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(DeltaRule, Precisions);

template <typename T>
void expect_agrees(Problem<T>& problem, const Problem<double>& exact, const std::string& what) {
  const Status status = delta_rule(problem.arguments);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_LE(relative_difference(problem.o.view(), exact.o.view()), tolerance<T>()) << what;
  EXPECT_LE(relative_difference(problem.reads.view(), exact.reads.view()), tolerance<T>()) << what;
  EXPECT_LE(relative_difference(problem.final_state.view(), exact.final_state.view()), tolerance<T>()) << what;
  EXPECT_TRUE(problem.o.guards_intact() && problem.reads.guards_intact() && problem.final_state.guards_intact()) << what;
}

TYPED_TEST(DeltaRule, EveryFormAgreesWithTheReference) {
  for (const Shape& shape : kShapes)
    for (bool gated : {false, true})
      for (bool with_state : {false, true})
        for (Form form : {Form::automatic, Form::reference, Form::recurrent, Form::chunked, Form::explicit_}) {
          Problem<TypeParam> problem(shape, 11, gated, with_state);
          const Problem<double> exact = reference_of(problem, shape, gated, with_state);
          problem.arguments.form = form;
          expect_agrees(problem, exact, std::string(form_name(form)) + " T " + std::to_string(shape.T) + " K " + std::to_string(shape.K) + " V " + std::to_string(shape.V));
        }
}

TYPED_TEST(DeltaRule, EveryChunkSizeAgrees) {
  const Shape shape{2, 9, 1, 2, 5, 6};
  for (std::int64_t chunk = 1; chunk <= shape.T + 1; ++chunk) {
    Problem<TypeParam> problem(shape, 12, true, true);
    const Problem<double> exact = reference_of(problem, shape, true, true);
    problem.arguments.form = Form::chunked;
    problem.arguments.chunk = chunk;
    expect_agrees(problem, exact, "chunk " + std::to_string(chunk));
  }
}

template <typename T>
View<T, 4> tokens_of(const View<T, 4>& view, std::int64_t begin, std::int64_t end) {
  return {view.data() + begin * view.stride(1), {view.extent(0), end - begin, view.extent(2), view.extent(3)}, view.strides()};
}
template <typename T>
View<T, 3> tokens_of(const View<T, 3>& view, std::int64_t begin, std::int64_t end) {
  return {view.data() + begin * view.stride(1), {view.extent(0), end - begin, view.extent(2)}, view.strides()};
}

template <typename T>
void run_tokens(Problem<T>& p, std::int64_t begin, std::int64_t end, const View<const T, 4>& before, const View<T, 4>& after) {
  DeltaRuleArguments<T> part = p.arguments;
  part.q = tokens_of(part.q, begin, end);
  part.k = tokens_of(part.k, begin, end);
  part.v = tokens_of(part.v, begin, end);
  part.beta = tokens_of(part.beta, begin, end);
  if (part.g.given()) part.g = tokens_of(part.g, begin, end);
  part.o = tokens_of(part.o, begin, end);
  part.reads = tokens_of(part.reads, begin, end);
  part.state = before;
  part.final_state = after;
  ASSERT_TRUE(delta_rule(part).ok());
}

// Without gates to the bit; with them a cut is where the state is rounded, and so where decays are no longer kept outside it.
TYPED_TEST(DeltaRule, EverySplitOfTheRecurrentFormEqualsTheWhole) {
  const Shape shape{1, 70, 1, 2, 6, 19};
  for (bool gated : {false, true}) {
    Problem<TypeParam> whole(shape, 13, gated, true);
    ASSERT_TRUE(delta_rule(whole.arguments).ok());
    for (std::int64_t split = 0; split <= shape.T; ++split) {
      Problem<TypeParam> parts(shape, 13, gated, true);
      Guarded<TypeParam, 4> carried({1, 2, 6, 19});
      run_tokens<TypeParam>(parts, 0, split, parts.state.view(), carried.view());
      run_tokens<TypeParam>(parts, split, shape.T, carried.view(), parts.final_state.view());
      if (!gated || split == 0 || split == shape.T) {
        EXPECT_TRUE(parts.o.same_bits(whole.o) && parts.reads.same_bits(whole.reads) && parts.final_state.same_bits(whole.final_state)) << split;
      }
      EXPECT_LE(relative_difference(parts.o.view(), whole.o.view()), tolerance<TypeParam>()) << split;
      EXPECT_LE(relative_difference(parts.reads.view(), whole.reads.view()), tolerance<TypeParam>()) << split;
      EXPECT_LE(relative_difference(parts.final_state.view(), whole.final_state.view()), tolerance<TypeParam>()) << split;
    }
  }
}

TYPED_TEST(DeltaRule, PackedSequencesEqualEachAloneBitForBit) {
  const Shape shape{1, 12, 1, 2, 5, 7};
  const std::vector<std::int64_t> bounds = {0, 0, 3, 3, 11, 12};
  for (Form form : {Form::recurrent, Form::chunked, Form::explicit_}) {
    Problem<TypeParam> packed(shape, 14, true, false);
    Guarded<TypeParam, 4> before({5, 2, 5, 7}), after({5, 2, 5, 7});
    Numbers numbers(15);
    before.fill(numbers, -1, 1);
    packed.arguments.form = form;
    packed.arguments.cu_seqlens = {bounds.data(), {6}};
    packed.arguments.state = before.view();
    packed.arguments.final_state = after.view();
    ASSERT_TRUE(delta_rule(packed.arguments).ok());
    for (std::int64_t n = 0; n < 5; ++n) {
      Problem<TypeParam> alone(shape, 14, true, false);
      alone.arguments.form = form;
      Tensor<TypeParam, 4> state({1, 2, 5, 7}), last({1, 2, 5, 7});
      std::copy_n(before.data() + n * 70, 70, state.data());
      run_tokens<TypeParam>(alone, bounds[n], bounds[n + 1], state.view(), last.view());
      for (std::int64_t i = bounds[n] * 14; i < bounds[n + 1] * 14; ++i) EXPECT_EQ(packed.o.data()[i], alone.o.data()[i]) << n;
      for (std::int64_t i = 0; i < 70; ++i) EXPECT_EQ(after.data()[n * 70 + i], last.data()[i]) << n;
    }
  }
}

TYPED_TEST(DeltaRule, BatchRowsAndHeadsEqualEachAlone) {
  const Shape shape{3, 10, 2, 4, 6, 5};
  Problem<TypeParam> batch(shape, 16, true, true);
  ASSERT_TRUE(delta_rule(batch.arguments).ok());
  for (std::int64_t b = 0; b < 3; ++b)
    for (std::int64_t h = 0; h < 4; ++h) {
      Tensor<TypeParam, 4> o({1, 10, 1, 5});
      auto one = [&](const View<const TypeParam, 4>& x, std::int64_t head) {
        return View<const TypeParam, 4>(&x(b, 0, head, 0), {1, x.extent(1), 1, x.extent(3)}, x.strides());
      };
      auto scalar = [&](const View<const TypeParam, 3>& x) { return View<const TypeParam, 3>(&x(b, 0, h), {1, 10, 1}, x.strides()); };
      const View<const TypeParam, 4> state(&batch.state.view()(b, h, 0, 0), {1, 1, 6, 5});
      ASSERT_TRUE(delta_rule({.q = one(batch.arguments.q, h / 2), .k = one(batch.arguments.k, h / 2), .v = one(batch.arguments.v, h),
                              .beta = scalar(batch.arguments.beta), .g = scalar(batch.arguments.g), .state = state, .l2norm = true,
                              .o = o.view()}).ok());
      for (std::int64_t t = 0; t < 10; ++t)
        for (std::int64_t j = 0; j < 5; ++j) EXPECT_EQ(o(0, t, 0, j), batch.o.view()(b, t, h, j));
    }
}

TYPED_TEST(DeltaRule, StridedViewsEqualPackedCopies) {
  const Shape shape{1, 9, 1, 1, 4, 6};
  for (Form form : {Form::reference, Form::recurrent, Form::chunked, Form::explicit_}) {
    Problem<TypeParam> packed(shape, 17, true, true);
    packed.arguments.form = form;
    ASSERT_TRUE(delta_rule(packed.arguments).ok());
    Problem<TypeParam> strided(shape, 17, true, true);
    strided.arguments.form = form;
    Tensor<TypeParam, 4> turned({1, 6, 1, 9}), turned_o({1, 6, 1, 18});  // v, o transposed; o on every second column
    const View<TypeParam, 4> v(turned.data(), {1, 9, 1, 6}, {54, 1, 9, 9}), o(turned_o.data(), {1, 9, 1, 6}, {108, 2, 18, 18});
    convert(strided.arguments.v, v);
    strided.arguments.v = v;
    strided.arguments.o = o;
    ASSERT_TRUE(delta_rule(strided.arguments).ok());
    for (std::int64_t t = 0; t < 9; ++t)
      for (std::int64_t j = 0; j < 6; ++j) EXPECT_EQ(o(0, t, 0, j), packed.o.view()(0, t, 0, j)) << form_name(form);
  }
}

TYPED_TEST(DeltaRule, AFullStrengthWriteIsReadBackAndAnOrthogonalKeyDoesNotMove) {
  const TypeParam keys[] = {1, 0, 0, 1, 1, 0}, values[] = {5, 6, 7, 8, -1, -2}, strengths[] = {1, 1, 1};
  Tensor<TypeParam, 4> o({1, 3, 1, 2}), state({1, 1, 2, 2});
  const View<const TypeParam, 4> k(keys, {1, 3, 1, 2}), v(values, {1, 3, 1, 2});
  for (Form form : {Form::reference, Form::recurrent, Form::chunked, Form::explicit_}) {
    ASSERT_TRUE(delta_rule({.q = k, .k = k, .v = v, .beta = {strengths, {1, 3, 1}}, .scale = 1.0, .form = form, .o = o.view(), .final_state = state.view()}).ok());
    EXPECT_EQ(o.values(), (std::vector<TypeParam>(values, values + 6)));
    EXPECT_EQ(state.values(), (std::vector<TypeParam>{-1, -2, 7, 8}));
  }
}

TYPED_TEST(DeltaRule, StateMayBeUpdatedInPlace) {
  const Shape shape{2, 8, 1, 2, 5, 6};
  for (Form form : {Form::reference, Form::recurrent, Form::chunked, Form::explicit_}) {
    Problem<TypeParam> apart(shape, 18, true, true), in_place(shape, 18, true, true);
    apart.arguments.form = in_place.arguments.form = form;
    in_place.arguments.final_state = in_place.state.view();
    ASSERT_TRUE(delta_rule(apart.arguments).ok() && delta_rule(in_place.arguments).ok());
    EXPECT_TRUE(in_place.state.same_bits(apart.final_state)) << form_name(form);
  }
}

TEST(DeltaRuleRefusals, NameTheArgumentTheAxisAndBothNumbers) {
  const Shape shape{2, 4, 2, 4, 3, 5};
  Tensor<double, 4> narrow({2, 4, 2, 2}), odd({2, 4, 3, 5});
  Tensor<double, 3> beta({2, 4, 3});
  const std::vector<std::int64_t> falling = {0, 3, 2, 4}, late = {1, 4}, shortened = {0, 3};
  auto message = [&](auto change) {
    Problem<double> p(shape, 19, true, true);
    change(p.arguments);
    const Status status = delta_rule(p.arguments);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(std::isnan(p.o.data()[0])) << "outputs are untouched when refused";
    return status.message();
  };
  using A = DeltaRuleArguments<double>;
  EXPECT_EQ(message([&](A& a) { a.k = narrow.view(); }), "gated_delta_rule: K differs: q has 3, k has 2");
  EXPECT_EQ(message([&](A& a) { a.v = odd.view(); a.beta = beta.view(); a.g = beta.view(); }),
            "gated_delta_rule: Hv is 3, not a multiple of H, which is 2");
  EXPECT_EQ(message([&](A& a) { a.beta = {}; }), "gated_delta_rule: beta is missing; it is [B,T,Hv]");
  EXPECT_EQ(message([&](A& a) { a.cu_seqlens = {falling.data(), {4}}; }), "gated_delta_rule: cu_seqlens packs its sequences in one row: B is 2, must be 1");
  EXPECT_EQ(message([&](A& a) { a.form = Form::streaming; }),
            "gated_delta_rule: form streaming is not one of reference, recurrent, chunked, explicit");
  EXPECT_EQ(message([&](A& a) { a.chunk = 8; a.form = Form::recurrent; }), "gated_delta_rule: chunk is 8, but form is recurrent, not chunked");
  EXPECT_EQ(message([&](A& a) { a.chunk = -1; a.form = Form::chunked; }), "gated_delta_rule: chunk is -1, must be at least 1 token");
  Tensor<double, 3> growing({2, 4, 4});
  growing(1, 2, 3) = 0.25;
  EXPECT_EQ(message([&](A& a) { a.g = growing.view(); }),
            "gated_delta_rule: g is 0.25 at batch 1, token 2, head 3; a log decay is at most 0, unless allow_growth is set");
}

TEST(DeltaRuleRefusals, PackedOffsetsRiseFromZeroToT) {
  const Shape shape{1, 4, 1, 1, 2, 2};
  auto message = [&](std::vector<std::int64_t> offsets) {
    Problem<double> p(shape, 20, false, false);
    p.arguments.final_state = {};
    p.arguments.cu_seqlens = {offsets.data(), {static_cast<std::int64_t>(offsets.size())}};
    return delta_rule(p.arguments).message();
  };
  EXPECT_EQ(message({0, 3, 2, 4}), "delta_rule: cu_seqlens falls at entry 2: 3 then 2");
  EXPECT_EQ(message({1, 4}), "delta_rule: cu_seqlens[0] is 1, must be 0");
  EXPECT_EQ(message({0, 3}), "delta_rule: cu_seqlens ends at 3, T is 4");
  EXPECT_EQ(message({}), "delta_rule: cu_seqlens is empty; it has N+1 entries, at least the 0 it starts with");
}

}  // namespace
}  // namespace linearmem
