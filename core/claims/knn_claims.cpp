// RM06, RM07: the distribution over the neighbours' tokens, and how it is mixed into the model's.
#include <cmath>
#include <cstring>

#include "claims/checks.hpp"
#include "claims/lists.hpp"
#include "linearmem/knn_memory.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

// Keys 0, 1, 2 on a line, tokens 7, 9, 7 and a query at 0: squared distances 0, 1, 4. NaN where a door refuses.
template <typename T>
Tensor<double, 2> memory_of_three() {
  const Tensor<T, 2> keys({3, 1}, {0, 1, 2}), query({1, 1}, {0});
  const std::int64_t token_of[] = {7, 9, 7};
  Tensor<std::int64_t, 2> ids({1, 3}), tokens({1, 3});
  Tensor<double, 2> distances({1, 3}), prob({1, 10}), refused({1, 10}, std::nan(""));
  const Status found = knn_search(
      KnnSearchArguments<T>{.keys = keys.view(), .queries = query.view(), .k = 3, .ids = ids.view(), .distances = distances.view()});
  if (!found.ok()) return refused;
  for (std::int64_t r = 0; r < 3; ++r) tokens(0, r) = token_of[ids(0, r)];
  const Status spread = knn_distribution({.distances = distances.view(), .tokens = tokens.view(), .temperature = 1, .prob = prob.view()});
  return spread.ok() ? prob : refused;
}

double mixed(double memory, double model, double weight) {
  const Tensor<double, 2> a({1, 1}, memory), b({1, 1}, model);
  Tensor<double, 2> out({1, 1});
  const Status status = knn_interpolate({.memory = a.view(), .model = b.view(), .weight = weight, .mixed = out.view()});
  return status.ok() ? out(0, 0) : std::nan("");
}

std::vector<Check> distribution(const Mistakes&) {
  const Tensor<double, 2> prob = memory_of_three<double>();
  double total = 0, elsewhere = 0;
  for (std::int64_t y = 0; y < 10; ++y) {
    total += prob(0, y);
    if (y != 7 && y != 9) elsewhere += std::abs(prob(0, y));
  }
  return Checks()
      .value("sum over tokens", 1, total, 1e-12)
      .exact("mass on tokens that no neighbour has", 0, elsewhere)
      .value("p(7)", 0.734612071228, prob(0, 7), 1e-12)
      .value("0.25 p(7) + 0.75 x 0.1", 0.258653017807, mixed(prob(0, 7), 0.1, 0.25), 1e-12)
      .list();
}

std::vector<Check> ends(const Mistakes&) {
  // Neither third nor tenth is a binary fraction: 1 x p + 0 x q could round.
  const double memory = 1.0 / 3, model = 0.1;
  const auto differs = [](double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0 ? 0.0 : 1.0; };
  return Checks()
      .exact("bits that differ from the model's, weight 0", 0, differs(mixed(memory, model, 0), model))
      .exact("bits that differ from the memory's, weight 1", 0, differs(mixed(memory, model, 1), memory))
      .list();
}

}  // namespace

void add_knn_claims(std::vector<Claim>& list) {
  const char* source = "Khandelwal et al. 2020, Generalization through Memorization: Nearest Neighbor Language Models";
  list.push_back(
      {"RM06",
       "knn_memory",
       "The memory's distribution sums to 1, has mass on the neighbours' tokens alone, and is mixed into the model's by one weight.",
       source,
       "keys 0, 1, 2 with tokens 7, 9, 7, query 0, temperature 1; weight 0.25, p_model(7) = 0.1",
       {},
       distribution});
  list.push_back({"RM07",
                  "knn_memory",
                  "Mixed with weight 0 the model's probabilities come back bit for bit, with weight 1 the memory's.",
                  source,
                  "p_memory = 1/3, p_model = 0.1",
                  {},
                  ends});
}

}  // namespace linearmem
