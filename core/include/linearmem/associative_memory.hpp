// Associative memory: pairs of key and value are stored, and a query reads a weighted sum of all values.
//
//   o = sum_i w_i(q) v_i
//
// How sharply the weights w_i pick out one pair decides how many pairs can be stored before they drown each other:
//   linear         w_i = s_i                               s_i = q k_i^T; the same as o = q S with S = sum_i k_i^T v_i
//   relu           w_i = max(s_i, 0)^power
//   truncated_exp  w_i = sum_{j < terms} (beta s_i)^j / j!
//   exp            w_i = exp(beta s_i)
//   softmax        w_i = exp(beta s_i) / sum_m exp(beta s_m)
//   least_squares  w = q pinv(keys); the same as o = q S with S = pinv(keys) values
//
// Sources: Kohonen 1972, Anderson 1972 (the outer product); Penrose 1955, Kohonen 1974 (least squares); Krotov & Hopfield 2016
// (powers of a ReLU); Demircigil et al. 2017 (exp); Ramsauer et al. 2021, "Hopfield Networks is All You Need" (softmax, the step).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "linearmem/form.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

enum class Response { linear, relu, truncated_exp, exp, softmax, least_squares };

// A response with its numbers. Those it does not use are not looked at.
struct ResponseRule {
  Response response = Response::linear;
  int power = 1;    // relu: 1 to 16
  int terms = 2;    // truncated_exp: 1 to 17; 2 is 1 + beta s, 3 adds its square over 2
  double beta = 1;  // truncated_exp, exp, softmax
  // LogN: beta is meant for up to this many items; with M items more it grows to beta ln M / ln(these). At least 2; absent: never.
  std::optional<std::int64_t> sharpen_beyond = {};
};

// "linear", "relu", "relu2" ... "relu16", "truncated-exp", "exp", "softmax", "logn-softmax", "least-squares".
std::string response_name(const ResponseRule& rule);
std::optional<ResponseRule> response_named(std::string_view name);  // logn-softmax sharpens beyond 1024; the rest as declared above

double beta_for(const ResponseRule& rule, std::int64_t items);  // beta, sharpened where the rule says so

// w for score s, before any normalization: softmax answers as exp. NaN for least_squares, whose weights depend on all keys.
double respond(const ResponseRule& rule, double s, std::int64_t items = 1);

// Rotary embeddings stretched to s times the length (YaRN) multiply q and k by 0.1 ln s + 1 each, so scores by its square.
// Source: Peng, Quesnelle, Fan & Shippole 2023. s of at least 1.
double yarn_factor(double s);

// M items, K key width, V value width, Q queries.
template <typename T>
struct AssociativeReadArguments {
  View<const T, 2> keys;     // [M,K]
  View<const T, 2> values;   // [M,V]
  View<const T, 2> queries;  // [Q,K]
  ResponseRule rule = {};
  Form form = Form::automatic;  // reference (item by item), explicit (two layers: all weights of a query, then values), streaming

  View<T, 2> o;  // [Q,V]
};

// With M = 0 every output is 0. Sums are float64 whatever T is. least_squares ignores the form but for reference, which applies
// w = q pinv(keys) instead of S. Errors: an axis that differs, a number of the rule out of its range, an input or an output that
// is not finite, a form it lacks. Outputs are written only when the result is ok.
Status associative_read(const AssociativeReadArguments<float>& arguments);
Status associative_read(const AssociativeReadArguments<double>& arguments);

// Numbers a two-layer network o = g(q W1^T) W2 with `hidden` units holds: with one unit per item it is the read above.
constexpr std::int64_t two_layer_numbers(std::int64_t hidden, std::int64_t key_width, std::int64_t value_width) {
  return hidden * (key_width + value_width);
}

// The weights themselves, [Q,M], float64. Errors as above.
struct AssociativeWeightsArguments {
  View<const double, 2> keys;     // [M,K]
  View<const double, 2> queries;  // [Q,K]
  ResponseRule rule = {};
  View<double, 2> weights;  // [Q,M]
};
Status associative_weights(const AssociativeWeightsArguments& arguments);

