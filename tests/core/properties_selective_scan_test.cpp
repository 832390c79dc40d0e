// The scans on random shapes; what is checked stands in properties.hpp. Steps of the decay reach from none to so much that nothing is left,
// and no decay exceeds 1: growth over a hundred tokens would leave nothing to compare.
#include "core/properties.hpp"

namespace linearmem {
namespace {

using test::edgy;
using test::Numbers;
using test::random_tensor;
using test::RandomCase;

bool coin(Numbers& numbers) { return numbers.whole(0, 1) == 0; }

// Log decays per step: strong ones now and then.
double strongest(Numbers& numbers) { return numbers.whole(0, 5) == 0 ? -200 : -2; }

RandomCase scan_case(const Mechanism& mechanism, Numbers& numbers) {
  const std::int64_t D = edgy(numbers, 1, 20);
  const double slowest = numbers.whole(0, 3) == 0 ? 0.99 : -1;  // decays of either sign, or all close to 1
  const bool stated = coin(numbers);
  RandomCase c{&mechanism, {}, {}};
  for (std::int64_t n = numbers.whole(2, 3); n > 0; --n) {
    const std::vector<std::int64_t> shape = {1, test::random_length(numbers), D};
    NamedTensors s = {{"a", random_tensor(numbers, shape, slowest, 1)}};
    for (const char* name : {"x", "b", "c"}) s[name] = random_tensor(numbers, shape, -1, 1);
    if (stated) s["state"] = random_tensor(numbers, {1, D}, -1, 1);
    c.sequences.push_back(std::move(s));
  }
  test::random_form(c, numbers);
  return c;
}

RandomCase mamba_case(const Mechanism& mechanism, Numbers& numbers) {
  const std::int64_t D = edgy(numbers, 1, 20), N = edgy(numbers, 1, 6);
  const bool softplus = coin(numbers), skip = coin(numbers), gated = coin(numbers), biased = coin(numbers), stated = coin(numbers);
  const NamedTensor A = random_tensor(numbers, {D, N}, strongest(numbers), 0), skips = random_tensor(numbers, {D}, -1, 1),
                    bias = random_tensor(numbers, {D}, softplus ? -1 : 0, 1);
  RandomCase c{&mechanism, {}, {}};
  for (std::int64_t n = numbers.whole(2, 3); n > 0; --n) {
    const std::int64_t T = test::random_length(numbers);
    NamedTensors s = {{"u", random_tensor(numbers, {1, T, D}, -1, 1)},
                      {"delta", random_tensor(numbers, {1, T, D}, softplus ? -3 : 0, 2)},
                      {"A", A},
                      {"B", random_tensor(numbers, {1, T, N}, -1, 1)},
                      {"C", random_tensor(numbers, {1, T, N}, -1, 1)}};
    if (skip) s["D"] = skips;
    if (gated) s["z"] = random_tensor(numbers, {1, T, D}, -3, 3);
    if (biased) s["delta_bias"] = bias;
    if (stated) s["state"] = random_tensor(numbers, {1, D, N}, -1, 1);
    c.sequences.push_back(std::move(s));
  }
  c.settings.options["softplus"] = softplus ? "true" : "false";
  test::random_form(c, numbers);
  return c;
}

RandomCase ssd_case(const Mechanism& mechanism, Numbers& numbers) {
  const std::int64_t G = edgy(numbers, 1, 2), H = G * numbers.whole(1, 2), N = edgy(numbers, 1, 9), P = edgy(numbers, 1, 20);
  const bool skip = coin(numbers), stated = coin(numbers);
  const NamedTensor A = random_tensor(numbers, {H}, strongest(numbers), 0), skips = random_tensor(numbers, {H}, -1, 1);
  RandomCase c{&mechanism, {}, {}};
  for (std::int64_t n = numbers.whole(2, 3); n > 0; --n) {
    const std::int64_t T = test::random_length(numbers);
    NamedTensors s = {{"x", random_tensor(numbers, {1, T, H, P}, -1, 1)},
                      {"dt", random_tensor(numbers, {1, T, H}, 0, 1)},
                      {"A", A},
                      {"B", random_tensor(numbers, {1, T, G, N}, -1, 1)},
                      {"C", random_tensor(numbers, {1, T, G, N}, -1, 1)}};
    if (skip) s["D"] = skips;
    if (stated) s["state"] = random_tensor(numbers, {1, H, N, P}, -1, 1);
    c.sequences.push_back(std::move(s));
  }
  test::random_form(c, numbers);
  return c;
}

struct Scan {
  const char *mechanism, *name;
  test::CaseMaker make;
};
void PrintTo(const Scan& scan, std::ostream* out) { *out << scan.name; }

class ScanProperties : public testing::TestWithParam<Scan> {
 protected:
  void hold(void (*check)(const RandomCase&, Numbers&)) { test::for_each_case(GetParam().mechanism, GetParam().make, check); }
};

TEST_P(ScanProperties, FormsAgree) { hold(test::check_forms); }
TEST_P(ScanProperties, EverySplitEqualsTheWhole) { hold(test::check_split); }
TEST_P(ScanProperties, CompanyChangesNothing) { hold(test::check_company); }

INSTANTIATE_TEST_SUITE_P(Mechanisms, ScanProperties,
                         testing::Values(Scan{"selective-scan", "SelectiveScan", scan_case}, Scan{"mamba-scan", "MambaScan", mamba_case},
                                         Scan{"ssd", "Ssd", ssd_case}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace linearmem
