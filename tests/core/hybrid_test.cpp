// The hybrid stack: agreement with a token-by-token oracle, every split, strides, refusals.
#include "core/hybrid_problem.hpp"

namespace linearmem {
namespace {

using namespace test::stacks;
using test::Numbers;
using test::relative_difference;
using test::tolerance;
using test::Turned;

template <typename T>
class Hybrid : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Hybrid, Precisions);

TYPED_TEST(Hybrid, EveryFormAgreesWithTheOracleOnTwoThousandStacks) {
  Numbers numbers(41);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Shape shape{{}, numbers.whole(0, 2), numbers.whole(0, 7), numbers.whole(1, 5), numbers.whole(1, 2), numbers.whole(1, 5), numbers.whole(1, 5)};
    for (std::int64_t l = numbers.whole(1, 3); l > 0; --l) shape.layers.push_back(std::vector{W, S, A}[numbers.whole(0, 2)]);
    if (seed % 3) shape.window = numbers.whole(1, 5);
    shape.P = numbers.whole(0, 5);
    const Way way = kWays[seed % 5];
    Problem<TypeParam> problem(shape, seed, seed % 7 > 0);
    Problem<double> exact(shape, 0, seed % 7 > 0);
    copy_inputs(problem, exact);
    if (seed % 4 == 0) problem.arguments.wg = {}, exact.arguments.wg = {};
    if (seed % 5 == 0) problem.arguments.wbeta = {}, exact.arguments.wbeta = {};
    problem.arguments.form = way.form;
    problem.arguments.chunk = way.chunk;
    exact.arguments.form = Form::reference;
    expect_ok(problem.arguments);
    expect_ok(exact.arguments);
    const Tensor<double, 3> y = oracle_of(exact.arguments, shape.B);
    ASSERT_LE(relative_difference(exact.y.view(), y.view()), 1e-12) << seed;
    ASSERT_LE(relative_difference(problem.y.view(), y.view()), tolerance<TypeParam>()) << seed << " " << form_name(way.form);
    ASSERT_LE(difference(problem.after, exact.after), tolerance<TypeParam>()) << seed << " " << form_name(way.form);
    ASSERT_TRUE(problem.y.guards_intact() && problem.after.guards_intact()) << seed;
  }
}

TYPED_TEST(Hybrid, EverySplitEqualsTheWhole) {
  for (const Way& way : kWays) {
    Problem<TypeParam> whole(kCarried, 42);
    Problem<double> exact(kCarried, 0);
    copy_inputs(whole, exact);
    exact.arguments.form = Form::reference;
    expect_ok(exact.arguments);
    for (std::int64_t split = 0; split <= kCarried.T; ++split) {
      Problem<TypeParam> parts(kCarried, 42);
      parts.arguments.form = way.form;
      parts.arguments.chunk = way.chunk;
      States<TypeParam> carried(kCarried, 3);
      run_tokens(parts, 0, split, parts.before, carried);
      run_tokens(parts, split, kCarried.T, carried, parts.after);
      EXPECT_LE(relative_difference(parts.y.view(), exact.y.view()), tolerance<TypeParam>()) << split << " " << form_name(way.form);
      EXPECT_LE(difference(parts.after, exact.after), tolerance<TypeParam>()) << split << " " << form_name(way.form);
    }
  }
}

TYPED_TEST(Hybrid, TokenByTokenInPlaceEqualsOneCall) {
  for (const Way& way : kWays) {
    Problem<TypeParam> steps(kCarried, 43);
    Problem<double> exact(kCarried, 0);
    copy_inputs(steps, exact);
    exact.arguments.form = Form::reference;
    expect_ok(exact.arguments);
    steps.arguments.form = way.form;
    steps.arguments.chunk = way.chunk;
    for (std::int64_t t = 0; t < kCarried.T; ++t) run_tokens(steps, t, t + 1, steps.before, steps.before);
    EXPECT_LE(relative_difference(steps.y.view(), exact.y.view()), tolerance<TypeParam>()) << form_name(way.form);
    EXPECT_LE(difference(steps.before, exact.after), tolerance<TypeParam>()) << form_name(way.form);
  }
}

TYPED_TEST(Hybrid, NoTokensKeepTheBitsOfEveryState) {
  Problem<TypeParam> problem(kCarried, 44);
  std::fill(problem.before.count.values().begin(), problem.before.count.values().end(), 3);
  run_tokens(problem, 0, 0, problem.before, problem.after);
  EXPECT_TRUE(problem.after.same_bits(problem.before));
}

TYPED_TEST(Hybrid, AKeyWrittenAtFullStrengthIsReadBack) {
  // One delta layer, K = D = 2, identity projections, no gates: reading with the key of the token gives its value, to the norm's 1e-6.
  const TypeParam identity[] = {1, 0, 0, 1}, hidden[] = {1, 0, 0, 1};
  Tensor<TypeParam, 3> y({1, 2, 2});
  const View<const TypeParam, 4> in(identity, {1, 2, 1, 2}), out(identity, {1, 1, 2, 2});
  expect_ok(HybridArguments<TypeParam>{.layers = {S}, .hidden = {hidden, {1, 2, 2}}, .wq = in, .wk = in, .wv = in, .wo = out, .y = y.view()});
  const double read = std::sqrt(0.5) / (1 + 1e-6);
  const double expected[] = {1 + read, 0, 0, 1 + read};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y.values()[i], expected[i], tolerance<TypeParam>());
}

