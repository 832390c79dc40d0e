#include "experiments/sampled.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace linearmem {
namespace {

class SampledRun final : public ExperimentRun {
 public:
  SampledRun(const Settings& settings, Samplers samplers, Draw draw) : settings_(settings), samplers_(std::move(samplers)), draw_(draw) {}

  void step() override {
    for (InterferenceSampler& sampler : samplers_)
      if (!sampler.done()) return sampler.step();
  }
  double progress() const override {
    double sum = 0;
    bool done = true;
    for (const InterferenceSampler& sampler : samplers_) {
      sum += sampler.progress();
      done = done && sampler.done();
    }
    return done ? 1 : std::min(sum / static_cast<double>(samplers_.size()), 0.999);
  }
  Figure figure() const override { return draw_(settings_, samplers_); }

 private:
  Settings settings_;
  Samplers samplers_;
  Draw draw_;
};

}  // namespace

Result<std::unique_ptr<ExperimentRun>> sampled_run(const Settings& settings, const std::vector<SamplingSettings>& sampling, Draw draw) {
  Samplers samplers;
  for (const SamplingSettings& one : sampling) {
    auto sampler = InterferenceSampler::create(one);
    if (!sampler.ok()) return sampler.status();
    samplers.push_back(std::move(sampler).value());
  }
  return std::unique_ptr<ExperimentRun>(std::make_unique<SampledRun>(settings, std::move(samplers), draw));
}

std::vector<std::int64_t> logarithmic_items(std::int64_t first, std::int64_t last, int count) {
  std::vector<std::int64_t> items;
  const double ratio = std::log(static_cast<double>(last) / static_cast<double>(first));
  for (int i = 0; i < count; ++i) {
    const auto M = static_cast<std::int64_t>(std::llround(static_cast<double>(first) * std::exp(ratio * i / (count - 1))));
    if (items.empty() || M > items.back()) items.push_back(M);
  }
  return items;
}

Series sampled_series(const char* memory, const char* label, const InterferenceSampler& sampler, std::size_t rule,
                      const std::vector<std::int64_t>& items, Statistic statistic) {
  Series series{memory, label, {}, {}};
  series.points = true;
  for (std::size_t place = 0; place < items.size(); ++place) {
    const SampledRatio ratio = sampler.at(rule, place);
    const Estimate& estimate = statistic == Statistic::rms ? ratio.rms : statistic == Statistic::median ? ratio.median : ratio.mean;
    if (!(ratio.seeds >= 2)) continue;  // no interval yet
    series.x.push_back(static_cast<double>(items[place]));
    series.y.push_back(estimate.value);
    series.low.push_back(estimate.low);
    series.high.push_back(estimate.high);
  }
  return series;
}

Series theory_series(const char* memory, const char* label, const ResponseRule& rule, std::int64_t K,
                     const std::vector<std::int64_t>& items, double match) {
  Series series{memory, label, {}, {}};
  const double one = interference_per_item(rule, K, match);
  for (std::int64_t M : items) {
    series.x.push_back(static_cast<double>(M));
    const bool same_beta = !rule.sharpen_beyond || M <= *rule.sharpen_beyond;
    series.y.push_back(same_beta ? std::sqrt(static_cast<double>(M - 1) * one) : rms_interference(rule, K, M, match));
  }
  return series;
}

SamplingSettings sampling_settings(const Settings& settings, const std::vector<ResponseRule>& rules,
                                   const std::vector<std::int64_t>& items) {
  const std::int64_t K = whole(settings, "key_width");
  return {.K = K,
          .V = K,
          .rules = rules,
          .items = items,
          .queries = 4,
          .first_seed = static_cast<std::uint64_t>(settings.at("first_seed")),
          .seeds = whole(settings, "seeds")};
}

}  // namespace linearmem
