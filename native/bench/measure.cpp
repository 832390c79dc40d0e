#include "measure.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "limits_kernel.hpp"

namespace linearmem::bench {
namespace {

Status wrong(const Case& c, const char* why) {
  return {StatusCode::unavailable, c.mechanism + ", " + c.setting + ", " + c.shape + ": no time is told: " + why};
}

std::optional<Sampler> limit_sampler(const Case& c, const Workload& workload, const Timing& timing) {
  switch (c.limit) {
    case Limit::multiply_add: return c.wide ? multiply_add_sampler<double>(timing) : multiply_add_sampler<float>(timing);
    case Limit::update: return memory_samplers(c.limit_bytes, timing).update;
    case Limit::read:
      if (static_cast<std::int64_t>(workload.streamed().size()) >= kStreamBlock * timing.threads) return read_sampler(workload.streamed(), timing);
      return memory_samplers(c.limit_bytes, timing).read;
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

struct Samples {
  std::vector<double> limits, times, alone;  // of each round: work per second; seconds of one call; the same on one thread
};

Status take_round(Workload& workload, const MeasureOptions& options, std::int64_t calls, std::optional<Sampler>& limit, Samples& samples) {
  if (limit) samples.limits.push_back(limit->per_second());
  const Result<double> took = call_seconds(workload, calls, options.timing.clock);
  if (!took.ok()) return took.status();
  samples.times.push_back(took.value());
  if (!options.executor) return {};
  workload.use(nullptr);
  const Result<double> alone = call_seconds(workload, calls, options.timing.clock);
  workload.use(options.executor);
  if (alone.ok()) samples.alone.push_back(alone.value());
  return alone.status();
}

template <typename Ratio>
double median_ratio(std::size_t rounds, Ratio ratio) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds; ++i) ratios.push_back(ratio(i));
  return median_of(ratios);
}

Status time_rounds(Workload& workload, const MeasureOptions& options, Measurement& result) {
  const Result<std::int64_t> calls = calls_per_sample(workload, result.subject.turn, options.timing);
  if (!calls.ok()) return calls.status();
  std::optional<Sampler> limit = limit_sampler(result.subject, workload, options.timing);
  Samples samples;
  for (int round = 0; round < options.rounds; ++round)
    if (Status status = take_round(workload, options, calls.value(), limit, samples); !status.ok()) return status;
  const auto &limits = samples.limits, &times = samples.times, &alone = samples.alone;
  result.minimum = *std::min_element(times.begin(), times.end());
  result.median = median_of(times);
  if (options.executor) result.speed_up = median_ratio(times.size(), [&](std::size_t i) { return alone[i] / times[i]; });
  if (!limit) return {};
  const double work = result.subject.limit == Limit::multiply_add ? result.subject.work.flops : result.subject.work.bytes;
  result.limit = *std::max_element(limits.begin(), limits.end());
  result.fraction = median_ratio(times.size(), [&](std::size_t i) { return work / times[i] / limits[i]; });
  result.best_fraction = work / result.minimum / result.limit;
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
  workload->use(options.executor);
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
