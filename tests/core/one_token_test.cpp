// A call of one token takes ways of its own through a state: it must give what the same token gives within a longer call, and take nothing
// from the heap where everything is small.
#include <gtest/gtest.h>

#include "core/counted_heap.hpp"
#include "core/support.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem {
namespace {

using test::allocations;
using test::Guarded;
using test::Numbers;
using test::relative_difference;
using test::tolerance;

enum class Rule { delta, gated_delta, linear, gated_linear, ssd };
constexpr Rule kRules[] = {Rule::delta, Rule::gated_delta, Rule::linear, Rule::gated_linear, Rule::ssd};

template <typename T>
struct Call {
  Call(std::int64_t tokens, std::int64_t H, std::int64_t K, std::int64_t V)
      : q({1, tokens, H, K}), k({1, tokens, H, K}), v({1, tokens, H, V}), o({1, tokens, H, V}), S({1, H, K, V}), beta({1, tokens, H}),
        g({1, tokens, H}), A({H}) {
    Numbers numbers(61);
    for (auto* rows : {&q, &k}) rows->fill(numbers, -0.3, 0.3);
    v.fill(numbers, -1, 1), S.fill(numbers, -1, 1), beta.fill(numbers, 0, 1), g.fill(numbers, -0.1, 0), A.fill(numbers, -1, 0);
  }

  // Tokens [begin, begin + count), in place.
  Status run(Rule rule, Form form, std::int64_t begin, std::int64_t count) {
    const auto part = [&](const auto& view) {
      auto extents = view.extents();
      extents[1] = count;
      return std::remove_cvref_t<decltype(view)>(view.data() + begin * view.stride(1), extents, view.strides());
    };
    const View<const T, 4> q_part = part(q.view()), k_part = part(k.view()), v_part = part(v.view());
    const View<const T, 3> beta_part = part(beta.view()), g_part = part(g.view());
    const View<T, 4> o_part = part(o.view());
    if (rule == Rule::ssd)
      return ssd(SsdArguments<T>{.x = v_part, .dt = beta_part, .A = A.view(), .B = k_part, .C = q_part, .state = S.view(), .form = form, .y = o_part,
                                 .final_state = S.view()});
    if (rule == Rule::linear || rule == Rule::gated_linear)
      return linear_attention(LinearAttentionArguments<T>{
          .q = q_part, .k = k_part, .v = v_part, .g = rule == Rule::linear ? View<const T, 3>() : g_part, .state = S.view(),
          .feature = Feature::identity, .normalize = false, .form = form, .o = o_part, .final_state = S.view()});
    return delta_rule(DeltaRuleArguments<T>{.q = q_part, .k = k_part, .v = v_part, .beta = beta_part,
                                            .g = rule == Rule::delta ? View<const T, 3>() : g_part, .state = S.view(), .form = form,
                                            .o = o_part, .final_state = S.view()});
  }

  Guarded<T, 4> q, k, v, o, S;
  Guarded<T, 3> beta, g;
  Guarded<T, 1> A;
};

template <typename T>
class OneToken : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OneToken, Types);

// Widths of one vector, of several tiles side by side, and of none that are whole; few and many rows.
TYPED_TEST(OneToken, GivesWhatItGivesWithinALongerCall) {
  constexpr std::int64_t kTokens = 6;
  for (const std::int64_t K : {1, 7, 64})
    for (const std::int64_t V : {5, 16, 48, 128, 176, 272, 528})
      for (const Rule rule : kRules) {
        Call<TypeParam> exact(kTokens, 3, K, V), whole(kTokens, 3, K, V), single(kTokens, 3, K, V);
        ASSERT_TRUE(exact.run(rule, Form::reference, 0, kTokens).ok());
        ASSERT_TRUE(whole.run(rule, Form::automatic, 0, kTokens).ok());
        for (std::int64_t t = 0; t < kTokens; ++t) ASSERT_TRUE(single.run(rule, Form::automatic, t, 1).ok());
        const auto where = [&] { return ::testing::Message() << "rule " << static_cast<int>(rule) << " K " << K << " V " << V; };
        EXPECT_LE(relative_difference(single.o.view(), exact.o.view()), tolerance<TypeParam>()) << where();
        EXPECT_LE(relative_difference(single.S.view(), exact.S.view()), tolerance<TypeParam>()) << where();
        EXPECT_TRUE(single.o.guards_intact() && single.S.guards_intact()) << where();
        if (rule == Rule::delta || rule == Rule::linear) {
          EXPECT_TRUE(single.o.same_bits(whole.o) && single.S.same_bits(whole.S)) << where();
        }
      }
}

TYPED_TEST(OneToken, TakesNothingFromTheHeapWhereItIsSmall) {
  for (const Rule rule : kRules) {
    Call<TypeParam> call(1, 1, 4, 4);
    const std::int64_t before = allocations();
    const Status status = call.run(rule, Form::automatic, 0, 1);
    EXPECT_EQ(allocations(), before) << "rule " << static_cast<int>(rule);
    ASSERT_TRUE(status.ok()) << status.message();
  }
}

}  // namespace
}  // namespace linearmem
