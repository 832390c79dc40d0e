// LM08-LM12, LM15-LM19, LM21: what a corrected memory keeps, overwrites and forgets.
#include <algorithm>
#include <cmath>

#include "claims/checks.hpp"
#include "claims/lists.hpp"
#include "claims/memories.hpp"

namespace linearmem {
namespace {

// The memory after writing each row of k with each row of v at strength beta.
Matrix written(const Matrix& k, const Matrix& v, double beta, const Mistakes& mistakes = {}) {
  const auto T = static_cast<std::size_t>(k.extents()[0]);
  return delta_memory({k, k, v}, {.beta = std::vector<double>(T, beta)}, mistakes).S;
}

void add_row(std::vector<Check>& checks, const std::string& quantity, const std::vector<double>& expected, const Matrix& got, double tolerance) {
  for (std::size_t j = 0; j < expected.size(); ++j)
    checks.push_back(value_check(quantity + "[" + std::to_string(j) + "]", expected[j], got(0, j), tolerance));
}

std::vector<Check> same_key_twice(const Mistakes& mistakes) {
  const Matrix k = rows({{1, 0}, {1, 0}}), v = rows({{1, 0}, {0, 1}});
  const LinearMemory mean = linear_memory({k, k, v}, {.feature_map = false, .eps = 0}, {});
  const std::vector<double> beta(2, full_strength(mistakes));
  const DeltaMemory delta = delta_memory({k, k, v}, {.beta = beta}, mistakes);
  std::vector<Check> checks;
  add_row(checks, "outer-product mean reads ", {0.5, 0.5}, slice(mean.o, 1, 2), 1e-15);
  add_row(checks, "delta, beta 1, reads ", {0, 1}, slice(delta.o, 1, 2), 1e-15);
  return checks;
}

std::vector<Check> neighbouring_key(const Mistakes& mistakes) {
  std::vector<Check> checks;
  for (double rho : {0.0, 0.5, 0.9}) {
    const Matrix k = rows({{1, 0}, {rho, std::sqrt(1 - rho * rho)}}), v = rows({{1, 0}, {0, 1}});
    const Matrix S = written(k, v, full_strength(mistakes), mistakes);
    char name[48];
    std::snprintf(name, sizeof name, "rho %g: the old key reads ", rho);
    add_row(checks, name, {1 - rho * rho, rho}, times(slice(k, 0, 1), S), 1e-15);
  }
  return checks;
}

std::vector<Check> decayed_bystander(double alpha, double expected) {
  const Matrix k = rows({{1, 0}}), v = rows({{0, 1}});
  const DeltaMemory memory = delta_memory({k, k, v}, {.beta = {1.0}, .alpha = {alpha}, .S0 = identity(2)});
  std::vector<Check> checks;
  add_row(checks, "the key not written, e2, reads ", {0, expected}, times(rows({{0, 1}}), memory.S), 1e-15);
  return checks;
}

std::vector<Check> forgetting(const Mistakes& mistakes) { return decayed_bystander(mistakes.count(Mistake::no_forgetting) ? 1.0 : 0.8, 0.8); }
std::vector<Check> no_forgetting(const Mistakes&) { return decayed_bystander(1.0, 1.0); }

std::vector<Check> half_strength(const Mistakes&) {
  const Matrix k = rows({{1, 0}, {1, 0}}), v = rows({{1, 0}, {0, 1}});
  std::vector<Check> checks;
  add_row(checks, "delta, beta 0.5, reads ", {0.25, 0.5}, times(rows({{1, 0}}), written(k, v, 0.5)), 1e-15);
  return checks;
}

// One write of (k, v) at strength beta into a random state: what k and another key read before and after.
struct OneWrite {
  Matrix k, v, S0, S1;
  double beta;
};

OneWrite one_write(const Matrix& k, double beta, std::uint64_t seed, const Mistakes& mistakes) {
  RandomMatrices random(seed);
  OneWrite write{k, random.next(1, 5), random.next(4, 5), {}, beta};
  write.S1 = delta_memory({k, k, write.v}, {.beta = {beta}, .S0 = write.S0}, mistakes).S;
  return write;
}

// The largest |k S_1 - ((1 - beta c^2) k S_0 + beta c^2 v)| for a key of norm c.
double contraction_gap(double norm, const Mistakes& mistakes) {
  RandomMatrices random(31);
  Matrix k = random.unit_rows(1, 4);
  for (double& value : k.values()) value *= norm;
  const OneWrite write = one_write(k, 0.7, 32, mistakes);
  const double strength = write.beta * norm * norm;
  const Matrix before = times(k, write.S0), after = times(k, write.S1);
  Matrix formula({1, 5});
  for (std::int64_t j = 0; j < 5; ++j) formula(0, j) = (1 - strength) * before(0, j) + strength * write.v(0, j);
  return largest_difference(after, formula);
}

std::vector<Check> contraction(const Mistakes& mistakes) {
  return {residual_check("unit key: k S_t - ((1-beta) k S + beta v)", contraction_gap(1.0, mistakes), 1e-12),
          residual_check("key of norm 1.5: factor 1 - beta c^2", contraction_gap(1.5, mistakes), 1e-12)};
}

double movement_gap(const Matrix& h, const OneWrite& write, double expected_match) {
  const Matrix before = times(h, write.S0), after = times(h, write.S1), read = times(write.k, write.S0);
  Matrix moved({1, 5}), formula({1, 5});
  for (std::int64_t j = 0; j < 5; ++j) {
    moved(0, j) = after(0, j) - before(0, j);
    formula(0, j) = write.beta * expected_match * (write.v(0, j) - read(0, j));
  }
  return largest_difference(moved, formula);
}

std::vector<Check> movement(const Mistakes& mistakes) {
  RandomMatrices random(33);
  const Matrix k = random.unit_rows(1, 4), h = random.next(1, 4);
  const OneWrite write = one_write(k, 0.7, 34, mistakes);
  double match = 0;
  for (std::int64_t i = 0; i < 4; ++i) match += h(0, i) * k(0, i);
  Matrix orthogonal = h;
  for (std::int64_t i = 0; i < 4; ++i) orthogonal(0, i) -= match * k(0, i);
  return {residual_check("a key h moves by beta (h.k) (v - k S)", movement_gap(h, write, match), 1e-12),
          residual_check("an orthogonal key moves by", movement_gap(orthogonal, write, 0), 1e-12)};
}

// alpha (I - beta k^T k) S + beta k^T v, written out.
Matrix transition(const Matrix& S, const Matrix& k, const Matrix& v, double alpha, double beta) {
  const std::int64_t K = S.extents()[0], V = S.extents()[1];
  Matrix keep = identity(K);
  for (std::int64_t i = 0; i < K; ++i)
    for (std::int64_t j = 0; j < K; ++j) keep(i, j) = alpha * (keep(i, j) - beta * k(0, i) * k(0, j));
  Matrix next = times(keep, S);
  for (std::int64_t i = 0; i < K; ++i)
    for (std::int64_t j = 0; j < V; ++j) next(i, j) += beta * k(0, i) * v(0, j);
  return next;
}

// A gated run over six random tokens; beta and alpha are the same two numbers throughout.
struct GatedRun {
  static constexpr double kAlpha = 0.8, kBeta = 0.6;
  NotesInputs in;
  Matrix S0;
  DeltaMemory run(const Mistakes& mistakes) const {
    return delta_memory(in, {.beta = std::vector<double>(6, kBeta), .alpha = std::vector<double>(6, kAlpha), .S0 = S0}, mistakes);
  }
};

GatedRun gated_run() {
  RandomMatrices random(35);
  GatedRun run;
  run.in.q = random.unit_rows(6, 4);
  run.in.k = random.unit_rows(6, 4);
  run.in.v = random.next(6, 3);
  run.S0 = random.next(4, 3);
  return run;
}

std::vector<Check> gated_transition(const Mistakes& mistakes) {
  const GatedRun run = gated_run();
  Matrix S = run.S0;
  for (std::int64_t t = 0; t < 6; ++t) S = transition(S, slice(run.in.k, t, t + 1), slice(run.in.v, t, t + 1), run.kAlpha, run.kBeta);
  const double other = largest_difference(run.run({Mistake::error_before_decay}).S, S);
  return {residual_check("gated step - (alpha (I - beta k'k) S + beta k'v)", largest_difference(run.run(mistakes).S, S), 1e-12),
          stated_check("error measured before the decay differs by", "> 0", other, other > 0)};
}

std::vector<Check> value_first(const Mistakes& mistakes) {
  const GatedRun run = gated_run();
  Matrix W({3, 4});  // [V,K]
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 3; ++j) W(j, i) = run.S0(i, j);
  for (std::int64_t t = 0; t < 6; ++t) {
    Matrix keep = identity(4);
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 4; ++j) keep(i, j) = run.kAlpha * (keep(i, j) - run.kBeta * run.in.k(t, i) * run.in.k(t, j));
    W = times(W, keep);
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t i = 0; i < 4; ++i) W(j, i) += run.kBeta * run.in.v(t, j) * run.in.k(t, i);
  }
  const Matrix S = run.run(mistakes).S;
  Matrix transposed({4, 3});
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 3; ++j) transposed(i, j) = W(j, i);
  return {residual_check("transpose of the value-first memory - S", largest_difference(transposed, S), 1e-12)};
}

