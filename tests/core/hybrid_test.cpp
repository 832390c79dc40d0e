// The hybrid stack: agreement with a token-by-token oracle, every split, packing, states kept apart, refusals.
#include "linearmem/hybrid.hpp"

#include <gtest/gtest.h>

#include "core/hybrid_oracle.hpp"
#include "core/support.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::HybridOracle;
using test::Numbers;
using test::relative_difference;
using test::tolerance;
using test::tokens_of;
using test::Turned;
using Layers = std::vector<HybridLayer>;

constexpr auto W = HybridLayer::window;
constexpr auto S = HybridLayer::delta;
constexpr auto A = HybridLayer::linear;

struct Shape {
  Layers layers;
  std::int64_t B, T, D, H, K, V;
  std::optional<std::int64_t> window = {};
  std::int64_t N = -1;  // sequences; below 0: B
  std::int64_t P = 0;   // rows of the window state before

  std::int64_t sequences() const { return N < 0 ? B : N; }
  std::int64_t of(HybridLayer kind) const { return std::count(layers.begin(), layers.end(), kind); }
};

// The states of a stack with room for `rows` rows in the windows.
template <typename T>
struct States {
  States(const Shape& s, std::int64_t rows)
      : window_k({s.of(W), s.sequences(), rows, s.H, s.K}), window_v({s.of(W), s.sequences(), rows, s.H, s.V}), count({s.sequences()}),
        delta({s.of(S), s.sequences(), s.H, s.K, s.V}), linear({s.of(A), s.sequences(), s.H, s.K, s.V}), z({s.of(A), s.sequences(), s.H, s.K}) {}

  void fill(Numbers& numbers) {
    for (Guarded<T, 5>* state : {&window_k, &window_v, &delta, &linear}) state->fill(numbers, -1, 1);
    z.fill(numbers, 0.5, 1.5);
    for (std::int64_t& rows : count.values()) rows = numbers.whole(0, window_k.view().extent(2));
  }
  void bring_to(HybridArguments<T>& a) const {
    a.window_k = window_k.view(), a.window_v = window_v.view(), a.window_count = count.view();
    a.delta_state = delta.view(), a.linear_state = linear.view(), a.linear_z = z.view();
  }
  void take_from(HybridArguments<T>& a) {
    a.final_window_k = window_k.view(), a.final_window_v = window_v.view(), a.final_window_count = count.view();
    a.final_delta_state = delta.view(), a.final_linear_state = linear.view(), a.final_linear_z = z.view();
  }
  bool same_bits(const States& o) const {
    return window_k.same_bits(o.window_k) && window_v.same_bits(o.window_v) && count.values() == o.count.values() && delta.same_bits(o.delta) &&
           linear.same_bits(o.linear) && z.same_bits(o.z);
  }
  bool guards_intact() const {
    return window_k.guards_intact() && window_v.guards_intact() && delta.guards_intact() && linear.guards_intact() && z.guards_intact();
  }

  Guarded<T, 5> window_k, window_v;
  Tensor<std::int64_t, 1> count;
  Guarded<T, 5> delta, linear;
  Guarded<T, 4> z;
};

template <typename T>
double difference(const States<T>& got, const States<double>& expected) {
  if (got.count.values() != expected.count.values()) return std::numeric_limits<double>::infinity();
  return std::max({relative_difference(got.window_k.view(), expected.window_k.view()), relative_difference(got.window_v.view(), expected.window_v.view()),
                   relative_difference(got.delta.view(), expected.delta.view()), relative_difference(got.linear.view(), expected.linear.view()),
                   relative_difference(got.z.view(), expected.z.view())});
}

template <typename T>
struct Problem {
  Problem(const Shape& s, std::uint64_t seed, bool with_states = true)
      : hidden({s.B, s.T, s.D}), wq({L(s), s.D, s.H, s.K}), wk({L(s), s.D, s.H, s.K}), wv({L(s), s.D, s.H, s.V}), wo({L(s), s.H, s.V, s.D}),
        wbeta({s.of(S), s.D, s.H}), wg({s.of(S), s.D, s.H}), y({s.B, s.T, s.D}), before(s, s.P),
        after(s, hybrid_window_rows(with_states ? s.P : 0, s.T, s.window)) {
    Numbers numbers(seed);
    hidden.fill(numbers, -1, 1);
    const double in = 2 / std::sqrt(static_cast<double>(s.D + 1)), out = 1 / std::sqrt(static_cast<double>(s.H * s.V + 1));
    for (Guarded<T, 4>* w : {&wq, &wk, &wv}) w->fill(numbers, -in, in);
    wo.fill(numbers, -out, out);
    for (Guarded<T, 3>* w : {&wbeta, &wg}) w->fill(numbers, -in, in);
    before.fill(numbers);
    arguments = {.layers = s.layers, .hidden = hidden.view(), .wq = wq.view(), .wk = wk.view(), .wv = wv.view(), .wo = wo.view(),
                 .wbeta = wbeta.view(), .wg = wg.view(), .window = s.window, .y = y.view()};
    if (with_states) before.bring_to(arguments);
    after.take_from(arguments);
  }
  static std::int64_t L(const Shape& s) { return static_cast<std::int64_t>(s.layers.size()); }

