// The decays of the Mamba scan, exp(step A), seen through the door: with B = 0 and C = 1 a state of 1 is read as its decay.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/support.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// The decay of one step for each channel; `tokens` with steps of 0 after the first choose how the scan goes about it.
template <typename T>
std::vector<T> decays(const std::vector<double>& steps, std::int64_t tokens, double rate = -1) {
  const std::int64_t D = static_cast<std::int64_t>(steps.size());
  const std::vector<T> zeros(static_cast<std::size_t>(tokens * D)), none(static_cast<std::size_t>(tokens)), ones(zeros.size() + none.size(), T{1});
  std::vector<T> delta = zeros, y(zeros.size(), std::numeric_limits<T>::quiet_NaN());
  for (std::int64_t d = 0; d < D; ++d) delta[static_cast<std::size_t>(d)] = static_cast<T>(steps[static_cast<std::size_t>(d)]);
  const std::vector<T> A(steps.size(), static_cast<T>(rate));
  const Status status = mamba_scan(MambaScanArguments<T>{.u = {zeros.data(), {1, tokens, D}},
                                                         .delta = {delta.data(), {1, tokens, D}},
                                                         .A = {A.data(), {D, 1}},
                                                         .B = {none.data(), {1, tokens, 1}},
                                                         .C = {ones.data(), {1, tokens, 1}},
                                                         .state = {ones.data(), {1, D, 1}},
                                                         .softplus = false,
                                                         .allow_growth = true,
                                                         .y = {y.data(), {1, tokens, D}}});
  EXPECT_TRUE(status.ok()) << status.message();
  y.resize(steps.size());
  return y;
}

constexpr std::int64_t kFewTokens = 1, kTokens = 20;

template <typename T>
class MambaDecay : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(MambaDecay, Precisions);

// The step is rounded to T, and so is its product with log2(e): an error that grows with the exponent. The rest is the decay's own.
TYPED_TEST(MambaDecay, IsWithinItsBoundOfTheExponentialDownToTheSmallestNormalNumber) {
  using T = TypeParam;
  const double own = sizeof(T) == 4 ? 2.5e-7 : 6e-16, by_exponent = sizeof(T) == 4 ? 1.3e-7 : 3e-16;
  const double end = -std::log(static_cast<double>(std::numeric_limits<T>::min()));
  std::vector<double> steps;
  for (int i = 0; i < 6000; ++i) steps.push_back(static_cast<T>(i * .5 / 6000));
  for (int i = 0; i < 6000; ++i) steps.push_back(static_cast<T>((end - .01) * i / 6000));
  for (int i = 0; i < 100; ++i) steps.push_back(static_cast<T>(std::ldexp(1., -i)));
  for (const std::int64_t tokens : {kFewTokens, kTokens}) {
    const std::vector<T> got = decays<T>(steps, tokens);
    double worst = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const double exact = std::exp(-steps[i]), error = std::abs(got[i] - exact) / exact / (own + by_exponent * steps[i]);
      if (!(error <= worst)) worst = error;
    }
    EXPECT_LE(worst, 1) << tokens << " tokens";
  }
}

TYPED_TEST(MambaDecay, IsExactAtTheEnds) {
  using T = TypeParam;
  const double past = 1 - std::log(static_cast<double>(std::numeric_limits<T>::min()));
  for (const std::int64_t tokens : {kFewTokens, kTokens}) {
    EXPECT_EQ(decays<T>({0, -0., past, 2 * past, 1e30}, tokens), (std::vector<T>{1, 1, 0, 0, 0}));
    for (const double growth : {-2 * past, -1e30}) EXPECT_EQ(decays<T>({growth}, tokens)[0], std::numeric_limits<T>::infinity());
    const std::vector<T> sick = decays<T>({1, kNaN, 2 * past}, tokens);
    EXPECT_TRUE(std::isnan(sick[1]));
    EXPECT_EQ(sick[2], T{0});
    const T large = std::numeric_limits<T>::max();
    const std::vector<T> infinite = decays<T>({large, -large}, tokens, -static_cast<double>(large));
    EXPECT_EQ(infinite, (std::vector<T>{0, std::numeric_limits<T>::infinity()})) << "the exponent is infinite, the step is not";
  }
}

// Channels whose decays are near 1 are computed without bounds; one beside them that needs bounds, or is no number, must not show.
TYPED_TEST(MambaDecay, OfAChannelIsTheSameBitsWhateverStandsBesideIt) {
  using T = TypeParam;
  test::Numbers numbers(41);
  std::vector<double> steps(150);
  for (double& step : steps) step = numbers.uniform(0, 80);
  for (const std::int64_t tokens : {kFewTokens, kTokens}) {
    const std::vector<T> alone = decays<T>(steps, tokens);
    for (const double sick : {86., 1e4, kInfinity, -kInfinity, kNaN, -kNaN}) {
      std::vector<double> beside = steps;
      for (std::size_t i = 3; i < beside.size(); i += 29) beside[i] = sick;
      std::vector<T> got = decays<T>(beside, tokens);
      for (std::size_t i = 3; i < beside.size(); i += 29) got[i] = alone[i];
      EXPECT_EQ(got, alone) << "beside " << sick << ", " << tokens << " tokens";
    }
  }
}

}  // namespace
}  // namespace linearmem
