#include "measure.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace linearmem::bench {
namespace {

Status wrong(const Case& c, const char* why) {
  return {StatusCode::unavailable, c.mechanism + ", " + c.setting + ", " + c.shape + ": no time is told: " + why};
}

std::optional<Sampler> limit_sampler(const Case& c, const Timing& timing) {
  switch (c.limit) {
    case Limit::multiply_add: return c.wide ? multiply_add_sampler<double>(timing) : multiply_add_sampler<float>(timing);
    case Limit::update: return memory_samplers(c.limit_bytes, timing).update;
    case Limit::none: break;
  }
  return {};
}

// Seconds of one call, over `calls` of them.
Result<double> call_seconds(Workload& workload, std::int64_t calls, Clock clock) {
  const double begin = seconds(clock);
  for (std::int64_t i = 0; i < calls; ++i)
    if (Status status = workload.run(); !status.ok()) return status;
  return (seconds(clock) - begin) / static_cast<double>(calls);
}

// Whole turns that take long enough, found by doubling; warms up on the way. The shorter of two tries counts: an interruption must
// not look like work.
Result<std::int64_t> calls_per_sample(Workload& workload, std::int64_t turn, const Timing& timing) {
  for (std::int64_t calls = turn;; calls *= 2) {
    double took = 0;
    for (int tries = 0; tries < 2; ++tries) {
      const Result<double> call = call_seconds(workload, calls, timing.clock);
      if (!call.ok()) return call.status();
      const double here = call.value() * static_cast<double>(calls);
      took = tries == 0 ? here : std::min(took, here);
      if (took < timing.least_seconds) break;
    }
    if (took >= timing.least_seconds) return calls;
  }
}

Status time_rounds(Workload& workload, const MeasureOptions& options, Measurement& result) {
  const Result<std::int64_t> calls = calls_per_sample(workload, result.subject.turn, options.timing);
  if (!calls.ok()) return calls.status();
  std::optional<Sampler> limit = limit_sampler(result.subject, options.timing);
  const double work = result.subject.limit == Limit::update ? result.subject.work.bytes : result.subject.work.flops;
  std::vector<double> times, fractions;
  for (int round = 0; round < options.rounds; ++round) {
    const double most = limit ? limit->per_second() : 0;
    const Result<double> took = call_seconds(workload, calls.value(), options.timing.clock);
    if (!took.ok()) return took.status();
    times.push_back(took.value());
    if (limit) fractions.push_back(work / took.value() / most);
    result.limit = std::max(result.limit, most);
  }
  result.minimum = *std::min_element(times.begin(), times.end());
  result.median = median_of(times);
  if (limit) result.fraction = median_of(fractions);
  if (limit) result.best_fraction = work / result.minimum / result.limit;
  return {};
}

}  // namespace

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Result<Measurement> measure(const Case& subject, const MeasureOptions& options) {
  Measurement result{.subject = subject, .proof = {}};
  const std::unique_ptr<Workload> workload = subject.make();
  const Result<Proof> proof = workload->prove();
  if (!proof.ok()) return proof.status();
  result.proof = proof.value();
  if (!(result.proof.error <= subject.tolerance)) {
    char text[96];
    std::snprintf(text, sizeof text, "it is %.1e from the definition, allowed is %.0e", result.proof.error, subject.tolerance);
    return wrong(subject, text);
  }
  if (Status status = time_rounds(*workload, options, result); !status.ok()) return status;
  if (!workload->unchanged()) return wrong(subject, "a timed call gave other numbers than the one that was proven right");
  return result;
}

}  // namespace linearmem::bench
