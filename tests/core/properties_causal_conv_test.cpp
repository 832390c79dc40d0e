// The causal convolution on random shapes; what is checked stands in properties.hpp.
#include "core/properties.hpp"

namespace linearmem {
namespace {

using test::edgy;
using test::Numbers;
using test::random_tensor;
using test::RandomCase;

// Filters of one tap, and filters longer than most sequences.
RandomCase conv_case(const Mechanism& mechanism, Numbers& numbers) {
  const std::int64_t D = edgy(numbers, 1, 20), W = edgy(numbers, 1, 8);
  const bool biased = numbers.whole(0, 1) == 0, stated = numbers.whole(0, 1) == 0;
  const NamedTensor weight = random_tensor(numbers, {D, W}, -1, 1), bias = random_tensor(numbers, {D}, -1, 1);
  RandomCase c{&mechanism, {}, {}};
  for (std::int64_t n = numbers.whole(2, 3); n > 0; --n) {
    NamedTensors s = {{"x", random_tensor(numbers, {1, test::random_length(numbers), D}, -2, 2)}, {"weight", weight}};
    if (biased) s["bias"] = bias;
    if (stated) s["state"] = random_tensor(numbers, {1, D, W - 1}, -2, 2);
    c.sequences.push_back(std::move(s));
  }
  c.settings.options["activation"] = numbers.whole(0, 1) == 0 ? "silu" : "none";
  test::random_form(c, numbers);
  return c;
}

TEST(CausalConvProperties, FormsAgree) { test::for_each_case("causal-conv", conv_case, test::check_forms); }
TEST(CausalConvProperties, EverySplitEqualsTheWhole) { test::for_each_case("causal-conv", conv_case, test::check_split); }
TEST(CausalConvProperties, CompanyChangesNothing) { test::for_each_case("causal-conv", conv_case, test::check_company); }

}  // namespace
}  // namespace linearmem
