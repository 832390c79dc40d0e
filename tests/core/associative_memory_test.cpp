// Associative memory: every form against the definition, what a read means, and what is refused.
#include "linearmem/associative_memory.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/support.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using test::Turned;

const std::vector<std::string> kResponses = {"linear",        "relu", "relu2",   "relu3",        "relu16",
                                             "truncated-exp", "exp",  "softmax", "logn-softmax", "least-squares"};

ResponseRule rule_of(const std::string& name) {
  ResponseRule rule = response_named(name).value();
  rule.beta = 1.7;
  rule.terms = 4;
  if (rule.sharpen_beyond) rule.sharpen_beyond = 5;  // so that small memories are sharpened
  return rule;
}

template <typename T>
struct Inputs {
  Guarded<T, 2> keys, values, queries;

  Inputs(std::int64_t M, std::int64_t K, std::int64_t V, std::int64_t Q, std::uint64_t seed)
      : keys({M, K}), values({M, V}), queries({Q, K}) {
    Numbers numbers(seed);
    keys.fill(numbers, -1, 1);
    values.fill(numbers, -1, 1);
    queries.fill(numbers, -1, 1);
  }
  AssociativeReadArguments<T> arguments(const ResponseRule& rule, Form form, const View<T, 2>& o) const {
    return {.keys = keys.view(), .values = values.view(), .queries = queries.view(), .rule = rule, .form = form, .o = o};
  }
};

template <typename T>
class AssociativeRead : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(AssociativeRead, Precisions);

TYPED_TEST(AssociativeRead, EveryFormAgreesWithTheDefinition) {
  // Sizes beside the kernel's tile of 64 items, its 4 queries and its vectors.
  for (const auto& [M, K, V, Q] : std::vector<Extents<4>>{{1, 1, 1, 1},
                                                          {5, 3, 2, 4},
                                                          {63, 7, 9, 5},
                                                          {64, 8, 16, 64},
                                                          {65, 5, 17, 66},
                                                          {130, 2, 1, 3},
                                                          {0, 3, 2, 2},
                                                          {4, 3, 0, 2},
                                                          {4, 3, 2, 0}}) {
    const Inputs<TypeParam> in(M, K, V, Q, 1);
    for (const std::string& name : kResponses) {
      Guarded<TypeParam, 2> expected({Q, V});
      ASSERT_TRUE(associative_read(in.arguments(rule_of(name), Form::reference, expected.view())).ok());
      for (Form form : {Form::automatic, Form::explicit_, Form::streaming}) {
        Guarded<TypeParam, 2> o({Q, V});
        const Status status = associative_read(in.arguments(rule_of(name), form, o.view()));
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_LE(test::relative_difference(o.view(), expected.view()), test::tolerance<TypeParam>())
            << name << " " << form_name(form) << " M " << M;
        EXPECT_TRUE(o.guards_intact());
      }
    }
  }
}

TYPED_TEST(AssociativeRead, TakesStridesAndGivesTheSameAloneAsInABatch) {
  Inputs<TypeParam> in(70, 6, 10, 9, 2);
  for (const std::string& name : kResponses) {
    Guarded<TypeParam, 2> together({9, 10});
    ASSERT_TRUE(associative_read(in.arguments(rule_of(name), Form::automatic, together.view())).ok());
    Turned<TypeParam, 2> keys{View<const TypeParam, 2>(in.keys.view())}, values{View<const TypeParam, 2>(in.values.view())},
        queries{View<const TypeParam, 2>(in.queries.view())};
    Turned<TypeParam, 2> strided{Extents<2>{9, 10}};
    ASSERT_TRUE(
        associative_read(
            AssociativeReadArguments<TypeParam>{
                .keys = keys.view(), .values = values.view(), .queries = queries.view(), .rule = rule_of(name), .o = strided.view()})
            .ok());
    for (std::int64_t q = 0; q < 9; ++q) {
      Guarded<TypeParam, 2> alone({1, 10});
      auto arguments = in.arguments(rule_of(name), Form::automatic, alone.view());
      arguments.queries = {in.queries.data() + q * 6, {1, 6}};
      ASSERT_TRUE(associative_read(arguments).ok());
      for (std::int64_t j = 0; j < 10; ++j) {
        EXPECT_EQ(alone.view()(0, j), together.view()(q, j)) << name;
        EXPECT_EQ(strided.view()(q, j), together.view()(q, j)) << name;
      }
    }
  }
}

