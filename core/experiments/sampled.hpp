// Figures that put sampled points beside lines of theory: one part for each seed of each sampler, and the series that come of them.
#pragma once

#include <string>
#include <vector>

#include "associative_memory/sampled_statistics.hpp"
#include "linearmem/associative_memory_sampling.hpp"
#include "linearmem/associative_memory_theory.hpp"
#include "linearmem/experiments.hpp"

namespace linearmem {

using Sampled = associative::SampledStatistics;
using Samplers = std::vector<Sampled>;  // the finished seeds of each

// Samples with each of `settings`; draw(settings of the figure, samplers) makes the figure at any time.
using Draw = Figure (*)(const Settings& settings, const Samplers& samplers);
Result<std::unique_ptr<FigureParts>> sampled_parts(const Settings& settings, const std::vector<SamplingSettings>& sampling, Draw draw);

// Whole numbers from first to last, evenly apart in their logarithm, at most `count`, none twice.
std::vector<std::int64_t> logarithmic_items(std::int64_t first, std::int64_t last, int count);

enum class Statistic { rms, median, mean };

// The finished estimates of one rule as points; items: those the sampler reports at.
Series sampled_series(const char* memory, const char* label, const Sampled& sampler, std::size_t rule,
                      const std::vector<std::int64_t>& items, Statistic statistic = Statistic::rms);

// R_RMS of the theory as a line over `items`.
Series theory_series(const char* memory, const char* label, const ResponseRule& rule, std::int64_t K,
                     const std::vector<std::int64_t>& items, double match = 1);

// The settings of every sampled figure.
inline SettingSpec key_width_setting(double width) { return {"key_width", "key width K", width, 2, 1024, 1}; }
inline SettingSpec seeds_setting(double seeds) { return {"seeds", "seeds sampled", seeds, 2, 100, 1}; }
inline SettingSpec items_setting(double items) { return {"items", "most items sampled", items, 2, 1048576, 1}; }
inline SettingSpec first_seed_setting() { return {"first_seed", "the first seed", 21, 0, 4294967295.0, 1}; }

// V = K, 4 queries a seed.
SamplingSettings sampling_settings(const Settings& settings, const std::vector<ResponseRule>& rules,
                                   const std::vector<std::int64_t>& items);

}  // namespace linearmem
