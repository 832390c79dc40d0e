// A hybrid stack to call in tests: random weights and states of any shape, its oracle, its forms.
#pragma once

#include <gtest/gtest.h>

#include "core/hybrid_oracle.hpp"
#include "core/support.hpp"
#include "linearmem/hybrid.hpp"

namespace linearmem::test::stacks {

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
inline Tensor<double, 3> oracle_of(const HybridArguments<double>& a, std::int64_t N) {
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
inline const Way kWays[] = {{Form::automatic}, {Form::reference}, {Form::recurrent}, {Form::chunked, 3}, {Form::explicit_}};

template <typename T>
void expect_ok(const HybridArguments<T>& a, const std::string& what = "") {
  const Status status = hybrid(a);
  ASSERT_TRUE(status.ok()) << what << " " << status.message();
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

inline const Shape kCarried{{W, S, A, W, S}, 2, 11, 5, 2, 4, 3, 4, -1, 3};  // window 4: three rows are kept

}  // namespace linearmem::test::stacks