TEST(AssociativeMemory, OrthogonalKeysAreReadBackExactly) {
  const double keys[] = {1, 0, 0, 1}, values[] = {3, 4, 5, 6, 7, 8};
  for (const char* name : {"linear", "relu", "relu3", "least-squares"}) {
    double o[6];
    ASSERT_TRUE(
        associative_read(
            AssociativeReadArguments<double>{
                .keys = {keys, {2, 2}}, .values = {values, {2, 3}}, .queries = {keys, {2, 2}}, .rule = rule_of(name), .o = {o, {2, 3}}})
            .ok());
    for (int j = 0; j < 6; ++j) EXPECT_NEAR(o[j], values[j], 1e-15) << name;
  }
}

TEST(AssociativeMemory, WeightsTimesValuesIsTheRead) {
  const Inputs<double> in(20, 4, 3, 5, 3);
  for (const std::string& name : kResponses) {
    Tensor<double, 2> o({5, 3}), weights({5, 20});
    ASSERT_TRUE(associative_read(in.arguments(rule_of(name), Form::reference, o.view())).ok());
    ASSERT_TRUE(
        associative_weights({.keys = in.keys.view(), .queries = in.queries.view(), .rule = rule_of(name), .weights = weights.view()}).ok());
    for (std::int64_t q = 0; q < 5; ++q)
      for (std::int64_t j = 0; j < 3; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < 20; ++i) sum += weights(q, i) * in.values.view()(i, j);
        EXPECT_NEAR(sum, o(q, j), 1e-11) << name;
      }
  }
}

TEST(AssociativeMemory, HugeLogitsAreHarmlessInSoftmaxAndRefusedInExp) {
  const double keys[] = {1, -1}, values[] = {5, 6}, query[] = {1};
  for (Form form : {Form::reference, Form::explicit_, Form::streaming}) {
    double o[1] = {-1};
    const auto read = [&](Response response) {
      return associative_read(AssociativeReadArguments<double>{.keys = {keys, {2, 1}},
                                                               .values = {values, {2, 1}},
                                                               .queries = {query, {1, 1}},
                                                               .rule = {.response = response, .beta = 1e4},
                                                               .form = form,
                                                               .o = {o, {1, 1}}});
    };
    ASSERT_TRUE(read(Response::softmax).ok());
    EXPECT_EQ(o[0], 5);
    o[0] = -1;
    EXPECT_EQ(read(Response::exp).message(), "associative_read: o[0,0] is inf, past what float64 holds");
    EXPECT_EQ(o[0], -1);
  }
}

TEST(AssociativeMemory, NamesGoThereAndBack) {
  for (const std::string& name : kResponses) EXPECT_EQ(response_name(response_named(name).value()), name);
  for (const char* name : {"relu0", "relu17", "relu1", "Relu", "", "softmax "}) EXPECT_FALSE(response_named(name)) << name;
  for (WriteRule rule : {WriteRule::outer_product, WriteRule::least_squares, WriteRule::delta})
    EXPECT_EQ(write_rule_named(write_rule_name(rule)), rule);
}

TEST(AssociativeMemory, LogNLeavesBetaAloneUpToItsItems) {
  const ResponseRule rule{.response = Response::softmax, .beta = 3, .sharpen_beyond = 16};
  EXPECT_EQ(beta_for(rule, 0), 3);
  EXPECT_EQ(beta_for(rule, 16), 3);
  EXPECT_DOUBLE_EQ(beta_for(rule, 256), 6);
}

std::string refusal(AssociativeReadArguments<double> a) { return associative_read(a).message(); }

