// Two writes of the gated delta rule, step by step: unit keys at inner product rho, values [1,0] and [0,1].
#include "experiments/lists.hpp"
#include "experiments/matrix_panel.hpp"
#include "linearmem/delta_rule.hpp"

namespace linearmem {
namespace {

constexpr int kStrengths = 40;
using Pair = std::vector<double>;  // 2 numbers
using Square = std::vector<double>;  // [2,2], key first

struct Writing {
  Pair first_key = {1, 0}, second_key, first_value = {1, 0}, second_value = {0, 1};
  double alpha;
  bool late;  // the error is measured before the decay

  // One token from state S, which becomes the state after it; read: k S' before the write.
  Status step(const Pair& k, const Pair& v, double strength, double keep, Square& S, Pair& read) const {
    const double g = std::log(keep);
    double o[2];
    read.assign(2, 0);
    return delta_rule(DeltaRuleArguments<double>{.q = {k.data(), {1, 1, 1, 2}},
                                                 .k = {k.data(), {1, 1, 1, 2}},
                                                 .v = {v.data(), {1, 1, 1, 2}},
                                                 .beta = {&strength, {1, 1, 1}},
                                                 .g = {&g, {1, 1, 1}},
                                                 .state = {S.data(), {1, 1, 2, 2}},
                                                 .scale = 1.0,
                                                 .o = {o, {1, 1, 1, 2}},
                                                 .reads = {read.data(), {1, 1, 1, 2}},
                                                 .final_state = {S.data(), {1, 1, 2, 2}}});
  }
};

// All that the second write does.
struct Steps {
  Square first = Square(4), decayed, written = Square(4), after;
  Pair predicted, error = Pair(2);

  Status run(const Writing& in, double beta) {
    Pair ignored;
    if (Status status = in.step(in.first_key, in.first_value, 1, 1, first, ignored); !status.ok()) return status;
    decayed = first;
    if (Status status = in.step(in.second_key, in.second_value, 0, in.alpha, decayed, predicted); !status.ok()) return status;
    if (in.late) {
      Square undecayed = first;
      if (Status status = in.step(in.second_key, in.second_value, 0, 1, undecayed, predicted); !status.ok()) return status;
    }
    for (std::size_t j = 0; j < 2; ++j) error[j] = in.second_value[j] - predicted[j];
    after = decayed;
    for (std::size_t cell = 0; cell < 4; ++cell) {
      written[cell] = beta * in.second_key[cell / 2] * error[cell % 2];
      after[cell] += written[cell];
    }
    if (in.late) return {};
    after = first;
    return in.step(in.second_key, in.second_value, beta, in.alpha, after, ignored);
  }
};

Pair read(const Pair& k, const Square& S) { return {k[0] * S[0] + k[1] * S[2], k[0] * S[1] + k[1] * S[3]}; }

double miss(const Pair& got, const Pair& wanted) { return std::hypot(got[0] - wanted[0], got[1] - wanted[1]); }

Result<Panel> against_strength(const Writing& in, double beta) {
  const char* memory = "gated_delta_rule";
  std::vector<Series> lines = {{memory, "first key", {}, {}}, {memory, "second key", {}, {}}, {"sampled_mean", "beta of the knob", {}, {}}};
  lines[2].points = true;
  for (int i = 0; i <= kStrengths + 1; ++i) {
    const double strength = i > kStrengths ? beta : 2.0 * i / kStrengths;
    Steps steps;
    if (Status status = steps.run(in, strength); !status.ok()) return status;
    const double misses[] = {miss(read(in.first_key, steps.after), in.first_value), miss(read(in.second_key, steps.after), in.second_value)};
    for (std::size_t line = 0; line < 2; ++line) {
      Series& series = i > kStrengths ? lines[2] : lines[line];
      series.x.push_back(strength);
      series.y.push_back(misses[line]);
    }
  }
  return Panel{"strength", {"write strength beta", "", false}, {"error of the read", "", false}, lines};
}

Result<Figure> run(const Settings& settings) {
  const double rho = settings.at("rho"), beta = settings.at("beta");
  const Writing in{.second_key = {rho, std::sqrt(1 - rho * rho)}, .alpha = settings.at("alpha"), .late = settings.at("order") == 1};
  Steps steps;
  if (Status status = steps.run(in, beta); !status.ok()) return status;
  Result<Panel> curve = against_strength(in, beta);
  if (!curve.ok()) return curve.status();
  const Pair orthogonal = {-in.second_key[1], in.second_key[0]};  // to the second key
  const char* memory = "gated_delta_rule";
  return Figure{{matrix_panel("state", 2,
                              {matrix_series(memory, "first write", steps.first), matrix_series(memory, "decayed", steps.decayed),
                               matrix_series(memory, "written", steps.written), matrix_series(memory, "after", steps.after)},
                              1),
                 matrix_panel("error", 2,
                              {matrix_series(memory, "value", in.second_value), matrix_series(memory, "predicted", steps.predicted),
                               matrix_series(memory, "error", steps.error)},
                              1),
                 matrix_panel("reads", 2,
                              {matrix_series(memory, "first key", read(in.first_key, steps.after)), matrix_series(memory, "second key", read(in.second_key, steps.after)),
                               matrix_series(memory, "orthogonal key, before", read(orthogonal, steps.decayed)),
                               matrix_series(memory, "orthogonal key, after", read(orthogonal, steps.after))},
                              1),
                 std::move(curve).value()}};
}

}  // namespace

Experiment correction_experiment() {
  return {"correction",
          "How is an entry corrected, and how is it forgotten?",
          "Two keys and two values in a state of 2 x 2; many writes push on each other in more directions than these.",
          {{"beta", "how hard the second write overwrites", 1, 0, 2, 0},
           {"rho", "inner product of the two keys", 0.5, -1, 1, 0},
           {"alpha", "what the decay keeps before the second write", 1, 0, 1, 0},
           {"order", "0: decay, then measure the error; 1: the other way round, which is wrong", 0, 0, 1, 1}},
          run};
}

}  // namespace linearmem
