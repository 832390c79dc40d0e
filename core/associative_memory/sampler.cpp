// The sampler: one tile of items per step, all rules on the same scores; least squares by normal equations, one M per step.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "associative_memory/checks.hpp"
#include "associative_memory/item_sums.hpp"
#include "associative_memory/normal_equations.hpp"
#include "associative_memory/running_sums.hpp"
#include "associative_memory/sample_stream.hpp"
#include "associative_memory/sampled_statistics.hpp"
#include "linearmem/backend.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {

namespace associative {

class SamplerWork {
 public:
  explicit SamplerWork(const SamplingSettings& settings) : settings_(settings), statistics_(settings.rules.size(), settings.items.size()) {}
  virtual ~SamplerWork() = default;

  bool done() const { return seed_ == settings_.seeds; }
  // Work done in the seed at hand, 0 to 1.
  virtual double share() const = 0;
  virtual Status step() = 0;
  double progress() const { return done() ? 1 : (static_cast<double>(seed_) + share()) / static_cast<double>(settings_.seeds); }
  SampledRatio at(std::size_t rule, std::size_t place) const { return statistics_.at(rule, place); }

 protected:
  const SamplingSettings settings_;
  associative::SampledStatistics statistics_;
  std::int64_t seed_ = 0;

  std::uint64_t seed_number() const { return settings_.first_seed + static_cast<std::uint64_t>(seed_); }
};

}  // namespace associative

namespace {

using associative::kTileItems;
using associative::SampledLine;
using associative::SamplerWork;

std::vector<SampledLine> lines_of(const SamplingSettings& settings) {
  std::vector<SampledLine> lines;
  for (std::size_t rule = 0; rule < settings.rules.size(); ++rule)
    for (std::size_t place = 0; place < settings.items.size(); ++place) {
      const double beta = beta_for(settings.rules[rule], settings.items[place]);
      if (!lines.empty() && lines.back().rule == rule && lines.back().beta == beta)
        ++lines.back().end;
      else
        lines.push_back({rule, place, place + 1, associative::kernel_rule(settings.rules[rule], settings.items[place]), beta});
    }
  return lines;
}

// R of one query: `sum` [V] of the others' values, its length still to be multiplied by exp(log_scale).
double ratio_of(const SamplingSettings& settings, const SampledLine& line, const double* sum, double log_scale) {
  double squares = 0;
  for (std::int64_t j = 0; j < settings.V; ++j) squares += sum[j] * sum[j];
  const double others = std::sqrt(squares);
  if (others == 0) return 0;
  // exp(beta s) of target and others, divided by the largest of the others
  if (line.kernel.exponential) return others * std::exp(log_scale - line.beta * settings.match);
  return others / std::abs(respond(settings.rules[line.rule], settings.match, settings.items[line.begin]));
}

// Responses that are functions of the score.
class ResponseWork : public SamplerWork {
 public:
  explicit ResponseWork(const SamplingSettings& settings)
      : SamplerWork(settings),
        lines_(lines_of(settings)),
        scores_(static_cast<std::size_t>(associative::padded_queries(settings.queries) * kTileItems)),
        ratios_(static_cast<std::size_t>(settings.queries)) {}

  double share() const override { return static_cast<double>(others_) / static_cast<double>(settings_.items.back()); }

  Status step() override {
    if (!stream_) begin_seed();
    report_places();  // M = 1 needs no items
    if (place_ < settings_.items.size()) {
      stream_->draw_tile();
      associative::tile_scores(
          {stream_->queries().data(), stream_->keys().data(), scores_.data(), associative::padded_queries(settings_.queries), settings_.K});
      const std::int64_t tile = others_;
      while (others_ < tile + kTileItems && place_ < settings_.items.size()) {
        const std::int64_t end = std::min(tile + kTileItems, settings_.items[place_] - 1);
        for (std::size_t i = 0; i < lines_.size(); ++i)
          if (place_ < lines_[i].end) sums_[i].add(lines_[i].kernel, scores_.data(), stream_->values().data(), others_ - tile, end - tile);
        others_ = end;
        report_places();
      }
    }
    if (place_ == settings_.items.size()) end_seed();
    return {};
  }

 private:
  void begin_seed() {
    stream_.emplace(settings_, seed_number());
    sums_.assign(lines_.size(), associative::RunningSums(settings_.queries, settings_.V));
    place_ = 0;
  }

  void end_seed() {
    stream_.reset();
    others_ = 0;
    ++seed_;
  }

  void report_places() {
    for (; place_ < settings_.items.size() && settings_.items[place_] == others_ + 1; ++place_)
      for (std::size_t i = 0; i < lines_.size(); ++i)
        if (lines_[i].begin <= place_ && place_ < lines_[i].end) report(lines_[i], sums_[i]);
  }

  void report(const SampledLine& line, const associative::RunningSums& sums) {
    for (std::int64_t q = 0; q < settings_.queries; ++q)
      ratios_[static_cast<std::size_t>(q)] = ratio_of(settings_, line, sums.sum(q), sums.log_scale(q));
    statistics_.add(line.rule, place_, ratios_);
  }

