// RM13: how adaptive computation time weighs the rounds of a token.
#include <cmath>
#include <string>

#include "claims/checks.hpp"
#include "claims/lists.hpp"
#include "linearmem/depth_recurrence.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

struct Weighed {
  double n, mixed;
  std::vector<double> weights;
};

// One token whose states after the rounds are the numbers x. A door that refuses leaves NaN.
template <typename T>
Weighed weigh_in(const std::vector<double>& p, const std::vector<double>& x, Halting halting) {
  const auto R = static_cast<std::int64_t>(p.size());
  const Tensor<T, 3> probabilities({1, 1, R}, std::vector<T>(p.begin(), p.end()));
  const Tensor<T, 4> states({R, 1, 1, 1}, std::vector<T>(x.begin(), x.end()));
  Tensor<T, 3> mixed({1, 1, 1}), weights({1, 1, R});
  Tensor<std::int64_t, 2> n({1, 1});
  const Status status = adaptive_computation_time(AdaptiveComputationTimeArguments<T>{
      .p = probabilities.view(), .x = states.view(), .halting = halting, .o = mixed.view(), .weights = weights.view(), .n = n.view()});
  if (!status.ok()) return {std::nan(""), std::nan(""), std::vector<double>(p.size(), std::nan(""))};
  return {static_cast<double>(n(0, 0)), mixed(0, 0, 0), std::vector<double>(weights.values().begin(), weights.values().end())};
}

Weighed weigh(const Mistakes& mistakes, const std::vector<double>& p, const std::vector<double>& x, Halting halting = Halting::graves) {
  return mistakes.count(Mistake::single_precision) ? weigh_in<float>(p, x, halting) : weigh_in<double>(p, x, halting);
}

std::vector<Check> halting_weights(const Mistakes& mistakes) {
  std::vector<Check> checks;
  const auto add_weights = [&](const std::string& of, const std::vector<double>& expected, const Weighed& got) {
    for (std::size_t r = 0; r < expected.size(); ++r)
      checks.push_back(value_check(of + ": weight " + std::to_string(r + 1), expected[r], got.weights[r], 1e-12));
  };
  const Weighed three = weigh(mistakes, {.1, .2, .9}, {0, 0, 0}), two = weigh(mistakes, {.6, .6}, {1, 10});
  checks.push_back(exact_check("p = .1, .2, .9: rounds n", 3, three.n));
  add_weights("p = .1, .2, .9", {.1, .2, .7}, three);
  checks.push_back(value_check("p = .6, .6 mixes the states 1, 10 to", 4.6, two.mixed, 1e-12));
  const std::vector<double> small(10, .05), nothing(10, 0.0);
  std::vector<double> with_rest(small);
  with_rest.back() = .55;
  add_weights("p = .05, cap 10", with_rest, weigh(mistakes, small, nothing));
  add_weights("p = .05, cap 10 without remainder", small, weigh(mistakes, small, nothing, Halting::cap_without_remainder));
  return checks;
}

}  // namespace

void add_depth_claims(std::vector<Claim>& list) {
  list.push_back({"RM13", "depth_recurrence",
                  "A token halts in the round in which its probabilities reach 1 - eps; the last round weighs what is left of 1, at the cap too.",
                  "Graves 2016, Adaptive Computation Time for Recurrent Neural Networks",
                  "p = .1,.2,.9; p = .6,.6 on states 1, 10; ten of p = .05; eps 0.01", {Mistake::single_precision}, halting_weights});
}

}  // namespace linearmem
