// Interference as it is met: seeded random items, streamed, with the intervals that the number of seeds allows. The counterpart of
// linearmem/associative_memory_theory.hpp, from which it takes nothing.
//
// Per seed: rng = default_rng(seed); Q target keys normal(Q,K), for match < 1 as many directions normal(Q,K); then items in blocks of
// 64, keys normal(64,K) and values normal(64,V); all rows normalized, the directions first made orthogonal to their keys. Query q is
// match k_q + sqrt(1 - match^2) times its direction; its memory of M items is its own and the first M - 1 of the stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "linearmem/associative_memory.hpp"
#include "linearmem/random.hpp"

namespace linearmem {

class Backend;

namespace associative {
class SamplerWork;
}

struct SamplingSettings {
  std::int64_t K = 64, V = 64;
  std::vector<ResponseRule> rules = {};  // all of them meet the same items
  std::vector<std::int64_t> items = {};  // the numbers M to report at, rising, the first at least 1
  double match = 1;                      // rho, inner product of a query and its own key, 0 to 1
  std::int64_t queries = 32;             // per seed
  std::uint64_t first_seed = 1;
  std::int64_t seeds = 5;  // first_seed, first_seed + 1, ...

  // Where items are drawn and summed: absent, on this processor. The items are the same bits anywhere; sums are float64 everywhere, in
  // another order, so that statistics agree within 1e-12 of their size.
  const Backend* backend = nullptr;
};

// A statistic over the seeds, and the interval in which its expectation lies with 95 % confidence (Student's t over seeds, which are
// independent; queries of one seed share their items and are not). One seed gives no interval: the last three are NaN.
struct Estimate {
  double value, low, high, standard_error;
};

// The three statistics of R over the queries of a seed; each is averaged over seeds by itself. rms is averaged as its square.
struct SampledRatio {
  Estimate rms, median, mean;
  std::int64_t seeds;  // finished
};

// Work in slices of about a millisecond, so that whoever calls step() can show progress and stop; on a backend a slice is a seed.
// Memory does not grow with M.
class InterferenceSampler {
 public:
  // Errors: K below 2, V or a count below 1, items not rising, a match outside 0 to 1, a rule out of range, least_squares beside
  // another rule or on a backend.
  static Result<InterferenceSampler> create(const SamplingSettings& settings);
  InterferenceSampler(InterferenceSampler&&) noexcept;
  InterferenceSampler& operator=(InterferenceSampler&&) noexcept;
  ~InterferenceSampler();

  bool done() const;
  double progress() const;  // 0 to 1, by work
  // Errors, on a backend only: memory that is not there, with both numbers, a device that failed.
  Status step();
  Status run();  // all that is left

  // rule and place index SamplingSettings::rules and items; over the seeds finished so far, NaN before the first.
  SampledRatio at(std::size_t rule, std::size_t place) const;

 private:
  explicit InterferenceSampler(std::unique_ptr<associative::SamplerWork> work);
  std::unique_ptr<associative::SamplerWork> work_;
};

// Where y, straight between its points in ln x and ln y, first reaches `level`; absent when it does not. x rises.
std::optional<double> crossing(const std::vector<double>& x, const std::vector<double>& y, double level);

}  // namespace linearmem
