// From neighbours to a distribution, to a mixture, to a perplexity; and the mechanism that goes all the way.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/support.hpp"
#include "linearmem/knn_memory.hpp"
#include "linearmem/mechanisms.hpp"

namespace linearmem {
namespace {

struct Spread {
  Status status;
  Tensor<double, 2> weights, prob;
};

Spread spread(const std::vector<double>& distances, const std::vector<std::int64_t>& tokens, double temperature, std::int64_t V) {
  const auto R = static_cast<std::int64_t>(distances.size());
  Spread result{{}, Tensor<double, 2>({1, R}, std::nan("")), Tensor<double, 2>({1, V}, std::nan(""))};
  result.status = knn_distribution({.distances = View<const double, 2>(distances.data(), {1, R}),
                                    .tokens = {tokens.data(), {1, R}},
                                    .temperature = temperature,
                                    .weights = result.weights.view(),
                                    .prob = result.prob.view()});
  return result;
}

double sum_of(const Tensor<double, 2>& row) {
  double sum = 0;
  for (double value : row.values()) sum += value;
  return sum;
}

TEST(KnnDistribution, SumsEqualTokensAndLeavesTheRestAtZero) {
  const Spread three = spread({0, 1, 4}, {7, 9, 7}, 1, 12);
  ASSERT_TRUE(three.status.ok());
  EXPECT_NEAR(three.prob(0, 7), 0.734612071228, 1e-12);
  EXPECT_NEAR(sum_of(three.prob), 1, 1e-15);
  for (std::int64_t y = 0; y < 12; ++y) EXPECT_EQ(three.prob(0, y) > 0, y == 7 || y == 9) << y;
}

TEST(KnnDistribution, LargeDistancesKeepTheirDifference) {
  const Spread far = spread({1000000, 1000001}, {0, 1}, 1, 2);
  ASSERT_TRUE(far.status.ok());
  EXPECT_NEAR(far.prob(0, 0), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(far.prob(0, 1), 0.2689414213699951, 1e-15);
  const Spread farther = spread({1e300, 1e-300, 1e300}, {0, 1, 1}, 1e-3, 2);
  EXPECT_EQ(farther.prob(0, 1), 1);
  EXPECT_EQ(farther.prob(0, 0), 0);
}

TEST(KnnDistribution, TheNearestNeedNotComeFirst) {
  const Spread turned = spread({4, 1, 0}, {7, 9, 7}, 1, 12);
  EXPECT_NEAR(turned.prob(0, 7), 0.734612071228, 1e-12);
}

TEST(KnnDistribution, RefusesByName) {
  EXPECT_EQ(spread({1, 2}, {0, 1}, 0, 2).status.message(), "knn_distribution: temperature is 0, must be above 0 and finite");
  EXPECT_EQ(spread({1, 2}, {0, 1}, -1, 2).status.message(), "knn_distribution: temperature is -1, must be above 0 and finite");
  EXPECT_EQ(spread({1, std::nan("")}, {0, 1}, 1, 2).status.message(),
            "knn_distribution: distances[0,1] is nan; every distance must be finite");
  EXPECT_EQ(spread({1, 2}, {0, 5}, 1, 2).status.message(), "knn_distribution: tokens[0,1] is 5, but V is 2: tokens run from 0 to V-1");
  EXPECT_EQ(spread({1, 2}, {-1, 0}, 1, 2).status.message(), "knn_distribution: tokens[0,0] is -1, but V is 2: tokens run from 0 to V-1");
  EXPECT_EQ(spread({}, {}, 1, 2).status.message(),
            "knn_distribution: R is 0: without a neighbour there is no distribution; the memory is empty");
}

Tensor<double, 2> mixed(const std::vector<double>& memory, const std::vector<double>& model, double weight,
                        ProbabilitySpace space = ProbabilitySpace::linear) {
  const auto V = static_cast<std::int64_t>(memory.size());
  Tensor<double, 2> out({1, V}, std::nan(""));
  const Status status = knn_interpolate(
      {.memory = {memory.data(), {1, V}}, .model = {model.data(), {1, V}}, .weight = weight, .space = space, .mixed = out.view()});
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

TEST(KnnInterpolate, WeightsZeroAndOneReturnEachSideBitForBit) {
  const std::vector<double> memory = {1.0 / 3, 0, 2.0 / 3}, model = {0.1, 0.7, 0.2}, nothing(3, std::nan(""));
  for (std::size_t y = 0; y < 3; ++y) {
    const auto at = static_cast<std::int64_t>(y);
    EXPECT_TRUE(same_bits(mixed(nothing, model, 0)(0, at), model[y]));
    EXPECT_TRUE(same_bits(mixed(memory, nothing, 1)(0, at), memory[y]));
    EXPECT_TRUE(same_bits(mixed(nothing, {std::log(0.1), std::log(0.7), -HUGE_VAL}, 0, ProbabilitySpace::log)(0, at),
                          (std::vector<double>{std::log(0.1), std::log(0.7), -HUGE_VAL})[y]));
  }
}

TEST(KnnInterpolate, LogSpaceAgreesAndReachesWherePlainNumbersEnd) {
  const std::vector<double> memory = {0.5, 0, 0.5, 0}, model = {0.25, 0.25, 0.5, 0};
  std::vector<double> log_memory, log_model;
  for (std::size_t y = 0; y < 4; ++y) log_memory.push_back(std::log(memory[y])), log_model.push_back(std::log(model[y]));
  const auto plain = mixed(memory, model, 0.3), logs = mixed(log_memory, log_model, 0.3, ProbabilitySpace::log);
  for (std::int64_t y = 0; y < 4; ++y) EXPECT_NEAR(std::exp(logs(0, y)), plain(0, y), 1e-15);
  EXPECT_EQ(logs(0, 3), -HUGE_VAL);
  EXPECT_NEAR(mixed({-2000}, {-2001}, 0.5, ProbabilitySpace::log)(0, 0), -2000 + std::log(0.5 * (1 + std::exp(-1.0))), 1e-9);
}

TEST(KnnInterpolate, RefusesByName) {
  const auto message = [](std::vector<double> memory, std::vector<double> model, double weight, ProbabilitySpace space) {
    Tensor<double, 2> out({1, 1});
    return knn_interpolate(
               {.memory = {memory.data(), {1, 1}}, .model = {model.data(), {1, 1}}, .weight = weight, .space = space, .mixed = out.view()})
        .message();
  };
  EXPECT_EQ(message({0.5}, {0.5}, 1.5, ProbabilitySpace::linear), "knn_interpolate: weight is 1.5, must be from 0 to 1");
  EXPECT_EQ(message({0.5}, {0.5}, std::nan(""), ProbabilitySpace::linear), "knn_interpolate: weight is nan, must be from 0 to 1");
  EXPECT_EQ(message({-0.5}, {0.5}, 0.5, ProbabilitySpace::linear), "knn_interpolate: memory[0,0] is -0.5, no probability");
  EXPECT_EQ(message({0.5}, {1.5}, 0.5, ProbabilitySpace::linear), "knn_interpolate: model[0,0] is 1.5, no probability");
  EXPECT_EQ(message({0.5}, {-1}, 0.5, ProbabilitySpace::log), "knn_interpolate: memory[0,0] is 0.5, no log of a probability");
}

Result<double> perplexity_of(const std::vector<double>& logs) {
  return perplexity(View<const double, 1>(logs.data(), {static_cast<std::int64_t>(logs.size())}));
}

TEST(Perplexity, IsTheGeometricMeanOfInverses) {
  EXPECT_NEAR(perplexity_of({std::log(0.5), std::log(0.125)}).value(), 4, 1e-14);
  EXPECT_EQ(perplexity_of({0, 0}).value(), 1);
  EXPECT_EQ(perplexity_of({0, -HUGE_VAL}).value(), HUGE_VAL);
  EXPECT_EQ(perplexity_of({}).status().message(), "perplexity: T is 0: no token came, and there is no mean of none");
  EXPECT_EQ(perplexity_of({-1, std::nan("")}).status().message(), "perplexity: log_probabilities[1] is nan, no log of a probability");
}

NamedTensors three_records() {
  return {{"query", to_named<double>({0}, {1, 1})},
          {"keys", to_named<double>({0, 1, 2}, {3, 1})},
          {"token_ids", to_named<std::int64_t>({7, 9, 7}, {3})}};
}

std::string refusal(const NamedTensors& inputs, const std::map<std::string, std::string>& options) {
  const auto outputs = run_mechanism("knn", inputs, {.options = options});
  return outputs.ok() ? "accepted" : outputs.status().message();
}

TEST(KnnMechanism, AtMostKWeighsTheThreeThereAre) {
  const auto outputs =
      run_mechanism("knn", three_records(), {.options = {{"k", "8"}, {"at_most_k", "true"}, {"vocab", "10"}, {"neighbours", "true"}}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  const auto weights = floating_values<double>("weight", outputs.value().at("weight")).value();
  ASSERT_EQ(weights.size(), 3u);
  EXPECT_NEAR(weights[0] + weights[1] + weights[2], 1, 1e-15);
  EXPECT_EQ(integer_values("token", outputs.value().at("token")).value(), (std::vector<std::int64_t>{7, 9, 7}));
  EXPECT_EQ(outputs.value().at("prob").shape, (std::vector<std::int64_t>{1, 10}));
  EXPECT_EQ(outputs.value().at("prob").bytes, outputs.value().at("memory_prob").bytes);  // no model: the memory alone
}

TEST(KnnMechanism, TokenId40000IsKept) {
  NamedTensors inputs = three_records();
  inputs["token_ids"] = to_named<std::int64_t>({40000, 9, 40000}, {3});
  for (DType dtype : {DType::f32, DType::f64}) {
    const auto outputs =
        run_mechanism("knn", inputs, {.dtype = dtype, .options = {{"k", "3"}, {"vocab", "50000"}, {"neighbours", "true"}}});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(integer_values("token", outputs.value().at("token")).value(), (std::vector<std::int64_t>{40000, 9, 40000}));
    EXPECT_NEAR(floating_values<double>("prob", outputs.value().at("prob")).value()[40000], 0.734612071228, 1e-7);
  }
}

TEST(KnnMechanism, RefusesByName) {
  NamedTensors inputs = three_records();
  EXPECT_EQ(refusal(inputs, {}), "knn: vocab is not set and there is no model_prob to take it from");
  EXPECT_EQ(refusal(inputs, {{"vocab", "0"}}), "knn: vocab is 0, must be at least 1");
  EXPECT_EQ(refusal(inputs, {{"vocab", "10"}, {"k", "5"}}), "knn_search: k is 5, but there are 3 keys; allow at most k to take them all");
  EXPECT_EQ(refusal(inputs, {{"vocab", "10"}, {"k", "0"}}), "knn_search: k is 0, must be at least 1");
  EXPECT_EQ(refusal(inputs, {{"vocab", "10"}, {"temperature", "0"}}), "knn_distribution: temperature is 0, must be above 0 and finite");
  EXPECT_EQ(refusal(inputs, {{"vocab", "9"}, {"k", "3"}}), "knn_distribution: tokens[0,1] is 9, but V is 9: tokens run from 0 to V-1");
  inputs["keys"] = to_named<double>({}, {0, 1});
  inputs["token_ids"] = to_named<std::int64_t>({}, {0});
  EXPECT_EQ(refusal(inputs, {{"vocab", "10"}, {"at_most_k", "true"}}),
            "knn_distribution: R is 0: without a neighbour there is no distribution; the memory is empty");
  inputs = three_records();
  inputs["model_prob"] = to_named<double>({0.5, 0.5}, {1, 2});
  EXPECT_EQ(refusal(inputs, {{"vocab", "10"}}), "knn: V differs: model_prob has 2, vocab has 10");
}

}  // namespace
}  // namespace linearmem
