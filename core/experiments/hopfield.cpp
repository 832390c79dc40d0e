// A modern Hopfield network on patterns in the plane: the way of one state, its energy, and how many steps other beta take.
#include <cmath>

#include "experiments/lists.hpp"
#include "linearmem/associative_memory.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kMostSteps = 300;
constexpr int kBetas = 24;
constexpr double kTurn = 6.283185307179586;

// One settling; the path and the energies up to the step it stopped at.
struct Settled {
  std::int64_t steps = 0;
  Tensor<double, 3> path{{kMostSteps + 1, 1, 2}};
  Tensor<double, 2> energy{{kMostSteps + 1, 1}};
};

Status settle(const Tensor<double, 2>& patterns, const double (&start)[2], double beta, double tolerance, Settled& settled) {
  double state[2];
  return hopfield(HopfieldArguments<double>{.patterns = patterns.view(),
                                            .start = {start, {1, 2}},
                                            .beta = beta,
                                            .max_steps = kMostSteps,
                                            .tolerance = tolerance,
                                            .states = {state, {1, 2}},
                                            .steps = {&settled.steps, {1}},
                                            .path = settled.path.view(),
                                            .energy = settled.energy.view()});
}

Result<Figure> run(const Settings& settings) {
  const std::int64_t count = whole(settings, "patterns");
  Series stored{"least_squares", "patterns", {}, {}}, way{"softmax_attention", "state", {}, {}},
      energy{"softmax_attention", "energy", {}, {}}, steps{"softmax_attention", "steps", {}, {}},
      here{"sampled_mean", "beta of the knob", {}, {}};
  stored.points = here.points = true;
  Tensor<double, 2> patterns({count, 2});
  for (std::int64_t i = 0; i < count; ++i) {
    const double angle = kTurn * static_cast<double>(i) / static_cast<double>(count);
    stored.x.push_back(patterns(i, 0) = std::cos(angle));
    stored.y.push_back(patterns(i, 1) = std::sin(angle));
  }
  const double start[] = {settings.at("start_x"), settings.at("start_y")}, beta = settings.at("beta"), tolerance = settings.at("tolerance");
  Settled settled;
  if (Status status = settle(patterns, start, beta, tolerance, settled); !status.ok()) return status;
  for (std::int64_t step = 0; step <= settled.steps; ++step) {
    way.x.push_back(settled.path(step, 0, 0));
    way.y.push_back(settled.path(step, 0, 1));
    energy.x.push_back(static_cast<double>(step));
    energy.y.push_back(settled.energy(step, 0));
  }
  here.x.push_back(beta);
  here.y.push_back(static_cast<double>(settled.steps));
  for (int i = 0; i < kBetas; ++i) {
    const double other = 0.25 * std::pow(256.0, static_cast<double>(i) / (kBetas - 1));
    if (Status status = settle(patterns, start, other, tolerance, settled); !status.ok()) return status;
    steps.x.push_back(other);
    steps.y.push_back(static_cast<double>(settled.steps));
  }
  return Figure{{{"path", {"first component", "", false}, {"second component", "", false}, {stored, way}},
                 {"energy", {"step", "", false}, {"energy", "", false}, {energy}},
                 {"steps", {"beta", "", true}, {"steps until the stop", "", false}, {steps, here}}}};
}

}  // namespace

Experiment hopfield_experiment() {
  return {"hopfield",
          "Where does a modern Hopfield network come to rest?",
          "A stop is not a fixed point; 300 steps at most. Patterns stand evenly on a circle.",
          {{"beta", "how sharply a step picks one pattern", 4, 0.25, 64, 0},
           {"patterns", "patterns on the circle", 5, 1, 16, 1},
           {"start_x", "first component of the start", 0.6, -1, 1, 0},
           {"start_y", "second component of the start", 0.5, -1, 1, 0},
           {"tolerance", "how far the weights may still move at a stop", 1e-4, 1e-9, 0.1, 0}},
          run};
}

}  // namespace linearmem