double squared_error(const Matrix& S, const Matrix& k, const Matrix& v) {
  const Matrix read = times(k, S);
  double sum = 0;
  for (std::int64_t j = 0; j < v.extents()[1]; ++j) sum += 0.5 * (read(0, j) - v(0, j)) * (read(0, j) - v(0, j));
  return sum;
}

std::vector<Check> gradient(const Mistakes&) {
  constexpr double kStep = 1e-5;
  RandomMatrices random(36);
  const Matrix k = random.next(1, 4), v = random.next(1, 3), S = random.next(4, 3);
  const Matrix read = times(k, S);
  double gap = 0, largest = 0;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      Matrix up = S, down = S;
      up(i, j) += kStep;
      down(i, j) -= kStep;
      const double numeric = (squared_error(up, k, v) - squared_error(down, k, v)) / (2 * kStep);
      const double formula = k(0, i) * (read(0, j) - v(0, j));
      gap = worse(gap, std::abs(numeric - formula));
      largest = std::max(largest, std::abs(formula));
    }
  const Matrix step = delta_memory({k, k, v}, {.beta = {1.0}, .S0 = S}).S;  // one write at beta 1 is S minus the gradient
  Matrix descended = S;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 3; ++j) descended(i, j) -= k(0, i) * (read(0, j) - v(0, j));
  return {relative_check("central differences - k (k S - v), relative", gap / largest, 1e-6),
          residual_check("a write at beta 1 - one gradient step of size 1", largest_difference(step, descended), 1e-12)};
}

