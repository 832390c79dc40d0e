// Softmax attention: agreement of the forms, invariance, masks by selection, refusals.
#include "linearmem/softmax_attention.hpp"

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

struct Shape {
  std::int64_t B, T, H, Hk, K, V;
};

struct Options {
  bool causal = true;
  std::optional<std::int64_t> window = {};
  bool masked = false;
  std::optional<double> scale = {};
};

template <typename T>
struct Problem {
  Problem(const Shape& s, const Options& options, std::uint64_t seed)
      : q({s.B, s.T, s.H, s.K}), k({s.B, s.T, s.Hk, s.K}), v({s.B, s.T, s.Hk, s.V}), mask({s.B, s.T}, 1), o({s.B, s.T, s.H, s.V}) {
    Numbers numbers(seed);
    q.fill(numbers, -1, 1);
    k.fill(numbers, -1, 1);
    v.fill(numbers, -1, 1);
    arguments = {.q = q.view(), .k = k.view(), .v = v.view(), .causal = options.causal, .window = options.window, .scale = options.scale,
                 .o = o.view()};
    if (options.masked) hide(numbers);
  }

  // About a third of the keys, and every one of a long run; what they hold is NaN.
  void hide(Numbers& numbers) {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    each_index<2>(mask.extents(), [&](const Extents<2>& at) {
      if (numbers.whole(0, 2) > 0 && (at[1] < 20 || at[1] > 90)) return;
      mask.view()[at] = 0;
      for (std::int64_t h = 0; h < k.view().extent(2); ++h) {
        for (std::int64_t i = 0; i < k.view().extent(3); ++i) k.view()(at[0], at[1], h, i) = nan;
        for (std::int64_t j = 0; j < v.view().extent(3); ++j) v.view()(at[0], at[1], h, j) = nan;
      }
    });
    arguments.key_mask = mask.view();
  }

  Guarded<T, 4> q, k, v;
  Tensor<std::uint8_t, 2> mask;
  Guarded<T, 4> o;
  SoftmaxAttentionArguments<T> arguments;
};

const Form kForms[] = {Form::automatic, Form::reference, Form::explicit_, Form::streaming};

template <typename T>
void run(Problem<T>& problem, Form form) {
  problem.arguments.form = form;
  const Status status = softmax_attention(problem.arguments);
  ASSERT_TRUE(status.ok()) << status.message();
}

// The same inputs in float64, so that a float32 form is held to the exact answer of its own inputs.
template <typename T>
Problem<double> reference_of(const Problem<T>& problem, const Shape& shape, const Options& options) {
  Problem<double> exact(shape, options, 0);
  convert(problem.q.view(), exact.q.view());
  convert(problem.k.view(), exact.k.view());
  convert(problem.v.view(), exact.v.view());
  exact.mask = problem.mask;
  if (options.masked) exact.arguments.key_mask = exact.mask.view();
  run(exact, Form::reference);
  return exact;
}

std::string text(const Shape& s, const Options& options, Form form) {
  std::ostringstream out;
  out << form_name(form) << (options.causal ? " causal" : "") << " window " << options.window.value_or(0)
      << (options.masked ? " masked" : "") << " T " << s.T << " K " << s.K << " V " << s.V;
  return out.str();
}

const Shape kShapes[] = {
    {1, 1, 1, 1, 1, 1},   {2, 5, 2, 1, 3, 5},   {1, 65, 4, 2, 8, 17},  {3, 64, 3, 3, 16, 1},   {1, 129, 1, 1, 33, 31},
    {1, 7, 2, 2, 1, 17},  {2, 63, 3, 1, 7, 64}, {1, 3, 2, 1, 64, 65},  {1, 200, 1, 1, 15, 9},  {1, 0, 2, 2, 4, 4},
    {1, 130, 2, 1, 5, 33},
};

const Options kOptions[] = {
    {},
    {.causal = false},
    {.masked = true},
    {.causal = false, .masked = true},
    {.window = 1},
    {.window = 2, .masked = true},
    {.window = 66},
    {.window = 1000},
    {.window = std::numeric_limits<std::int64_t>::max()},
    {.scale = 4},
    {.scale = -1},
    {.causal = false, .scale = 0},
};

