// AM05, AM09-AM18: how the response sets the number of items at which the others outweigh the target. Theory only.
#include <cmath>

#include "associative_memory/quadrature.hpp"
#include "claims/associative_items.hpp"
#include "claims/checks.hpp"
#include "claims/lists.hpp"
#include "linearmem/associative_memory_theory.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kWidth = 64;
constexpr double kBeta = 8;

const ResponseRule kLinear{.response = Response::linear};
ResponseRule relu(int power) { return {.response = Response::relu, .power = power}; }
ResponseRule truncated(int terms) { return {.response = Response::truncated_exp, .terms = terms, .beta = kBeta}; }
const ResponseRule kExp{.response = Response::exp, .beta = kBeta};
const ResponseRule kSoftmax{.response = Response::softmax, .beta = kBeta};
const ResponseRule kLogN{.response = Response::softmax, .beta = kBeta, .sharpen_beyond = 1024};

// Within a part of the expected number.
Check share_check(const std::string& quantity, double expected, double got, double share) {
  return value_check(quantity, expected, got, share * expected);
}

std::string with_number(const char* words, double number) {
  char text[64];
  std::snprintf(text, sizeof text, words, number);
  return text;
}

std::vector<Check> linear_interference(const Mistakes&) {
  return Checks()
      .value("M = 65, K = 64", 1, rms_interference(kLinear, 64, 65), 5e-4)
      .value("M = 128, K = 64", 1.409, rms_interference(kLinear, 64, 128), 5e-4)
      .value("M = 128, K = 256", 0.704, rms_interference(kLinear, 256, 128), 5e-4)
      .list();
}

std::vector<Check> squared_relu(const Mistakes&) {
  return Checks()
      .value("ReLU^2 of 1", 1, respond(relu(2), 1), 1e-15)
      .value("ReLU^2 of 0.6", 0.36, respond(relu(2), 0.6), 1e-15)
      .value("ReLU of 1", 1, respond(relu(1), 1), 1e-15)
      .value("ReLU of 0.6", 0.6, respond(relu(1), 0.6), 1e-15)
      .exact("ReLU^2 of -0.6", 0, respond(relu(2), -0.6))
      .list();
}

std::vector<Check> relu_moments(const Mistakes&) {
  std::vector<Check> checks;
  for (int p : {1, 2, 3}) {
    double gap = 0;
    for (std::int64_t K : {2, 3, 5, 64, 257}) {
      const double by_quadrature = associative::sphere_average([p](double s) { return std::pow(std::max(s, 0.0), 2 * p); }, K);
      if (const double off = std::abs(by_quadrature / interference_per_item(relu(p), K) - 1); !(off <= gap)) gap = off;
    }
    checks.push_back(
        relative_check("E[max(s,0)^" + std::to_string(2 * p) + "], K = 2, 3, 5, 64, 257: quadrature against closed form", gap, 1e-10));
  }
  return checks;
}

std::vector<Check> relu_capacity(const Mistakes&) {
  return Checks()
      .value("linear", 65, capacity(kLinear, kWidth), 0.05)
      .value("ReLU", 129, capacity(relu(1), kWidth), 0.05)
      .value("ReLU^2", 2817, capacity(relu(2), kWidth), 0.05)
      .value("ReLU^3", 38298.6, capacity(relu(3), kWidth), 0.05)
      .list();
}

std::vector<Check> two_exponentials(const Mistakes&) {
  const ResponseRule rule{.response = Response::exp, .beta = 4}, normalized{.response = Response::softmax, .beta = 4};
  const double own = respond(rule, 1), other = respond(rule, 0.6);
  const Matrix weights = associative_weights(two_items().keys, rows({{1, 0}}), normalized);
  return Checks()
      .value("exp(4)", 54.598, own, 5e-4)
      .value("exp(2.4)", 11.023, other, 5e-4)
      .value("their sum", 65.621, own + other, 5e-4)
      .value("softmax of A", 0.8320, weights(0, 0), 5e-4)
      .value("softmax of B", 0.1680, weights(0, 1), 5e-4)
      .value("B over A, exp(-1.6)", 0.202, weights(0, 1) / weights(0, 0), 5e-4)
      .list();
}

std::vector<Check> truncated_capacity(const Mistakes&) {
  std::vector<Check> checks = {value_check("2 terms", 41.5, capacity(truncated(2), kWidth), 0.05),
                               value_check("3 terms", 452.0, capacity(truncated(3), kWidth), 0.05),
                               value_check("4 terms", 3144.46, capacity(truncated(4), kWidth), 0.05)};
  for (int terms : {2, 4}) {
    const double lowest = respond(truncated(terms), -1);
    checks.push_back(stated_check(std::to_string(terms) + " terms at s = -1", "< 0", lowest, lowest < 0));
  }
  return checks;
}

std::vector<Check> normalization(const Mistakes&) {
  const Items items = random_items(61, 50, 16, 8);
  std::vector<std::int64_t> targets;
  for (std::int64_t i = 0; i < 50; ++i) targets.push_back(i);
  const auto ratios = [&](const ResponseRule& rule) {
    return interference(associative_weights(items.keys, items.keys, rule), items.values, targets).ratio;
  };
  const ResponseRule steep{.response = Response::softmax, .beta = 1e4};
  const Matrix o = associative_read(items, items.keys, steep, Form::streaming);
  const double gap = largest_difference(o, items.values);
  return Checks()
      .residual("max |R of softmax - R of exp|", largest_difference(ratios(kSoftmax), ratios(kExp)), 1e-12)
      .stated("logits of 1e4: |read - stored value|", "finite", gap, std::isfinite(gap))
      .list();
}