  std::vector<SampledLine> lines_;
  std::vector<associative::RunningSums> sums_;
  std::vector<double> scores_, ratios_;
  std::optional<associative::SampleStream> stream_;
  std::int64_t others_ = 0;  // items of the stream met so far
  std::size_t place_ = 0;    // the next number of items to report at
};

// The same on a backend, which draws and sums a whole seed at a time.
class BackendWork : public SamplerWork {
 public:
  explicit BackendWork(const SamplingSettings& settings) : SamplerWork(settings), lines_(lines_of(settings)), others_(settings.items) {
    for (std::int64_t& items : others_) --items;
    for (const SampledLine& line : lines_) rows_ += static_cast<std::int64_t>(line.end - line.begin);
  }

  double share() const override { return 0; }

  Status step() override {
    const associative::SampleStream stream(settings_, seed_number());
    const std::int64_t Q = settings_.queries, V = settings_.V;
    Tensor<double, 3> sums({rows_, Q, V});
    Tensor<double, 2> largest({rows_, Q});
    const Status status = settings_.backend->run(associative::ItemSumsArguments{
        .stream = stream.place(), .queries = {stream.queries().data(), {Q, settings_.K}}, .V = V, .items = others_, .lines = lines_,
        .sums = sums.view(), .largest = largest.view()});
    if (!status.ok()) return status;
    std::vector<double> ratios(static_cast<std::size_t>(Q));
    std::int64_t row = 0;
    for (const SampledLine& line : lines_)
      for (std::size_t place = line.begin; place < line.end; ++place, ++row) {
        for (std::int64_t q = 0; q < Q; ++q)
          ratios[static_cast<std::size_t>(q)] = ratio_of(settings_, line, &sums(row, q, 0), line.kernel.exponential ? largest(row, q) : 0);
        statistics_.add(line.rule, place, ratios);
      }
    ++seed_;
    return {};
  }

 private:
  std::vector<SampledLine> lines_;
  std::vector<std::int64_t> others_;  // items beside a query's own, at each place
  std::int64_t rows_ = 0;
};

// Least squares, whose weights depend on every key.
class LeastSquaresWork : public SamplerWork {
 public:
  explicit LeastSquaresWork(const SamplingSettings& settings) : SamplerWork(settings) {}

  double share() const override { return static_cast<double>(place_) / static_cast<double>(settings_.items.size()); }

  Status step() override {
    if (place_ == 0) memory_.emplace(settings_, seed_number());
    statistics_.add(0, place_, memory_->ratios(settings_.items[place_]));
    if (++place_ < settings_.items.size()) return {};
    place_ = 0;
    ++seed_;
    return {};
  }

 private:
  std::optional<associative::LeastSquaresMemory> memory_;
  std::size_t place_ = 0;
};

Status check(const SamplingSettings& s) {
  ShapeCheck shapes("interference_sampler");
  const auto at_least = [&](const char* name, std::int64_t value, std::int64_t least) {
    shapes.require(value >= least, std::string(name) + " is " + std::to_string(value) + ", must be at least " + std::to_string(least));
  };
  at_least("K", s.K, 2);
  at_least("V", s.V, 1);
  at_least("queries", s.queries, 1);
  at_least("seeds", s.seeds, 1);
  shapes.require(!s.rules.empty(), "rules is empty").require(!s.items.empty(), "items is empty");
  shapes.require(s.match >= 0 && s.match <= 1, "match is " + number_text(s.match) + ", must be from 0 to 1");
  for (std::size_t i = 0; i < s.items.size(); ++i) {
    const std::int64_t least = i == 0 ? 1 : s.items[i - 1] + 1;
    at_least(("items[" + std::to_string(i) + "]").c_str(), s.items[i], least);
  }
  for (const ResponseRule& rule : s.rules) {
    associative::check_rule(shapes, rule);
    if (rule.response != Response::least_squares) continue;
    shapes.require(s.rules.size() == 1,
                   "least_squares stands beside " + std::to_string(s.rules.size() - 1) + " other rules, must be alone");
  }
  return shapes.status();
}

}  // namespace

Result<InterferenceSampler> InterferenceSampler::create(const SamplingSettings& settings) {
  if (Status status = check(settings); !status.ok()) return status;
  const bool least_squares = settings.rules[0].response == Response::least_squares;
  if (settings.backend && least_squares)
    return Status::unavailable("interference_sampler: backend " + std::string(settings.backend->name()) +
                               " does not sample least-squares, whose weights depend on all keys; it has the rules that are functions of a score");
  if (settings.backend) return InterferenceSampler(std::make_unique<BackendWork>(settings));
  if (least_squares) return InterferenceSampler(std::make_unique<LeastSquaresWork>(settings));
  return InterferenceSampler(std::make_unique<ResponseWork>(settings));
}

InterferenceSampler::InterferenceSampler(std::unique_ptr<associative::SamplerWork> work) : work_(std::move(work)) {}
InterferenceSampler::InterferenceSampler(InterferenceSampler&&) noexcept = default;
InterferenceSampler& InterferenceSampler::operator=(InterferenceSampler&&) noexcept = default;
InterferenceSampler::~InterferenceSampler() = default;

bool InterferenceSampler::done() const { return work_->done(); }
double InterferenceSampler::progress() const { return work_->progress(); }
Status InterferenceSampler::step() { return done() ? Status() : work_->step(); }
Status InterferenceSampler::run() {
  while (!done())
    if (Status status = work_->step(); !status.ok()) return status;
  return {};
}
SampledRatio InterferenceSampler::at(std::size_t rule, std::size_t place) const { return work_->at(rule, place); }

}  // namespace linearmem