template <typename T>
class SoftmaxAttention : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(SoftmaxAttention, Precisions);

TYPED_TEST(SoftmaxAttention, EveryFormAgreesWithTheReference) {
  for (const Shape& shape : kShapes)
    for (const Options& options : kOptions) {
      const Problem<double> exact = reference_of(Problem<TypeParam>(shape, options, 21), shape, options);
      for (Form form : kForms) {
        Problem<TypeParam> problem(shape, options, 21);
        run(problem, form);
        EXPECT_LE(relative_difference(problem.o.view(), exact.o.view()), tolerance<TypeParam>()) << text(shape, options, form);
        EXPECT_TRUE(problem.o.guards_intact()) << text(shape, options, form);
      }
    }
}

template <typename T>
SoftmaxAttentionArguments<T> part_of(const Problem<T>& p, std::int64_t begin, std::int64_t end) {
  SoftmaxAttentionArguments<T> part = p.arguments;
  part.q = tokens_of(part.q, begin, end);
  part.k = tokens_of(part.k, begin, end);
  part.v = tokens_of(part.v, begin, end);
  part.key_mask = tokens_of(part.key_mask, begin, end);
  part.o = tokens_of(part.o, begin, end);
  return part;
}

TYPED_TEST(SoftmaxAttention, PackedSequencesEqualEachAloneBitForBit) {
  const std::vector<std::int64_t> bounds = {0, 0, 3, 3, 81, 150};
  const Shape shape{1, 150, 2, 1, 5, 7};
  for (const Options& options : {Options{}, Options{.causal = false, .masked = true}, Options{.window = 9}})
    for (Form form : kForms) {
      Problem<TypeParam> packed(shape, options, 22), alone(shape, options, 22);
      packed.arguments.cu_seqlens = {bounds.data(), {6}};
      run(packed, form);
      for (std::size_t n = 0; n < 5; ++n) {
        auto part = part_of(alone, bounds[n], bounds[n + 1]);
        part.form = form;
        ASSERT_TRUE(softmax_attention(part).ok());
      }
      EXPECT_TRUE(packed.o.same_bits(alone.o)) << text(shape, options, form);
    }
}

// Where nothing later is seen, the first tokens give the same bits whatever follows.
TYPED_TEST(SoftmaxAttention, EveryPrefixGivesTheSameBits) {
  const Shape shape{1, 70, 1, 1, 6, 19};
  for (Form form : kForms) {
    Problem<TypeParam> whole(shape, {}, 23);
    run(whole, form);
    for (std::int64_t end = 0; end <= shape.T; ++end) {
      Problem<TypeParam> prefix(shape, {}, 23);
      for (std::int64_t i = end * 6; i < shape.T * 6; ++i) prefix.k.data()[i] = std::numeric_limits<TypeParam>::quiet_NaN();
      for (std::int64_t i = end * 19; i < shape.T * 19; ++i) prefix.v.data()[i] = std::numeric_limits<TypeParam>::infinity();
      run(prefix, form);
      EXPECT_EQ(std::memcmp(prefix.o.data(), whole.o.data(), static_cast<std::size_t>(end * 19) * sizeof(TypeParam)), 0)
          << form_name(form) << " " << end;
    }
  }
}

TYPED_TEST(SoftmaxAttention, WhatLeftTheWindowReachesNoLaterOutput) {
  const Shape shape{1, 200, 1, 1, 3, 5};
  for (Form form : kForms) {
    Problem<TypeParam> clean(shape, {.window = 40}, 27), poisoned(shape, {.window = 40}, 27);
    poisoned.k.data()[10 * 3] = poisoned.v.data()[10 * 5] = std::numeric_limits<TypeParam>::quiet_NaN();
    run(clean, form);
    run(poisoned, form);
    EXPECT_TRUE(std::isnan(poisoned.o.data()[49 * 5])) << form_name(form);
    for (std::int64_t i = 50 * 5; i < 200 * 5; ++i) EXPECT_EQ(poisoned.o.data()[i], clean.o.data()[i]) << form_name(form) << " " << i;
  }
}

