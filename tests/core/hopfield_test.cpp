// Modern Hopfield network: one step is a softmax read, energy never rises, steps and the reason to stop are told.
#include <gtest/gtest.h>

#include <string>

#include "core/support.hpp"
#include "linearmem/associative_memory.hpp"

namespace linearmem {
namespace {

using Matrix = Tensor<double, 2>;

Matrix random_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  test::Numbers numbers(seed);
  Matrix matrix({rows, columns});
  for (double& value : matrix.values()) value = numbers.uniform(-1, 1);
  return matrix;
}

TEST(Hopfield, OneStepIsASoftmaxReadOfThePatterns) {
  const Matrix patterns = random_matrix(7, 5, 1), start = random_matrix(3, 5, 2);
  Matrix states({3, 5}, std::nan("")), read({3, 5}), weights({3, 7}), expected({3, 7});
  std::int64_t steps[3], stopped[3];
  ASSERT_TRUE(hopfield(HopfieldArguments<double>{.patterns = patterns.view(),
                                                 .start = start.view(),
                                                 .beta = 3,
                                                 .max_steps = 1,
                                                 .states = states.view(),
                                                 .weights = weights.view(),
                                                 .steps = {steps, {3}},
                                                 .stopped = {stopped, {3}}})
                  .ok());
  const ResponseRule softmax{.response = Response::softmax, .beta = 3};
  ASSERT_TRUE(
      associative_read(AssociativeReadArguments<double>{
                           .keys = patterns.view(), .values = patterns.view(), .queries = start.view(), .rule = softmax, .o = read.view()})
          .ok());
  ASSERT_TRUE(associative_weights({.keys = patterns.view(), .queries = start.view(), .rule = softmax, .weights = expected.view()}).ok());
  EXPECT_LE(test::relative_difference(states.view(), read.view()), 1e-14);
  EXPECT_LE(test::relative_difference(weights.view(), expected.view()), 1e-14);
  for (int q = 0; q < 3; ++q) EXPECT_TRUE(steps[q] == 1 && stopped[q] == static_cast<std::int64_t>(HopfieldStop::step_limit));
}

TEST(Hopfield, EnergyNeverRisesAndThePathEndsWhereItStopped) {
  const Matrix patterns = random_matrix(6, 3, 3), start = random_matrix(4, 3, 4);
  constexpr std::int64_t kSteps = 40;
  Matrix states({4, 3}), energy({kSteps + 1, 4});
  Tensor<double, 3> path({kSteps + 1, 4, 3});
  std::int64_t steps[4];
  ASSERT_TRUE(hopfield(HopfieldArguments<double>{.patterns = patterns.view(),
                                                 .start = start.view(),
                                                 .beta = 2,
                                                 .max_steps = kSteps,
                                                 .tolerance = 1e-9,
                                                 .states = states.view(),
                                                 .steps = {steps, {4}},
                                                 .path = path.view(),
                                                 .energy = energy.view()})
                  .ok());
  for (std::int64_t q = 0; q < 4; ++q) {
    EXPECT_LT(energy(1, q), energy(0, q));
    for (std::int64_t step = 1; step <= kSteps; ++step) EXPECT_LE(energy(step, q), energy(step - 1, q) + 1e-14);
    for (std::int64_t c = 0; c < 3; ++c) {
      EXPECT_EQ(path(0, q, c), start(q, c));
      for (std::int64_t step = steps[q]; step <= kSteps; ++step) EXPECT_EQ(path(step, q, c), states(q, c));
    }
  }
}

TEST(Hopfield, ASteepNetworkReturnsTheNearestPatternAndSaysWhyItStopped) {
  const Matrix patterns({2, 2}, {1, 0, 0, 1}), start({1, 2}, {0.6, 0.5});
  Matrix states({1, 2});
  std::int64_t steps = 0, stopped = 0;
  const auto run = [&](std::int64_t limit) {
    return hopfield(HopfieldArguments<double>{.patterns = patterns.view(),
                                              .start = start.view(),
                                              .beta = 50,
                                              .max_steps = limit,
                                              .states = states.view(),
                                              .steps = {&steps, {1}},
                                              .stopped = {&stopped, {1}}});
  };
  ASSERT_TRUE(run(100).ok());
  EXPECT_NEAR(states(0, 0), 1, 1e-12);
  EXPECT_LT(steps, 10);
  EXPECT_EQ(stopped, static_cast<std::int64_t>(HopfieldStop::settled));
  ASSERT_TRUE(run(steps - 1).ok());
  EXPECT_EQ(stopped, static_cast<std::int64_t>(HopfieldStop::step_limit));
}

TEST(Hopfield, BadInputIsRefusedByName) {
  const Matrix patterns({2, 2}, 1.0), start({1, 2}, 1.0), none({0, 2}), narrow({1, 1}, 1.0);
  Matrix states({1, 2});
  const auto message = [&](HopfieldArguments<double> a) {
    if (!a.patterns.given()) a.patterns = patterns.view();
    if (!a.start.given()) a.start = start.view();
    a.states = states.view();
    return hopfield(a).message();
  };
  EXPECT_EQ(message({.patterns = none.view(), .start = {}, .states = {}}), "hopfield: patterns is empty; M must be at least 1");
  EXPECT_EQ(message({.patterns = {}, .start = narrow.view(), .states = {}}), "hopfield: K differs: patterns has 2, start has 1");
  EXPECT_EQ(message({.patterns = {}, .start = {}, .beta = 0, .states = {}}), "hopfield: beta is 0, must be above 0 and finite");
  EXPECT_EQ(message({.patterns = {}, .start = {}, .max_steps = 0, .states = {}}), "hopfield: max_steps is 0, must be at least 1");
  EXPECT_EQ(message({.patterns = {}, .start = {}, .tolerance = -1, .states = {}}), "hopfield: tolerance is -1, must be at least 0");
}

}  // namespace
}  // namespace linearmem
