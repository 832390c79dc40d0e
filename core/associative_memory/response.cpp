// Names and meanings of the responses: the definition that every form is held to.
#include <algorithm>
#include <cmath>
#include <limits>

#include "linearmem/associative_memory.hpp"

namespace linearmem {
namespace {

constexpr int kMostPower = 16;
constexpr std::int64_t kTrainedItems = 1024;

}  // namespace

std::string response_name(const ResponseRule& rule) {
  switch (rule.response) {
    case Response::linear: return "linear";
    case Response::relu: return rule.power == 1 ? "relu" : "relu" + std::to_string(rule.power);
    case Response::truncated_exp: return "truncated-exp";
    case Response::exp: return "exp";
    case Response::softmax: return rule.sharpen_beyond ? "logn-softmax" : "softmax";
    case Response::least_squares: return "least-squares";
  }
  return "";
}

std::optional<ResponseRule> response_named(std::string_view name) {
  for (Response response : {Response::linear, Response::truncated_exp, Response::exp, Response::softmax, Response::least_squares})
    if (const ResponseRule rule{.response = response}; name == response_name(rule)) return rule;
  for (int power = 1; power <= kMostPower; ++power)
    if (const ResponseRule rule{.response = Response::relu, .power = power}; name == response_name(rule)) return rule;
  const ResponseRule sharpened{.response = Response::softmax, .sharpen_beyond = kTrainedItems};
  return name == response_name(sharpened) ? std::optional(sharpened) : std::nullopt;
}

double beta_for(const ResponseRule& rule, std::int64_t items) {
  if (!rule.sharpen_beyond || items <= *rule.sharpen_beyond) return rule.beta;
  return rule.beta * (std::log(static_cast<double>(items)) / std::log(static_cast<double>(*rule.sharpen_beyond)));
}

double respond(const ResponseRule& rule, double s, std::int64_t items) {
  const double x = beta_for(rule, items) * s;
  switch (rule.response) {
    case Response::linear: return s;
    case Response::relu: return std::pow(std::max(s, 0.0), rule.power);
    case Response::truncated_exp: {
      double sum = 0, term = 1;
      for (int j = 0; j < rule.terms; term *= x / ++j) sum += term;
      return sum;
    }
    case Response::exp:
    case Response::softmax: return std::exp(x);
    case Response::least_squares: break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double yarn_factor(double s) { return 0.1 * std::log(s) + 1; }

}  // namespace linearmem
