// AM06, AM21, AM22: what sampling and iterating show, beside the theory and not made from it.
#include <cmath>

#include "associative_memory/sampled_statistics.hpp"
#include "claims/associative_items.hpp"
#include "claims/checks.hpp"
#include "claims/lists.hpp"
#include "linearmem/associative_memory_sampling.hpp"
#include "linearmem/associative_memory_theory.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kWidth = 64;
const ResponseRule kLinear{.response = Response::linear};

std::string text_of(const char* words, double number) {
  char text[64];
  std::snprintf(text, sizeof text, words, number);
  return text;
}

// Of s^2 within each of 40 seeds, 256 pairs of unit vectors a seed.
Estimate squared_score() {
  std::vector<double> means;
  for (std::uint64_t seed = 100; seed < 140; ++seed) {
    RandomMatrices random(seed);
    const Matrix a = random.unit_rows(16, kWidth), b = random.unit_rows(16, kWidth), scores = associative_weights(b, a, kLinear);
    double sum = 0;
    for (double s : scores.values()) sum += s * s;
    means.push_back(sum / static_cast<double>(scores.size()));
  }
  return associative::mean_with_interval(means);
}

std::vector<Check> sampled_rms(const Mistakes&) {
  auto sampler = InterferenceSampler::create(
      {.K = kWidth, .V = kWidth, .rules = {kLinear}, .items = {128}, .queries = 16, .first_seed = 100, .seeds = 40});
  if (!sampler.ok() || !sampler.value().run().ok()) return {};
  const Estimate rms = sampler.value().at(0, 0).rms, square = squared_score();
  const double off = std::abs(rms.value - std::sqrt(127.0 / 64)) / rms.standard_error;
  const double square_off = std::abs(square.value - 1.0 / kWidth) / square.standard_error;
  const double other_law = std::abs(rms.value - 128 / std::sqrt(64.0)) / rms.standard_error;
  return Checks()
      .stated("sampled RMS, M = 128, K = 64: standard errors from sqrt((M - 1)/K)", "<= 4", off, off <= 4)
      .stated("mean of s^2: standard errors from 1/K", "<= 4", square_off, square_off <= 4)
      .stated("the same RMS: standard errors from M/sqrt(K)", "> 4", other_law, other_law > 4)
      .list();
}

// Where the median of R, averaged over 5 seeds, crosses 1; NaN when it does not between 0.9 and 1.1 of `near`.
double sampled_capacity(const ResponseRule& rule, double near, std::int64_t queries) {
  SamplingSettings settings{.K = kWidth, .V = kWidth, .rules = {rule}, .queries = queries, .first_seed = 21, .seeds = 5};
  std::vector<double> items, medians;
  for (int step = -5; step <= 5; ++step) settings.items.push_back(std::llround(near * (1 + 0.02 * step)));
  auto sampler = InterferenceSampler::create(settings);
  if (!sampler.ok() || !sampler.value().run().ok()) return std::nan("");
  for (std::size_t place = 0; place < settings.items.size(); ++place) {
    items.push_back(static_cast<double>(settings.items[place]));
    medians.push_back(sampler.value().at(0, place).median.value);
  }
  return medians.front() < 1 ? crossing(items, medians, 1).value_or(std::nan("")) : std::nan("");
}

std::vector<Check> sampled_capacities(const Mistakes&) {
  std::vector<Check> checks;
  const struct {
    const char* name;
    ResponseRule rule;
    double theory;
    std::int64_t queries;
  } cases[] = {{"linear", kLinear, 65, 128},
               {"ReLU", {.response = Response::relu, .power = 1}, 129, 128},
               {"ReLU^2", {.response = Response::relu, .power = 2}, 2817, 64},
               {"ReLU^3", {.response = Response::relu, .power = 3}, 38298.6, 8}};
  for (const auto& [name, rule, theory, queries] : cases)
    checks.push_back(value_check(std::string(name) + ": M at which the median of R is 1", theory, sampled_capacity(rule, theory, queries),
                                 0.1 * theory));
  // Figures that are often quoted: scores taken as Gaussian, the target itself not counted, and rounded.
  constexpr std::pair<double, double> kRounded[] = {{64, 0.5}, {128, 0.5}, {2700, 50}, {35000, 500}};
  for (std::size_t i = 0; i < 4; ++i)
    checks.push_back(value_check(std::string(cases[i].name) + ": Gaussian approximation, the others alone", kRounded[i].first,
                                 1 / interference_per_item(cases[i].rule, kWidth, 1, Moments::gaussian), kRounded[i].second));
  return checks;
}

std::vector<Check> hopfield_steps(const Mistakes&) {
  const Matrix patterns = identity(2), start = rows({{1, 0}});
  std::vector<Check> checks;
  const struct {
    double beta;
    std::int64_t steps;
    double first, second;
  } cases[] = {{1, 13, 0.5000551, 0.4999449}, {2, 264, 0.5375267, 0.4624733}, {4, 5, 0.9787545, 0.0212455}, {8, 2, 0.9996628, 0.0003372}};
  for (const auto& expected : cases) {
    Matrix state = missing(1, 2);
    std::int64_t steps = 0, stopped = 0;
    const Status status = hopfield(HopfieldArguments<double>{.patterns = patterns.view(),
                                                             .start = start.view(),
                                                             .beta = expected.beta,
                                                             .max_steps = 1000,
                                                             .tolerance = 1e-4,
                                                             .states = state.view(),
                                                             .steps = {&steps, {1}},
                                                             .stopped = {&stopped, {1}}});
    if (!status.ok()) state = missing(1, 2);
    checks.push_back(
        exact_check(text_of("beta %g: steps", expected.beta), static_cast<double>(expected.steps), static_cast<double>(steps)));
    checks.push_back(value_check(text_of("beta %g: state, component 0", expected.beta), expected.first, state(0, 0), 1e-6));
    checks.push_back(value_check(text_of("beta %g: state, component 1", expected.beta), expected.second, state(0, 1), 1e-6));
    checks.push_back(exact_check(text_of("beta %g: stopped by the rule", expected.beta), 1, static_cast<double>(stopped)));
  }
  return checks;
}

constexpr const char* kDense = "Krotov and Hopfield 2016, Dense Associative Memory";
constexpr const char* kHopfield = "Ramsauer et al. 2021, Hopfield Networks is All You Need";

}  // namespace

void add_associative_sampling_claims(std::vector<Claim>& list) {
  list.push_back({"AM06",
                  "associative_memory",
                  "Sampled interference grows as sqrt((M - 1)/K) within its standard error, and not as M/sqrt(K).",
                  "Kohonen 1972, Correlation Matrix Memories",
                  "seeds 100 to 139; R of 16 queries a seed at M = 128, K = V = 64; s of 256 pairs of unit vectors a seed",
                  {},
                  sampled_rms});
  list.push_back({"AM21",
                  "associative_memory",
                  "Where the sampled median of R crosses 1 lies within a tenth of the theory for the RMS.",
                  kDense,
                  "seeds 21 to 25, K = V = 64; 128, 128, 64 and 8 queries a seed; items drawn in blocks of 64, keys before values",
                  {},
                  sampled_capacities});
  list.push_back({"AM22",
                  "associative_memory",
                  "A modern Hopfield network stops where its rule says, which at beta 2 is far from the fixed point.",
                  kHopfield,
                  "patterns (1,0), (0,1); start (1,0); stop when the softmax vector moves by at most 1e-4",
                  {},
                  hopfield_steps});
}

}  // namespace linearmem
