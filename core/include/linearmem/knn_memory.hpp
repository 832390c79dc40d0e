// The kNN memory of a language model: stored pairs of a key (what the context looked like) and a token (what came next). A query finds
// its nearest keys; their tokens, weighed by distance, are a distribution of their own, which is mixed into the model's.
//
//   d_i = |q - k_i|^2  or  -q k_i^T                  the k smallest, ties by the smaller id, which is the key's row
//   w_i = exp(-d_i / temperature) / sum_j exp(-d_j / temperature)
//   p_memory(y) = sum of w_i over neighbours whose token is y
//   p = weight p_memory + (1 - weight) p_model
//
// Source: Khandelwal, Levy, Jurafsky, Zettlemoyer & Lewis 2020, "Generalization through Memorization: Nearest Neighbor Language Models".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "linearmem/backend.hpp"
#include "linearmem/executor.hpp"
#include "linearmem/form.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

enum class Metric { squared_l2, inner_product };

std::string_view metric_name(Metric metric);  // "squared-l2", "inner-product"
std::optional<Metric> metric_named(std::string_view name);

// Columns of the answers: k, or the number of keys where fewer are allowed.
constexpr std::int64_t knn_columns(std::int64_t keys, std::int64_t k, bool at_most_k) { return at_most_k && keys < k ? keys : k; }

// M stored keys of width D, Q queries, R = knn_columns(M, k, at_most_k).
template <typename T>
struct KnnSearchArguments {
  View<const T, 2> keys;     // [M,D]
  View<const T, 2> queries;  // [Q,D]
  std::int64_t k = 1;        // at least 1
  bool at_most_k = false;    // with fewer than k keys: all of them; else that is an error with both numbers
  Metric metric = Metric::squared_l2;
  Form form = Form::automatic;  // reference (all distances, sorted), streaming (keys read once for a block of queries)
  const Executor* executor = nullptr;  // whose threads to use; none: the calling thread. Same bits either way
  const Backend* backend = nullptr;  // where to compute; none: this processor

  View<std::int64_t, 2> ids;  // [Q,R], nearest first
  View<double, 2> distances;  // [Q,R], ascending; of inner_product the negative product, so that nearer is smaller there too
};

// Exact: every distance handed out is the float64 sum over differences, column after column, whatever T is, and no key that is nearer by
// that sum is missing. A query gives the same bits in every form, alone, in any batch and on any executor; the squared distance is never
// taken as |q|^2 + |k|^2 - 2 q k^T, which loses near neighbours of large keys. Strides are honoured.
// Errors: an axis that differs, k below 1 or, without at_most_k, above M, a key or query that is not finite (named), a distance past
// float64. Outputs are written only when the result is ok.
Status knn_search(const KnnSearchArguments<float>& arguments);
Status knn_search(const KnnSearchArguments<double>& arguments);

// The neighbours' tokens as a distribution over V of them. R of at least 1: nothing is known where there is no neighbour.
struct KnnDistributionArguments {
  View<const double, 2> distances;     // [Q,R], in any order; the smallest is subtracted first, so that no size overflows
  View<const std::int64_t, 2> tokens;  // [Q,R], of the neighbours, each 0 .. V-1
  double temperature = 1;              // above 0

  View<double, 2> weights = {};  // [Q,R], sum 1; absent: not kept
  View<double, 2> prob;          // [Q,V], sum 1, exactly 0 where no neighbour has the token
};
// Errors: an axis that differs, R of 0, a temperature not above 0, a distance that is not finite, a token outside 0 .. V-1 (named).
// Outputs are written only when the result is ok.
Status knn_distribution(const KnnDistributionArguments& arguments);

enum class ProbabilitySpace { linear, log };

// weight a + (1 - weight) b, or in log space log(weight e^a + (1 - weight) e^b) without leaving it. Weight 0 and 1 return model and
// memory bit for bit, and then the other side is not looked at.
struct KnnInterpolationArguments {
  View<const double, 2> memory, model;  // [Q,V], probabilities or their natural logs
  double weight = 0.25;                 // of the memory, 0 to 1
  ProbabilitySpace space = ProbabilitySpace::linear;

  View<double, 2> mixed;  // [Q,V]
};

// Errors: an axis that differs, a weight out of range, a number that is no probability (more than 1e-5 above 1 is none) or no log of one.
// Outputs are written only when the result is ok.
Status knn_interpolate(const KnnInterpolationArguments& arguments);

// exp of the mean of -log p over the tokens that came, [T], T of at least 1; infinite where one of them had probability 0. Errors: no
// token, a number that is no natural log of a probability.
Result<double> perplexity(const View<const double, 1>& log_probabilities);

}  // namespace linearmem