std::vector<Check> reset(const Mistakes& mistakes) {
  RandomMatrices random(37);
  NotesInputs both{random.unit_rows(9, 4), random.unit_rows(9, 4), random.next(9, 3)};
  const NotesInputs second{slice(both.q, 4, 9), slice(both.k, 4, 9), slice(both.v, 4, 9)};
  const DeltaMemory alone = delta_memory(second, {.beta = std::vector<double>(5, 0.9)});
  const DeltaMemory leaking = delta_memory(both, {.beta = std::vector<double>(9, 0.9)});
  const DeltaMemory packed = delta_memory(both, {.beta = std::vector<double>(9, 0.9), .cu_seqlens = {0, 4, 9}});
  const double leak = largest_difference(slice(leaking.o, 4, 9), alone.o);
  const Matrix& used = mistakes.count(Mistake::no_reset) ? leaking.o : packed.o;
  return {stated_check("without a reset the second request differs by", "> 0", leak, leak > 0),
          exact_check("with a reset the second request differs from itself alone by", 0, largest_difference(slice(used, 4, 9), alone.o))};
}

constexpr const char* kWidrow = "Widrow and Hoff 1960; Schlag, Irie and Schmidhuber 2021";
constexpr const char* kGated = "Yang, Kautz and Hatamizadeh 2024, Gated Delta Networks";

}  // namespace