TYPED_TEST(SoftmaxAttention, BatchRowsAndHeadsEqualEachAlone) {
  for (Form form : kForms) {
    Problem<TypeParam> batch({3, 10, 4, 2, 6, 5}, {}, 24);
    run(batch, form);
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t h = 0; h < 4; ++h) {
        Tensor<TypeParam, 4> o({1, 10, 1, 5});
        auto one = [&](const View<const TypeParam, 4>& x, std::int64_t head) {
          return View<const TypeParam, 4>(&x(b, 0, head, 0), {1, x.extent(1), 1, x.extent(3)}, x.strides());
        };
        ASSERT_TRUE(softmax_attention({.q = one(batch.arguments.q, h), .k = one(batch.arguments.k, h / 2),
                                       .v = one(batch.arguments.v, h / 2), .form = form, .o = o.view()}).ok());
        for (std::int64_t t = 0; t < 10; ++t)
          for (std::int64_t j = 0; j < 5; ++j) EXPECT_EQ(o(0, t, 0, j), batch.o.view()(b, t, h, j)) << form_name(form);
      }
  }
}

TYPED_TEST(SoftmaxAttention, StridedViewsEqualPackedCopies) {
  for (Form form : kForms) {
    Problem<TypeParam> packed({2, 9, 2, 1, 4, 6}, {.masked = true}, 25), strided({2, 9, 2, 1, 4, 6}, {.masked = true}, 25);
    run(packed, form);
    Turned<TypeParam, 4> q(strided.arguments.q), k(strided.arguments.k), v(strided.arguments.v), o({2, 9, 2, 6});
    Turned<std::uint8_t, 2> mask(strided.arguments.key_mask);
    strided.arguments = {.q = q.view(), .k = k.view(), .v = v.view(), .key_mask = mask.view(), .o = o.view()};
    run(strided, form);
    EXPECT_EQ(relative_difference(o.view(), packed.o.view()), 0) << form_name(form);
  }
}

TEST(SoftmaxAttentionRefusals, NameTheArgumentTheAxisAndBothNumbers) {
  Tensor<double, 4> narrow({2, 4, 2, 2}), odd({2, 4, 3, 3}), odd_v({2, 4, 3, 5}), none({2, 4, 4, 0}), no_key({2, 4, 2, 0});
  Tensor<std::uint8_t, 2> short_mask({2, 3});
  const std::vector<std::int64_t> late = {1, 4};
  auto message = [&](auto change) {
    Problem<double> p({2, 4, 4, 2, 3, 5}, {}, 26);
    change(p.arguments);
    const Status status = softmax_attention(p.arguments);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(std::isnan(p.o.data()[0])) << "outputs are untouched when refused";
    return status.message();
  };
  using A = SoftmaxAttentionArguments<double>;
  EXPECT_EQ(message([&](A& a) { a.k = narrow.view(); }), "softmax_attention: K differs: q has 3, k has 2");
  EXPECT_EQ(message([&](A& a) { a.k = odd.view(); }), "softmax_attention: Hk differs: k has 3, v has 2");
  EXPECT_EQ(message([&](A& a) { a.k = odd.view(); a.v = odd_v.view(); }), "softmax_attention: H is 4, not a multiple of Hk, which is 3");
  EXPECT_EQ(message([&](A& a) { a.q = none.view(); a.k = no_key.view(); }),
            "softmax_attention: K is 0; a key needs at least one component");
  EXPECT_EQ(message([&](A& a) { a.key_mask = short_mask.view(); }), "softmax_attention: T differs: q has 4, key_mask has 3");
  EXPECT_EQ(message([&](A& a) { a.q = {}; }), "softmax_attention: q is missing; it is [B,T,H,K]");
  EXPECT_EQ(message([&](A& a) { a.window = 0; }), "softmax_attention: window is 0, must be at least 1, the query's own token");
  EXPECT_EQ(message([&](A& a) { a.window = 2; a.causal = false; }),
            "softmax_attention: window is 2, but causal is false; a window looks back from the query's own token");
  EXPECT_EQ(message([&](A& a) { a.cu_seqlens = {late.data(), {2}}; }),
            "softmax_attention: cu_seqlens packs its sequences in one row: B is 2, must be 1");
  EXPECT_EQ(message([&](A& a) { a.form = Form::recurrent; }),
            "softmax_attention: form recurrent is not one of reference, explicit, streaming");
}

}  // namespace
}  // namespace linearmem
