// Softmax attention on random shapes; what is checked stands in properties.hpp. It keeps no state: a prefix alone gives the outputs that
// the whole sequence gives there.
#include "core/properties.hpp"

namespace linearmem {
namespace {

using test::edgy;
using test::Numbers;
using test::random_tensor;
using test::RandomCase;

RandomCase causal_case(const Mechanism& mechanism, Numbers& numbers) {
  const std::int64_t Hk = edgy(numbers, 1, 3), H = Hk * numbers.whole(1, 2), K = edgy(numbers, 1, 12), V = edgy(numbers, 1, 20);
  const double largest = numbers.whole(0, 3) == 0 ? 20 : 1;  // logits up to some hundreds now and then
  RandomCase c{&mechanism, {}, {}};
  for (std::int64_t n = numbers.whole(2, 3); n > 0; --n) {
    const std::int64_t T = test::random_length(numbers);
    c.sequences.push_back({{"q", random_tensor(numbers, {1, T, H, K}, -largest, largest)},
                           {"k", random_tensor(numbers, {1, T, Hk, K}, -1, 1)},
                           {"v", random_tensor(numbers, {1, T, Hk, V}, -1, 1)}});
  }
  if (numbers.whole(0, 1) == 0) c.settings.options["scale"] = "0.75";
  if (numbers.whole(0, 1) == 0) c.settings.options["window"] = std::to_string(numbers.whole(1, 20));
  test::random_form(c, numbers);
  return c;
}

RandomCase any_case(const Mechanism& mechanism, Numbers& numbers) {
  RandomCase c = causal_case(mechanism, numbers);
  if (!c.settings.options.count("window") && numbers.whole(0, 1) == 0) c.settings.options["causal"] = "false";
  return c;
}

TEST(SoftmaxAttentionProperties, FormsAgree) { test::for_each_case("softmax-attention", any_case, test::check_forms); }
TEST(SoftmaxAttentionProperties, EveryPrefixEqualsTheWhole) { test::for_each_case("softmax-attention", causal_case, test::check_split); }
TEST(SoftmaxAttentionProperties, CompanyChangesNothing) { test::for_each_case("softmax-attention", any_case, test::check_company); }

}  // namespace
}  // namespace linearmem