void add_delta_claims(std::vector<Claim>& list) {
  using M = Mistake;
  list.push_back({"LM08", "delta_rule", "One unit key written twice: the outer-product memory reads the mean of both values, the delta rule at beta 1 the last.",
                  kWidrow, "k = e1, e1; v = [1,0], [0,1]", {M::half_beta, M::read_before_write}, same_key_twice});
  list.push_back({"LM09", "delta_rule", "After writing a second unit key at inner product rho, the old key reads [1 - rho^2, rho].", kWidrow,
                  "k = [1,0], [rho, sqrt(1 - rho^2)]; v = [1,0], [0,1]; beta 1", {M::half_beta, M::single_precision}, neighbouring_key});
  list.push_back({"LM10", "delta_rule", "Forgetting by alpha 0.8 also fades a key that was not written.", kGated,
                  "S = I; k = e1; v = [0,1]; beta 1; alpha 0.8; read e2", {M::no_forgetting}, forgetting});
  list.push_back({"LM11", "delta_rule", "The same two writes at beta 0.5 leave part of the old value and half of the new.", kWidrow,
                  "k = e1, e1; v = [1,0], [0,1]; beta 0.5", {}, half_strength});
  list.push_back({"LM12", "delta_rule", "Without forgetting, the key that was not written keeps its value.", kGated,
                  "S = I; k = e1; v = [0,1]; beta 1; alpha 1; read e2", {}, no_forgetting});
  list.push_back({"LM15", "delta_rule", "A write moves the key's own reading by the fraction beta, or beta c^2 for a key of norm c.", kWidrow,
                  "default_rng(31): k; default_rng(32): v (1,5), S (4,5), standard normal; beta 0.7; c = 1 and 1.5", {M::single_precision}, contraction});
  list.push_back({"LM16", "delta_rule", "A key h moves by beta (h.k) (v - k S); an orthogonal key does not move.", kWidrow,
                  "default_rng(33): k, h; default_rng(34): v (1,5), S (4,5); beta 0.7", {M::single_precision}, movement});
  list.push_back({"LM17", "delta_rule", "The gated step is alpha (I - beta k'k) S + beta k'v; measuring the error before the decay is another rule.", kGated,
                  "default_rng(35): q, k (6,4) unit rows; v (6,3); S (4,3); alpha 0.8; beta 0.6", {M::error_before_decay, M::single_precision}, gated_transition});
  list.push_back({"LM18", "delta_rule", "A value-first memory is the transpose: multiplying from the right gives the same memory.", kGated,
                  "as LM17", {M::error_before_decay, M::single_precision}, value_first});
  list.push_back({"LM19", "delta_rule", "The gradient of 0.5 |k S - v|^2 in S is k'(k S - v): a write at beta 1 is one step of gradient descent.", kWidrow,
                  "default_rng(36): k (1,4), v (1,3), S (4,3); central differences of step 1e-5", {}, gradient});
  list.push_back({"LM21", "delta_rule", "Two requests in one row leak without a reset; with it the second equals itself alone, bit for bit.", kWidrow,
                  "default_rng(37): q, k (9,4) unit rows; v (9,3); beta 0.9; requests of 4 and 5 tokens", {M::no_reset}, reset});
}

}  // namespace linearmem