  Guarded<T, 3> hidden;
  Guarded<T, 4> wq, wk, wv, wo;
  Guarded<T, 3> wbeta, wg, y;
  States<T> before, after;
  HybridArguments<T> arguments;
};

// The same inputs in float64, so that a float32 form is held to the exact answer of its own inputs.
template <typename T>
void copy_inputs(const Problem<T>& from, Problem<double>& to) {
  convert(from.hidden.view(), to.hidden.view());
  convert(from.wq.view(), to.wq.view());
  convert(from.wk.view(), to.wk.view());
  convert(from.wv.view(), to.wv.view());
  convert(from.wo.view(), to.wo.view());
  convert(from.wbeta.view(), to.wbeta.view());
  convert(from.wg.view(), to.wg.view());
  convert(from.before.window_k.view(), to.before.window_k.view());
  convert(from.before.window_v.view(), to.before.window_v.view());
  convert(from.before.delta.view(), to.before.delta.view());
  convert(from.before.linear.view(), to.before.linear.view());
  convert(from.before.z.view(), to.before.z.view());
  to.before.count = from.before.count;
}

// y of every token by the oracle.
Tensor<double, 3> oracle_of(const HybridArguments<double>& a, std::int64_t N) {
  Tensor<double, 3> y(a.hidden.extents());
  for (std::int64_t n = 0; n < N; ++n) {
    HybridOracle oracle(a, n);
    const std::int64_t row = a.cu_seqlens.given() ? 0 : n, begin = a.cu_seqlens.given() ? a.cu_seqlens(n) : 0,
                       end = a.cu_seqlens.given() ? a.cu_seqlens(n + 1) : a.hidden.extent(1);
    for (std::int64_t t = begin; t < end; ++t) {
      std::vector<double> x;
      for (std::int64_t d = 0; d < a.hidden.extent(2); ++d) x.push_back(a.hidden(row, t, d));
      x = oracle.step(x);
      for (std::size_t d = 0; d < x.size(); ++d) y(row, t, static_cast<std::int64_t>(d)) = x[d];
    }
  }
  return y;
}

struct Way {
  Form form;
  std::int64_t chunk = 0;
};
const Way kWays[] = {{Form::automatic}, {Form::reference}, {Form::recurrent}, {Form::chunked, 3}, {Form::explicit_}};

template <typename T>
void expect_ok(const HybridArguments<T>& a, const std::string& what = "") {
  const Status status = hybrid(a);
  ASSERT_TRUE(status.ok()) << what << " " << status.message();
}

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

// Tokens [begin, end) of the problem from one set of states to another.
template <typename T>
void run_tokens(Problem<T>& p, std::int64_t begin, std::int64_t end, const States<T>& from, States<T>& to) {
  HybridArguments<T> part = p.arguments;
  part.hidden = tokens_of(part.hidden, begin, end);
  part.y = tokens_of(part.y, begin, end);
  from.bring_to(part);
  to.take_from(part);
  expect_ok(part, std::to_string(begin) + " to " + std::to_string(end));
}

const Shape kCarried{{W, S, A, W, S}, 2, 11, 5, 2, 4, 3, 4, -1, 3};  // window 4: three rows are kept

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

TYPED_TEST(Hybrid, PackedSequencesEqualEachAloneBitForBit) {
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

TYPED_TEST(Hybrid, BatchRowsDoNotMeetEvenWhereOneHoldsNaN) {
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

TYPED_TEST(Hybrid, RowsThatHoldNoTokenOrAreOutOfSightMayBeNaN) {
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
TYPED_TEST(Hybrid, StatesAreKeptApart) {
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
TYPED_TEST(Hybrid, AWindowForgetsWhatAStateRemembers) {
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