std::vector<Check> exp_capacity(const Mistakes&) {
  return Checks()
      .add(share_check("Gaussian scores: exp(14)", 1202604.28, 1 / interference_per_item(kExp, kWidth, 1, Moments::gaussian), 1e-6))
      .add(share_check("on the sphere: M at R = 1", 1272264.4, capacity(kExp, kWidth), 1e-6))
      .list();
}

std::vector<Check> noisy_query(const Mistakes&) {
  std::vector<Check> checks;
  const std::pair<double, double> expected[] = {{1, 1202604.2841647768}, {0.9, 242801.61749832364}, {0.5, 403.4287934927351}};
  for (const auto& [rho, items] : expected)
    checks.push_back(
        share_check(with_number("rho = %g", rho), items, 1 / interference_per_item(kExp, kWidth, rho, Moments::gaussian), 1e-9));
  return checks;
}

std::vector<Check> sharpened(const Mistakes&) {
  std::vector<Check> checks;
  const std::pair<std::int64_t, double> betas[] = {{1, 8}, {1024, 8}, {4096, 9.6}, {1048576, 16}};
  for (const auto& [M, beta] : betas) checks.push_back(value_check("beta at " + std::to_string(M), beta, beta_for(kLogN, M), 1e-12));
  checks.push_back(exact_check("R at 1024 less that of the fixed beta", 0,
                               rms_interference(kLogN, kWidth, 1024) - rms_interference(kSoftmax, kWidth, 1024)));
  for (std::int64_t M : {1025, 4096, 1048576}) {
    const double less = rms_interference(kLogN, kWidth, M) - rms_interference(kSoftmax, kWidth, M);
    checks.push_back(stated_check("R at " + std::to_string(M) + " less that of the fixed beta", "< 0", less, less < 0));
  }
  return checks;
}

std::vector<Check> yarn(const Mistakes&) {
  const double factor = yarn_factor(4);
  return Checks().value("0.1 ln 4 + 1, squared", 1.29648, factor * factor, 1e-5).list();
}

constexpr const char* kDense = "Krotov and Hopfield 2016, Dense Associative Memory";
constexpr const char* kExpMemory = "Demircigil et al. 2017; Ramsauer et al. 2021, Hopfield Networks is All You Need";
constexpr const char* kCorrelation = "Kohonen 1972, Correlation Matrix Memories";
constexpr const char* kNone = "none: closed form or quadrature";

}  // namespace

void add_associative_response_claims(std::vector<Claim>& list) {
  list.push_back({"AM05",
                  "associative_memory",
                  "The RMS of R of an outer product memory is sqrt((M - 1)/K).",
                  kCorrelation,
                  kNone,
                  {},
                  linear_interference});
  list.push_back({"AM09",
                  "associative_memory",
                  "A squared ReLU turns scores 1 and 0.6 into 1 and 0.36; negative scores are cut first.",
                  kDense,
                  "scores 1, 0.6, -0.6",
                  {},
                  squared_relu});
  list.push_back({"AM10",
                  "associative_memory",
                  "On the sphere E[max(s,0)^(2p)] = (2p-1)!! / (2 K (K+2) ... (K+2p-2)).",
                  kDense,
                  kNone,
                  {},
                  relu_moments});
  list.push_back({"AM11",
                  "associative_memory",
                  "R reaches 1 (RMS, K = 64) at 65, 129, 2817 and 38 299 items for linear, ReLU, its square and its cube.",
                  kDense,
                  kNone,
                  {},
                  relu_capacity});
  list.push_back({"AM12",
                  "associative_memory",
                  "At beta 4 the exponential answers 54.6 and 11.0 to scores 1 and 0.6; softmax makes that 0.83 and 0.17.",
                  kExpMemory,
                  "scores 1, 0.6; beta 4",
                  {},
                  two_exponentials});
  list.push_back({"AM13",
                  "associative_memory",
                  "Two, three and four terms of exp(8 s) hold 41.5, 452 and 3144 items at K = 64; with an even number of terms s < 0 can "
                  "answer below 0.",
                  "Taylor's series as a response; moments of the sphere",
                  kNone,
                  {},
                  truncated_capacity});
  list.push_back({"AM14",
                  "associative_memory",
                  "Dividing by the softmax sum leaves R as it is, and logits of 10 000 do not overflow.",
                  kExpMemory,
                  "keys (50,16), values (50,8) unit rows of default_rng(61); beta 8 and 10 000",
                  {},
                  normalization});
  list.push_back({"AM15",
                  "associative_memory",
                  "An exponential at beta 8 and K = 64 holds 1.2 million items by the Gaussian approximation and 1.27 million exactly.",
                  kExpMemory,
                  kNone,
                  {},
                  exp_capacity});
  list.push_back({"AM16",
                  "associative_memory",
                  "A query that matches its key at rho only holds exp(2 beta rho - 2 beta^2/K) items.",
                  kExpMemory,
                  kNone,
                  {},
                  noisy_query});
  list.push_back({"AM17",
                  "associative_memory",
                  "LogN sharpening leaves beta alone up to 1024 items and keeps R below the fixed beta's beyond.",
                  "Su 2021, Attention as an entropy: log n scaling",
                  kNone,
                  {},
                  sharpened});
  list.push_back({"AM18",
                  "associative_memory",
                  "YaRN's factor 0.1 ln s + 1 acts on q and on k, so on scores by its square.",
                  "Peng, Quesnelle, Fan and Shippole 2023, YaRN",
                  "s = 4",
                  {},
                  yarn});
}

}  // namespace linearmem