// A read split into what its own item brings and what all others bring: R = |sum of others| / |target part|.
struct InterferenceArguments {
  View<const double, 2> weights;                  // [Q,M]
  View<const double, 2> values;                   // [M,V]
  View<const std::int64_t, 1> targets;            // [Q], the item each query is after
  View<double, 2> target_part = {}, others = {};  // [Q,V]; absent: not kept
  View<double, 1> ratio;                          // [Q], R; infinite where only the others answer
};

// Errors: an axis that differs, a target outside 0 .. M-1, an input that is not finite, a query that nothing answers (0 / 0).
Status interference(const InterferenceArguments& arguments);

// What may be said of many R at once; three different numbers. NaN when there is none.
struct RatioStatistics {
  double rms, median, mean;
};
RatioStatistics ratio_statistics(std::span<const double> ratios);

enum class WriteRule {
  outer_product,  // S = sum_i k_i^T v_i
  least_squares,  // S = pinv(keys) values: smallest sum |k_i S - v_i|^2, and of those the smallest |S|
  delta,          // item by item: S += beta k_i^T (v_i - k_i S)
};

std::string_view write_rule_name(WriteRule rule);  // "outer-product", "least-squares", "delta"
std::optional<WriteRule> write_rule_named(std::string_view name);

struct WriteReport {
  std::int64_t rank = 0;  // of the keys: singular values above max(M, K) 2^-52 times the largest
  double condition = 0;   // the largest singular value over the smallest of these; 0 where the rank is 0
  double residual = 0;    // |keys S - values|, Frobenius
};

template <typename T>
struct AssociativeWriteArguments {
  View<const T, 2> keys;    // [M,K]
  View<const T, 2> values;  // [M,V]
  WriteRule rule = WriteRule::outer_product;
  double beta = 1;  // delta: how far each write goes
  Form form = Form::automatic;  // reference

  View<T, 2> S;                   // [K,V], to be read as q S
  WriteReport* report = nullptr;  // absent: not computed
};

// Duplicate keys lower the rank and share their values' mean in least_squares; a zero key stores nothing. Computed in float64.
// Errors: an axis that differs, an input or an output that is not finite. Outputs are written only when the result is ok.
Status associative_write(const AssociativeWriteArguments<float>& arguments);
Status associative_write(const AssociativeWriteArguments<double>& arguments);

enum class HopfieldStop : std::int64_t {
  step_limit = 0,  // max_steps were taken
  settled = 1,     // the softmax vector moved by at most the tolerance: a stop rule, no proof of a fixed point
};

// Modern Hopfield network: each step reads the patterns with the state, p = softmax(beta patterns x^T), x = p patterns.
template <typename T>
struct HopfieldArguments {
  View<const T, 2> patterns;  // [M,K], M of at least 1
  View<const T, 2> start;     // [Q,K]
  double beta = 1;
  std::int64_t max_steps = 1000;  // at least 1; 1 is one read of attention
  double tolerance = 1e-4;        // on |p - p of the step before|, Euclidean; at least 0
  Form form = Form::automatic;    // reference

  View<T, 2> states;                   // [Q,K]
  View<T, 2> weights = {};             // [Q,M], p of the last step; absent: not kept
  View<std::int64_t, 1> steps = {};    // [Q]; absent: not kept
  View<std::int64_t, 1> stopped = {};  // [Q], HopfieldStop; absent: not kept
  View<T, 3> path = {};                // [max_steps+1,Q,K], states from the start on, the last one repeated; absent: not kept
  View<T, 2> energy = {};              // [max_steps+1,Q], along the path; absent: not kept
};

// Energy: -ln(sum_i exp(beta p_i x^T)) / beta + |x|^2 / 2 + ln(M) / beta + max |p_i|^2 / 2; no step raises it (beta > 0).
// Errors: an axis that differs, beta not above 0, max_steps, tolerance or M out of range, an input that is not finite,
// another form.
Status hopfield(const HopfieldArguments<float>& arguments);
Status hopfield(const HopfieldArguments<double>& arguments);

}  // namespace linearmem
