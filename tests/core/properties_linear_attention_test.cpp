// Linear attention, with and without gates, on random shapes; what is checked stands in properties.hpp.
#include "core/properties.hpp"

namespace linearmem {
namespace {

using test::edgy;
using test::Numbers;
using test::random_tensor;
using test::RandomCase;

// Whether a quotient of sums is well determined in float32 is a matter of the inputs: without eps every key must count (elu1), and a
// feature of either sign (identity) is not normalized.
void choose_options(RandomCase& c, Numbers& numbers) {
  const std::int64_t feature = numbers.whole(0, 2);
  auto& options = c.settings.options;
  options["feature"] = feature == 0 ? "elu1" : feature == 1 ? "relu" : "identity";
  options["normalize"] = feature == 2 || numbers.whole(0, 3) == 0 ? "false" : "true";
  options["eps"] = feature == 0 && numbers.whole(0, 1) == 0 ? "0" : numbers.whole(0, 1) == 0 ? "1e-6" : "0.1";
}

RandomCase causal_case(const Mechanism& mechanism, Numbers& numbers) {
  const std::int64_t Hk = edgy(numbers, 1, 3), H = Hk * numbers.whole(1, 2), K = edgy(numbers, 1, 12), V = edgy(numbers, 1, 20);
  const std::int64_t gates = numbers.whole(0, 2);
  const bool stated = numbers.whole(0, 1) == 0, masked = numbers.whole(0, 1) == 0;
  RandomCase c{&mechanism, {}, {}};
  for (std::int64_t n = numbers.whole(2, 3); n > 0; --n) {
    const std::int64_t T = test::random_length(numbers);
    NamedTensors s = {{"q", random_tensor(numbers, {1, T, H, K}, -1, 1)},
                      {"k", random_tensor(numbers, {1, T, Hk, K}, -1, 1)},
                      {"v", random_tensor(numbers, {1, T, Hk, V}, -1, 1)}};
    if (gates == 1) s["g"] = random_tensor(numbers, {1, T, H}, -2, 0);
    if (gates == 2) s["g_key"] = random_tensor(numbers, {1, T, H, K}, -2, 0);
    if (stated) s["state"] = random_tensor(numbers, {1, H, K, V}, -1, 1);
    if (stated) s["z"] = random_tensor(numbers, {1, H, K}, 0.1, 1);
    if (masked) {
      std::vector<std::uint8_t> mask(static_cast<std::size_t>(T));
      for (std::uint8_t& seen : mask) seen = numbers.whole(0, 2) > 0;
      s["key_mask"] = to_named(mask, {1, T});
    }
    c.sequences.push_back(std::move(s));
  }
  choose_options(c, numbers);
  test::random_form(c, numbers);
  return c;
}

RandomCase any_case(const Mechanism& mechanism, Numbers& numbers) {
  RandomCase c = causal_case(mechanism, numbers);
  if (!c.sequences[0].count("g") && !c.sequences[0].count("g_key") && numbers.whole(0, 1) == 0) c.settings.options["causal"] = "false";
  return c;
}

// What masked tokens hold: NaN in k, v and the gates gives the bits that the random numbers give.
void check_masked_tokens_are_not_looked_at(const RandomCase& c, Numbers&) {
  NamedTensors hidden = c.sequences[0];
  if (!hidden.count("key_mask")) return;
  const NamedTensor& mask = hidden.at("key_mask");
  for (const char* name : {"k", "v", "g", "g_key"}) {
    if (!hidden.count(name)) continue;
    const std::int64_t step = test::bytes_below(hidden[name], 1);
    for (std::int64_t t = 0; t < mask.shape[1]; ++t)
      if (mask.bytes[static_cast<std::size_t>(t)] == std::byte{0})
        std::fill_n(hidden[name].bytes.begin() + t * step, step, std::byte{0xff});
  }
  EXPECT_TRUE(test::same_bits(test::run_case(c, hidden), test::run_case(c, c.sequences[0]))) << form_name(c.settings.form);
}

constexpr const char* kName = "linear-attention";

TEST(LinearAttentionProperties, FormsAgree) { test::for_each_case(kName, any_case, test::check_forms); }
TEST(LinearAttentionProperties, EverySplitEqualsTheWhole) { test::for_each_case(kName, causal_case, test::check_split); }
TEST(LinearAttentionProperties, CompanyChangesNothing) { test::for_each_case(kName, any_case, test::check_company); }
TEST(LinearAttentionProperties, MaskedTokensAreNotLookedAt) { test::for_each_case(kName, any_case, check_masked_tokens_are_not_looked_at); }

}  // namespace
}  // namespace linearmem