TYPED_TEST(Hybrid, StridedWeightsAndStatesEqualPackedOnes) {
  for (const Way& way : kWays) {
    Problem<TypeParam> packed(kCarried, 50);
    packed.arguments.form = way.form;
    packed.arguments.chunk = way.chunk;
    HybridArguments<TypeParam> a = packed.arguments;
    Turned<TypeParam, 3> hidden(a.hidden), wbeta(a.wbeta), wg(a.wg), y(packed.y.view().extents());
    Turned<TypeParam, 4> wq(a.wq), wk(a.wk), wv(a.wv), wo(a.wo), z(a.linear_z), last_z(a.final_linear_z.extents());
    Turned<TypeParam, 5> window_k(a.window_k), window_v(a.window_v), delta(a.delta_state), linear(a.linear_state),
        last_k(a.final_window_k.extents()), last_delta(a.final_delta_state.extents());
    a.hidden = hidden.view(), a.wq = wq.view(), a.wk = wk.view(), a.wv = wv.view(), a.wo = wo.view(), a.wbeta = wbeta.view(), a.wg = wg.view();
    a.window_k = window_k.view(), a.window_v = window_v.view(), a.delta_state = delta.view(), a.linear_state = linear.view(), a.linear_z = z.view();
    a.y = y.view(), a.final_linear_z = last_z.view(), a.final_window_k = last_k.view(), a.final_delta_state = last_delta.view();
    a.final_window_count = {}, a.final_window_v = {}, a.final_linear_state = {};
    expect_ok(packed.arguments);
    expect_ok(a);
    const auto expect_same = [&](const auto& got, const auto& expected) {
      each_index<std::tuple_size_v<std::decay_t<decltype(expected.extents())>>>(expected.extents(), [&](const auto& at) { EXPECT_EQ(got[at], expected[at]); });
    };
    expect_same(y.view(), packed.y.view());
    expect_same(last_z.view(), packed.after.z.view());
    expect_same(last_k.view(), packed.after.window_k.view());
    expect_same(last_delta.view(), packed.after.delta.view());
  }
}

TEST(HybridRefusals, NameTheArgumentTheAxisAndBothNumbers) {
  auto message = [&](auto change) {
    Problem<double> problem(kCarried, 51);
    change(problem);
    const Status status = hybrid(problem.arguments);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(std::isnan(problem.y.data()[0])) << "outputs are untouched when refused";
    return status.message();
  };
  using P = Problem<double>;
  Tensor<double, 4> deep({6, 5, 2, 4}), narrow({5, 5, 2, 3});
  Tensor<double, 5> few({2, 2, 2, 2, 4});
  const std::vector<std::int64_t> packed = {0, 11};
  EXPECT_EQ(message([&](P& p) { p.arguments.layers = {}; }), "hybrid: layers is empty; a stack has at least one");
  EXPECT_EQ(message([&](P& p) { p.arguments.wq = deep.view(); }), "hybrid: L differs: layers has 5, wq has 6");
  EXPECT_EQ(message([&](P& p) { p.arguments.wk = narrow.view(); }), "hybrid: K differs: wq has 4, wk has 3");
  EXPECT_EQ(message([&](P& p) { p.arguments.layers = {W, W, W, S, A}; }), "hybrid: Ld differs: layers has 1, wbeta has 2");
  EXPECT_EQ(message([&](P& p) { p.arguments.wo = {}; }), "hybrid: wo is missing; it is [L,H,V,D]");
  EXPECT_EQ(message([&](P& p) { p.arguments.window = 0; }), "hybrid: window is 0, must be at least 1, the query's own token");
  EXPECT_EQ(message([&](P& p) { p.before.count(1) = 4; }), "hybrid: window_count is 4 at sequence 1; window_k has 3 rows");
  EXPECT_EQ(message([&](P& p) { p.before.count(0) = -1; }), "hybrid: window_count is -1 at sequence 0; window_k has 3 rows");
  EXPECT_EQ(message([&](P& p) { p.arguments.window_v = {}; }),
            "hybrid: window_k, window_v and window_count come together; at least one of them is missing");
  EXPECT_EQ(message([&](P& p) { p.arguments.linear_z = {}; }), "hybrid: linear_state and linear_z come together; one of them is missing");
  EXPECT_EQ(message([&](P& p) { p.arguments.final_window_k = few.view(); }), "hybrid: Q differs: the window state has 3, final_window_k has 2");
  EXPECT_EQ(message([&](P& p) { p.arguments.cu_seqlens = {packed.data(), {2}}; }),
            "hybrid: cu_seqlens packs its sequences in one row: B is 2, must be 1");
  EXPECT_EQ(message([&](P& p) { p.arguments.form = Form::streaming; }), "hybrid: form streaming is not one of reference, recurrent, chunked, explicit");
  EXPECT_EQ(message([&](P& p) { p.arguments.chunk = 4; }), "hybrid: chunk is 4, but form is automatic, not chunked");
}

TEST(HybridNames, AreReadBack) {
  for (HybridLayer layer : {W, S, A}) EXPECT_EQ(hybrid_layer_named(hybrid_layer_name(layer)), layer);
  EXPECT_FALSE(hybrid_layer_named("gru").has_value());
}

TEST(HybridNames, AWindowKeepsOneRowLessThanItSees) {
  EXPECT_EQ(hybrid_window_rows(2, 5, std::nullopt), 7);
  EXPECT_EQ(hybrid_window_rows(2, 5, 4), 3);
  EXPECT_EQ(hybrid_window_rows(0, 2, 4), 2);
  EXPECT_EQ(hybrid_window_rows(9, 5, 1), 0);
}

}  // namespace
}  // namespace linearmem
