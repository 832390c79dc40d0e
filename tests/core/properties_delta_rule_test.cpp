// The delta rule and the gated delta rule on random shapes; what is checked stands in properties.hpp.
#include "core/properties.hpp"

namespace linearmem {
namespace {

using test::edgy;
using test::Numbers;
using test::random_tensor;
using test::RandomCase;

// Keys of length 1 at most and beta up to 2, so that no step amplifies; gates from none to so strong that nothing is left.
RandomCase delta_case(const Mechanism& mechanism, Numbers& numbers) {
  const std::int64_t H = edgy(numbers, 1, 3), Hv = H * numbers.whole(1, 2), K = edgy(numbers, 1, 12), V = edgy(numbers, 1, 20);
  const bool gated = mechanism.name == std::string("gated-delta-rule"), by_key = numbers.whole(0, 1) == 0,
             stated = numbers.whole(0, 1) == 0;
  const double longest = 1 / std::sqrt(static_cast<double>(K)), strongest = numbers.whole(0, 5) == 0 ? -200 : -2;
  RandomCase c{&mechanism, {}, {}};
  for (std::int64_t n = numbers.whole(2, 3); n > 0; --n) {
    const std::int64_t T = test::random_length(numbers);
    NamedTensors s = {{"q", random_tensor(numbers, {1, T, H, K}, -1, 1)},
                      {"k", random_tensor(numbers, {1, T, H, K}, -longest, longest)},
                      {"v", random_tensor(numbers, {1, T, Hv, V}, -1, 1)},
                      {"beta", random_tensor(numbers, {1, T, Hv}, 0, 2)}};
    if (gated && by_key) s["g_key"] = random_tensor(numbers, {1, T, Hv, K}, strongest, 0);
    if (gated && !by_key) s["g"] = random_tensor(numbers, {1, T, Hv}, strongest, 0);
    if (stated) s["state"] = random_tensor(numbers, {1, Hv, K, V}, -1, 1);
    c.sequences.push_back(std::move(s));
  }
  if (numbers.whole(0, 1) == 0) c.settings.options["l2norm"] = "true";
  if (numbers.whole(0, 1) == 0) c.settings.options["scale"] = "0.75";
  test::random_form(c, numbers);
  return c;
}

class DeltaRuleProperties : public testing::TestWithParam<const char*> {};

TEST_P(DeltaRuleProperties, FormsAgree) { test::for_each_case(GetParam(), delta_case, test::check_forms); }
TEST_P(DeltaRuleProperties, EverySplitEqualsTheWhole) { test::for_each_case(GetParam(), delta_case, test::check_split); }
TEST_P(DeltaRuleProperties, CompanyChangesNothing) { test::for_each_case(GetParam(), delta_case, test::check_company); }

INSTANTIATE_TEST_SUITE_P(Mechanisms, DeltaRuleProperties, testing::Values("delta-rule", "gated-delta-rule"),
                         [](const auto& instance) { return instance.index == 0 ? "DeltaRule" : "GatedDeltaRule"; });

}  // namespace
}  // namespace linearmem