TEST(AssociativeMemory, BadInputIsRefusedByName) {
  Inputs<double> in(4, 3, 2, 5, 4);
  Tensor<double, 2> o({5, 2});
  const auto good = in.arguments({}, Form::automatic, o.view());
  auto bad = good;
  bad.queries = {in.queries.data(), {5, 2}};
  EXPECT_EQ(refusal(bad), "associative_read: K differs: keys has 3, queries has 2");
  bad = good;
  bad.values = {in.values.data(), {3, 2}};
  EXPECT_EQ(refusal(bad), "associative_read: M differs: keys has 4, values has 3");
  bad = good;
  bad.form = Form::chunked;
  EXPECT_EQ(refusal(bad), "associative_read: form chunked is not one of reference, explicit, streaming");
  bad = good;
  bad.rule = {.response = Response::relu, .power = 0};
  EXPECT_EQ(refusal(bad), "associative_read: power is 0, must be from 1 to 16");
  bad.rule = {.response = Response::truncated_exp, .terms = 18};
  EXPECT_EQ(refusal(bad), "associative_read: terms is 18, must be from 1 to 17");
  bad.rule = {.response = Response::exp, .beta = std::nan("")};
  EXPECT_EQ(refusal(bad), "associative_read: beta is nan, must be finite");
  bad.rule = {.response = Response::softmax, .sharpen_beyond = 1};
  EXPECT_EQ(refusal(bad), "associative_read: sharpen_beyond is 1, must be at least 2 items");
  in.keys.data()[7] = HUGE_VAL;
  EXPECT_EQ(refusal(good), "associative_read: keys[2,1] is inf; every number must be finite");
}

TEST(Interference, SplitsTheReadAndDividesTheLengths) {
  const double weights[] = {1, 2, 0, 0, 0.5, 0}, values[] = {3, 0, 0, 2, 1, 1};
  const std::int64_t targets[] = {0, 0};
  double own[4], others[4], ratio[2];
  ASSERT_TRUE(interference({.weights = {weights, {2, 3}},
                            .values = {values, {3, 2}},
                            .targets = {targets, {2}},
                            .target_part = {own, {2, 2}},
                            .others = {others, {2, 2}},
                            .ratio = {ratio, {2}}})
                  .ok());
  EXPECT_EQ(std::vector<double>(own, own + 4), (std::vector<double>{3, 0, 0, 0}));
  EXPECT_EQ(std::vector<double>(others, others + 4), (std::vector<double>{0, 4, 0, 1}));
  EXPECT_DOUBLE_EQ(ratio[0], 4.0 / 3);
  EXPECT_EQ(ratio[1], HUGE_VAL);  // only the others answer
}

TEST(Interference, WhatHasNoAnswerIsSaid) {
  const double weights[] = {0, 1}, values[] = {1, 0};
  const auto message = [&](std::int64_t target) {
    double ratio[1];
    return interference({.weights = {weights, {1, 2}}, .values = {values, {2, 1}}, .targets = {&target, {1}}, .ratio = {ratio, {1}}})
        .message();
  };
  EXPECT_EQ(message(0), "interference: query 0 is answered by nothing, neither its item 0 nor any other, so R is 0 / 0");
  EXPECT_EQ(message(2), "interference: targets[0] is 2, must be one of the items 0 to 1");
  EXPECT_EQ(message(-1), "interference: targets[0] is -1, must be one of the items 0 to 1");
}

TEST(Interference, TheThreeStatisticsAreThree) {
  const std::vector<double> odd = {5, 1, 0}, even = {1, 2, 3, 10};
  EXPECT_DOUBLE_EQ(ratio_statistics(odd).rms, std::sqrt(26.0 / 3));
  EXPECT_EQ(ratio_statistics(odd).median, 1);
  EXPECT_EQ(ratio_statistics(odd).mean, 2);
  EXPECT_EQ(ratio_statistics(even).median, 2.5);
  EXPECT_TRUE(std::isnan(ratio_statistics({}).rms));
}

}  // namespace
}  // namespace linearmem
