// AM01-AM04, AM07, AM08, AM19, AM20: what is written, what is read back, and what the others add to it.
#include <algorithm>
#include <cmath>

#include "associative_memory/picture.hpp"
#include "claims/associative_items.hpp"
#include "claims/checks.hpp"
#include "claims/lists.hpp"
#include "linearmem/associative_memory_sampling.hpp"

namespace linearmem {
namespace {

const ResponseRule kLinear{.response = Response::linear};
const ResponseRule kLeastSquares{.response = Response::least_squares};

void add_entries(std::vector<Check>& checks, const std::string& quantity, const Matrix& expected, const Matrix& got, double tolerance) {
  for (std::int64_t i = 0; i < expected.extents()[0]; ++i)
    for (std::int64_t j = 0; j < expected.extents()[1]; ++j) {
      const std::string place = expected.extents()[0] == 1 ? std::to_string(j) : std::to_string(i) + "," + std::to_string(j);
      checks.push_back(value_check(quantity + "[" + place + "]", expected(i, j), got(i, j), tolerance));
    }
}

Matrix sum(const Matrix& a, const Matrix& b) {
  Matrix total = a;
  for (std::int64_t i = 0; i < a.size(); ++i) total.values()[i] += b.values()[i];
  return total;
}

std::vector<Check> target_and_others(const Mistakes&) {
  const Items items = random_items(51, 20, 8, 5);
  const std::vector<std::int64_t> targets = {0, 7, 19};
  Matrix queries({3, 8}), own({3, 5});
  for (std::int64_t q = 0; q < 3; ++q) {
    for (std::int64_t c = 0; c < 8; ++c) queries(q, c) = items.keys(targets[q], c);
    for (std::int64_t j = 0; j < 5; ++j) own(q, j) = items.values(targets[q], j);  // a unit key answers itself with 1
  }
  const Matrix o = associative_read(items, queries, kLinear);
  const Split split = interference(associative_weights(items.keys, queries, kLinear), items.values, targets);
  double ratio_gap = 0;
  for (std::int64_t q = 0; q < 3; ++q) {
    double others = 0;
    for (std::int64_t j = 0; j < 5; ++j) others += (o(q, j) - own(q, j)) * (o(q, j) - own(q, j));
    if (const double gap = std::abs(split.ratio(0, q) - std::sqrt(others)); !(gap <= ratio_gap)) ratio_gap = gap;
  }
  return Checks()
      .residual("max |read - (target part + others)|", largest_difference(o, sum(split.target_part, split.others)), 1e-12)
      .residual("target part against the value itself", largest_difference(split.target_part, own), 1e-12)
      .residual("R against |read - value|", ratio_gap, 1e-12)
      .list();
}

std::vector<Check> picture_read_back(const Mistakes&) {
  Items items = random_items(20261021, 256, 64, 64);
  const std::vector<double> picture = associative::unit_value(associative::kLetterT);
  std::copy(picture.begin(), picture.end(), items.values.values().begin());
  std::vector<Check> checks;
  const std::pair<std::int64_t, double> expected[] = {{1, 0}, {16, 0.4547401758}, {64, 1.0385557808}, {256, 2.1423577059}};
  for (const auto& [M, ratio] : expected) {
    const Matrix weights = associative_weights(slice(items.keys, 0, M), slice(items.keys, 0, 1), kLinear);
    const Split split = interference(weights, slice(items.values, 0, M), {0});
    checks.push_back(value_check("R with " + std::to_string(M) + (M == 1 ? " item" : " items"), ratio, split.ratio(0, 0), 1e-9));
  }
  return checks;
}

std::vector<Check> outer_product_by_hand(const Mistakes&) {
  const Items items = two_items();
  const Matrix S = associative_write(items, WriteRule::outer_product).S;
  std::vector<Check> checks;
  add_entries(checks, "W", rows({{1, 0}, {0.6, 0.8}}), transposed(S), 1e-15);
  add_entries(checks, "query A reads ", rows({{1, 0.6}}), times(slice(items.keys, 0, 1), S), 1e-15);
  add_entries(checks, "query B reads ", rows({{0.6, 1}}), times(slice(items.keys, 1, 2), S), 1e-15);
  return checks;
}

std::vector<Check> matrix_is_item_sum(const Mistakes& mistakes) {
  const Items items = random_items(52, 40, 16, 9);
  RandomMatrices random(53);
  const Matrix x = random.next(6, 16);
  const Matrix read = times(x, associative_write(items, WriteRule::outer_product).S);
  const Matrix sums = mistakes.count(Mistake::single_precision) ? associative_read_float32(items, x, kLinear, Form::reference)
                                                                : associative_read(items, x, kLinear);
  return Checks().residual("max |W x - sum v_i (k_i . x)|", largest_difference(read, sums), 1e-12).list();
}

std::vector<Check> least_squares_by_hand(const Mistakes&) {
  const Items items = two_items();
  const Written written = associative_write(items, WriteRule::least_squares);
  std::vector<Check> checks;
  add_entries(checks, "W", rows({{1, -0.75}, {0, 1.25}}), transposed(written.S), 1e-12);
  add_entries(checks, "query A reads ", rows({{1, 0}}), times(slice(items.keys, 0, 1), written.S), 1e-12);
  add_entries(checks, "query B reads ", rows({{0, 1}}), times(slice(items.keys, 1, 2), written.S), 1e-12);
  checks.push_back(exact_check("rank of the keys", 2, static_cast<double>(written.report.rank)));
  return checks;
}

// max over j of |sum_{i != j} P_ij^2 - (P_jj - P_jj^2)| for the projection P that reading every stored key makes.
double projection_gap() {
  const Items items = random_items(54, 100, 16, 1);
  const Matrix P = associative_weights(items.keys, items.keys, kLeastSquares);
  double largest = 0;
  for (std::int64_t j = 0; j < 100; ++j) {
    double others = 0;
    for (std::int64_t i = 0; i < 100; ++i) others += i == j ? 0 : P(i, j) * P(i, j);
    if (const double gap = std::abs(others - (P(j, j) - P(j, j) * P(j, j))); !(gap <= largest)) largest = gap;
  }
  return largest;
}

std::vector<Check> least_squares_limit(const Mistakes&) {
  const auto sampled = [](std::int64_t items) {
    auto sampler = InterferenceSampler::create(
        {.K = 64, .V = 64, .rules = {kLeastSquares}, .items = {items}, .queries = 64, .first_seed = 55, .seeds = 8});
    if (!sampler.ok() || !sampler.value().run().ok()) return std::nan("");
    return sampler.value().at(0, 0).rms.value;
  };
  const Items few = random_items(56, 64, 64, 8);
  const Written written = associative_write(few, WriteRule::least_squares);
  return Checks()
      .residual("max |sum_{i != j} P_ij^2 - (P_jj - P_jj^2)|", projection_gap(), 1e-10)
      .value("RMS of R, 128 items, K = 64, sampled", 1, sampled(128), 0.03)
      .residual("|K S - V|, 64 items, K = 64", written.report.residual, 1e-10)
      .exact("rank of these keys", 64, static_cast<double>(written.report.rank))
      .list();
}

std::vector<Check> two_layers(const Mistakes& mistakes) {
  const Items items = random_items(57, 300, 16, 8);
  const Matrix x = RandomMatrices(58).unit_rows(5, 16);
  std::vector<Check> checks;
  const ResponseRule rules[] = {
      {.response = Response::relu, .power = 3}, {.response = Response::exp, .beta = 2}, {.response = Response::softmax, .beta = 8}};
  for (const ResponseRule& rule : rules) {
    const Matrix network = mistakes.count(Mistake::single_precision) ? associative_read_float32(items, x, rule, Form::explicit_)
                                                                     : associative_read(items, x, rule, Form::explicit_);
    checks.push_back(residual_check(response_name(rule) + ": max |W2 g(W1 x) - sum over items|",
                                    largest_difference(network, associative_read(items, x, rule)), 1e-12));
  }
  checks.push_back(exact_check("numbers held, H = 300, K = 16, V = 8", 7200, static_cast<double>(two_layer_numbers(300, 16, 8))));
  return checks;
}

double squared_error(const Matrix& S, const Matrix& x, const Matrix& wanted) {
  const Matrix read = times(x, S);
  double squares = 0;
  for (std::int64_t j = 0; j < read.size(); ++j)
    squares += (read.values()[j] - wanted.values()[j]) * (read.values()[j] - wanted.values()[j]);
  return squares / 2;
}

std::vector<Check> gradient_is_outer_product(const Mistakes&) {
  RandomMatrices random(59);
  Matrix S = random.next(4, 3);
  const Matrix x = random.next(1, 4), wanted = random.next(1, 3), read = times(x, S);
  Items step{x, read};
  for (std::int64_t j = 0; j < 3; ++j) step.values(0, j) -= wanted(0, j);  // the error signal stands where the value would
  const Matrix written = associative_write(step, WriteRule::outer_product).S;
  double largest = 0, size = 0;
  for (std::int64_t i = 0; i < S.size(); ++i) {
    const double kept = S.values()[i], h = 1e-5;
    S.values()[i] = kept + h;
    const double above = squared_error(S, x, wanted);
    S.values()[i] = kept - h;
    const double below = squared_error(S, x, wanted);
    S.values()[i] = kept;
    size = std::max(size, std::abs(written.values()[i]));
    if (const double gap = std::abs((above - below) / (2 * h) - written.values()[i]); !(gap <= largest)) largest = gap;
  }
  return Checks().relative("max |central difference - error x'|, relative to the largest", largest / size, 1e-6).list();
}

constexpr const char* kCorrelation = "Kohonen 1972, Correlation Matrix Memories; Anderson 1972";
constexpr const char* kOptimal = "Kohonen and Ruohonen 1973; Penrose 1955, A Generalized Inverse for Matrices";
constexpr const char* kPair = "A: k (1,0), v (1,0); B: k (0.6,0.8), v (0,1); S = W' is stored key first";

}  // namespace

void add_associative_write_claims(std::vector<Claim>& list) {
  list.push_back({"AM01",
                  "associative_memory",
                  "A read is its own item's part plus what all others add; R is the length of the second over that of the first.",
                  kCorrelation,
                  "rng = default_rng(51); keys normal(20,8), then values normal(20,5), rows normalized; queries: keys 0, 7, 19",
                  {},
                  target_and_others});
  list.push_back({"AM02",
                  "associative_memory",
                  "A picture stored among random items is read back with R = 0, 0.45, 1.04 and 2.14 at 1, 16, 64 and 256 items.",
                  kCorrelation,
                  "rng = default_rng(20261021); keys normal(256,64), then values normal(256,64), rows normalized; value 0: a unit T; "
                  "query: key 0; first M items",
                  {},
                  picture_read_back});
  list.push_back({"AM03",
                  "associative_memory",
                  "Two items as an outer product memory: each query reads its value and 0.6 of the other's.",
                  kCorrelation,
                  kPair,
                  {},
                  outer_product_by_hand});
  list.push_back({"AM04",
                  "associative_memory",
                  "Multiplying by the matrix is the same as summing over the items.",
                  kCorrelation,
                  "keys (40,16), values (40,9) unit rows of default_rng(52); x (6,16) of default_rng(53)",
                  {Mistake::single_precision},
                  matrix_is_item_sum});
  list.push_back(
      {"AM07", "associative_memory", "Least squares reads the same two items back exactly.", kOptimal, kPair, {}, least_squares_by_hand});
  list.push_back(
      {"AM08",
       "associative_memory",
       "Least squares is exact up to K independent keys; beyond, R grows as sqrt(M/K - 1) and reaches 1 at 2 K.",
       kOptimal,
       "keys (100,16) of default_rng(54); sampled: seeds 55 to 62, 64 queries each; keys (64,64), values (64,8) of default_rng(56)",
       {},
       least_squares_limit});
  list.push_back({"AM19",
                  "associative_memory",
                  "A two-layer network with one hidden unit per item reads the same sum, and holds H (K + V) numbers.",
                  "Krotov and Hopfield 2016, Dense Associative Memory",
                  "keys (300,16), values (300,8) unit rows of default_rng(57); x (5,16) of default_rng(58)",
                  {Mistake::single_precision},
                  two_layers});
  list.push_back({"AM20",
                  "associative_memory",
                  "A gradient step of y = W x is the outer product of the error signal and x.",
                  "Widrow and Hoff 1960",
                  "rng = default_rng(59); S (4,3), x (1,4), wanted (1,3); steps of 1e-5 to either side",
                  {},
                  gradient_is_outer_product});
}

}  // namespace linearmem
