#include "experiments/sampled.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/lists.hpp"

namespace linearmem {
namespace {

// One seed of one sampler. Values: rms, median and mean of each rule at each number of items.
class SeedRun final : public PartRun {
 public:
  SeedRun(InterferenceSampler sampler, std::size_t rules, std::size_t places)
      : sampler_(std::move(sampler)), rules_(rules), places_(places) {}

  Status step() override { return sampler_.step(); }
  double progress() const override { return sampler_.progress(); }
  std::vector<double> values() const override {
    std::vector<double> values;
    for (std::size_t rule = 0; rule < rules_; ++rule)
      for (std::size_t place = 0; place < places_; ++place) {
        const SampledRatio ratio = sampler_.at(rule, place);
        values.insert(values.end(), {ratio.rms.value, ratio.median.value, ratio.mean.value});
      }
    return values;
  }

 private:
  InterferenceSampler sampler_;
  std::size_t rules_, places_;
};

// The first seed of every sampler, then the second of every one, ...
class SampledParts final : public FigureParts {
 public:
  SampledParts(const Settings& settings, const std::vector<SamplingSettings>& sampling, Draw figure)
      : settings_(settings), sampling_(sampling), draw_(figure) {}

  std::int64_t count() const override { return static_cast<std::int64_t>(sampling_.size()) * sampling_[0].seeds; }
  double work(std::int64_t part) const override {
    const SamplingSettings& s = of(part);
    const auto items = static_cast<double>(s.items.back()), width = static_cast<double>(s.K + s.V);
    const bool squares = s.rules[0].response == Response::least_squares;
    return items * width * (20 + static_cast<double>(s.queries) * static_cast<double>(s.rules.size())) +
           (squares ? items * width * width : 0);
  }
  Result<std::unique_ptr<PartRun>> start(std::int64_t part) const override {
    SamplingSettings one = of(part);
    one.first_seed += static_cast<std::uint64_t>(part) / sampling_.size();
    one.seeds = 1;
    auto sampler = InterferenceSampler::create(one);
    if (!sampler.ok()) return sampler.status();
    return std::unique_ptr<PartRun>(std::make_unique<SeedRun>(std::move(sampler).value(), one.rules.size(), one.items.size()));
  }
  Status compute_on(const Backend& backend) override {
    for (SamplingSettings& one : sampling_) {
      one.backend = &backend;
      if (const auto sampler = InterferenceSampler::create(one); !sampler.ok()) return sampler.status();
    }
    return {};
  }
  Figure draw(const std::vector<std::vector<double>>& values) const override {
    Samplers samplers;
    for (const SamplingSettings& s : sampling_) samplers.emplace_back(s.rules.size(), s.items.size());
    for (std::size_t part = 0; part < values.size(); ++part) {
      const std::size_t sampler = part % sampling_.size(), places = sampling_[sampler].items.size();
      for (std::size_t i = 0; 3 * i < values[part].size(); ++i)
        samplers[sampler].add(i / places, i % places,
                              RatioStatistics{values[part][3 * i], values[part][3 * i + 1], values[part][3 * i + 2]});
    }
    return draw_(settings_, samplers);
  }

 private:
  const SamplingSettings& of(std::int64_t part) const { return sampling_[static_cast<std::size_t>(part) % sampling_.size()]; }

  Settings settings_;
  std::vector<SamplingSettings> sampling_;
  Draw draw_;
};

}  // namespace

Result<std::unique_ptr<FigureParts>> sampled_parts(const Settings& settings, const std::vector<SamplingSettings>& sampling, Draw draw) {
  for (const SamplingSettings& one : sampling)
    if (const auto sampler = InterferenceSampler::create(one); !sampler.ok()) return sampler.status();
  return std::unique_ptr<FigureParts>(std::make_unique<SampledParts>(settings, sampling, draw));
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

Series sampled_series(const char* memory, const char* label, const Sampled& sampler, std::size_t rule,
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
