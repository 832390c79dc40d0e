#include "report.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "limits.hpp"
#include "linearmem/target.hpp"

namespace linearmem::bench {
namespace {

#ifdef __GNUC__
__attribute__((format(printf, 1, 2)))
#endif
std::string text(const char* format, ...) {
  char room[256];
  va_list values;
  va_start(values, format);
  std::vsnprintf(room, sizeof room, format, values);
  va_end(values);
  return room;
}

std::string size_text(double bytes) {
  return bytes < 1048576 ? text("%.0f KiB", bytes / 1024) : text("%.0f MiB", bytes / 1048576);
}

std::string time_text(double seconds) {
  if (seconds < 1e-6) return text("%.1f ns", seconds * 1e9);
  if (seconds < 1e-3) return text("%.2f us", seconds * 1e6);
  return text("%.3f ms", seconds * 1e3);
}

// Work per call over the best time; empty where the case has no such work.
std::string rate_text(double work, double seconds) { return work > 0 ? text("%.1f", work / seconds * 1e-9) : ""; }

std::string limit_text(const Measurement& m) {
  if (m.subject.limit == Limit::none) return "";
  return text("%.1f %s", m.limit * 1e-9, m.subject.limit == Limit::multiply_add ? "GFLOP/s" : "GB/s");
}

const char* limit_name(Limit limit) {
  switch (limit) {
    case Limit::multiply_add: return "multiply-add";
    case Limit::update: return "in-place update";
    case Limit::read: return "read";
    case Limit::none: break;
  }
  return "none";
}

const char* clock_name(Clock clock) { return clock == Clock::wall ? "wall" : "processor"; }

std::string json_of(const Measurement& m) {
  const Case& c = m.subject;
  return text("{\"mechanism\": \"%s\", \"setting\": \"%s\", \"shape\": \"%s\", \"dtype\": \"%s\", ", c.mechanism.c_str(), c.setting.c_str(),
              c.shape.c_str(), c.wide ? "f64" : "f32") +
         text("\"error\": %.3e, \"first_seconds\": %.6e, \"seconds\": %.6e, \"median_seconds\": %.6e, ", m.proof.error,
              m.proof.first_seconds, m.minimum, m.median) +
         text("\"flops\": %.6e, \"bytes\": %.6e, \"elements\": %.6e, ", c.work.flops, c.work.bytes, c.work.elements) +
         text("\"limit\": \"%s\", \"limit_per_second\": %.6e, \"fraction\": %.4e, ", limit_name(c.limit), m.limit, m.fraction) +
         text("\"best_fraction\": %.4e, \"speed_up\": %.4e}", m.best_fraction, m.speed_up);
}

}  // namespace

MachineLimits machine_limits(const MeasureOptions& options) {
  MachineLimits limits;
  std::vector<MemorySamplers> memory;
  for (const MemoryLevel& level : memory_levels()) {
    memory.push_back(memory_samplers(level.bytes * options.timing.threads, options.timing));
    limits.levels.push_back({.name = level.name, .bytes = static_cast<double>(level.bytes)});
  }
  Sampler flops32 = multiply_add_sampler<float>(options.timing), flops64 = multiply_add_sampler<double>(options.timing);
  for (int round = 0; round < options.rounds; ++round) {
    limits.flops32 = std::max(limits.flops32, flops32.per_second());
    limits.flops64 = std::max(limits.flops64, flops64.per_second());
    for (std::size_t i = 0; i < memory.size(); ++i) {
      limits.levels[i].read = std::max(limits.levels[i].read, memory[i].read.per_second());
      limits.levels[i].update = std::max(limits.levels[i].update, memory[i].update.per_second());
    }
  }
  return limits;
}

std::string limits_table(const MachineLimits& limits, const MeasureOptions& options) {
  std::string table = text("LinearMem %s, target %s, threads %d, rounds %d, %s time\n\n", std::string(build_id()).c_str(),
                           std::string(simd_target()).c_str(), options.timing.threads, options.rounds, clock_name(options.timing.clock));
  table += "| limit of this machine | working set per thread | read | update in place |\n|---|---|---|---|\n";
  for (const LevelSpeed& level : limits.levels)
    table += text("| %s | %s | %.1f GB/s | %.1f GB/s |\n", level.name.c_str(), size_text(level.bytes).c_str(), level.read * 1e-9,
                  level.update * 1e-9);
  return table + text("| multiply-add | registers | %.1f GFLOP/s float32 | %.1f GFLOP/s float64 |\n", limits.flops32 * 1e-9,
                      limits.flops64 * 1e-9);
}

std::string table_head(const MeasureOptions& options) {
  const bool threads = options.executor;
  const std::string last = threads ? " times one thread |\n" : "\n";
  return "| mechanism | setting | shape | error | first call | best | median | GFLOP/s | GB/s | ns/element | limit | of limit | best of limit |" +
         last + "|---|---|---|---|---|---|---|---|---|---|---|---|---|" + (threads ? "---|\n" : "\n");
}

std::string table_line(const Measurement& m, const MeasureOptions& options) {
  const Case& c = m.subject;
  const std::string fractions = c.limit == Limit::none ? " | " : text("%.0f %% | %.0f %%", m.fraction * 100, m.best_fraction * 100);
  return "| " + c.mechanism + " | " + c.setting + " | " + c.shape + text(" | %.0e | ", m.proof.error) + time_text(m.proof.first_seconds) +
         " | " + time_text(m.minimum) + " | " + time_text(m.median) + " | " + rate_text(c.work.flops, m.minimum) + " | " +
         rate_text(c.work.bytes, m.minimum) + " | " + (c.work.elements > 0 ? text("%.3f", m.minimum / c.work.elements * 1e9) : "") + " | " +
         limit_text(m) + " | " + fractions + " |" + (options.executor ? text(" %.2f |\n", m.speed_up) : "\n");
}

std::string json_text(const MachineLimits& limits, const MeasureOptions& options, const std::vector<Measurement>& results) {
  std::string all = text("{\n  \"build\": \"%s\", \"target\": \"%s\", \"threads\": %d, \"rounds\": %d, \"clock\": \"%s\",\n",
                         std::string(build_id()).c_str(), std::string(simd_target()).c_str(), options.timing.threads, options.rounds,
                         clock_name(options.timing.clock));
  all += text("  \"limits\": {\"flops_f32\": %.6e, \"flops_f64\": %.6e, \"memory\": [", limits.flops32, limits.flops64);
  for (const LevelSpeed& level : limits.levels)
    all += text("%s\n    {\"level\": \"%s\", \"bytes\": %.0f, \"read\": %.6e, \"update\": %.6e}", &level == limits.levels.data() ? "" : ",",
                level.name.c_str(), level.bytes, level.read, level.update);
  all += "]},\n  \"results\": [";
  for (std::size_t i = 0; i < results.size(); ++i) all += (i ? ",\n    " : "\n    ") + json_of(results[i]);
  return all + "]\n}\n";
}

}  // namespace linearmem::bench
