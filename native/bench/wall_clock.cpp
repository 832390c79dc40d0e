#include "wall_clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include "limits.hpp"
#include "measure.hpp"
#include "workload.hpp"

namespace linearmem::bench {
namespace {

constexpr struct Line {
  const char *mechanism, *memory, *label;
} kLines[] = {{"softmax-attention", "softmax_attention", "softmax"},          {"linear-attention", "linear_attention", "linear"},
              {"gated-linear-attention", "linear_attention", "gated linear"}, {"delta-rule", "delta_rule", "delta"},
              {"gated-delta-rule", "gated_delta_rule", "gated delta"},        {"ssd", "ssd", "SSD"}};
constexpr std::size_t kLineCount = std::size(kLines), kSoftmax = 0, kGatedDelta = 4;

constexpr std::int64_t kShortest = 16;
constexpr int kSamples = 5;
// Browsers' clocks go in steps of up to a tenth of a millisecond, and their compilers take up the faster code of a kernel a while after it
// was first called: samples of many calls, after some warming up.
constexpr double kSampleSeconds = 0.01, kWarmSeconds = 0.04;
constexpr double kProof = 1e8;  // flops: a step of a figure should not take long

struct Point {
  double tokens = 0, flops = 0;
  double low = 0, median = 0, high = 0;  // seconds of one call; 0 before they are measured
};

// One case: proved, warmed up, then timed kSamples times; its values are the least, the median and the largest time of a call in seconds.
class Clocked final : public PartRun {
 public:
  explicit Clocked(const Case& subject) : subject_(subject) {}

  Status step() override {
    if (progress() == 1) return {};
    if (!workload_) return begin();
    return warm_seconds_ < kWarmSeconds || sample_calls_ == 0 ? warm_up() : take_sample();
  }
  double progress() const override { return static_cast<double>(samples_.size()) / kSamples; }
  std::vector<double> values() const override {
    const auto [low, high] = std::minmax_element(samples_.begin(), samples_.end());
    return {*low, median_of(samples_), *high};
  }

 private:
  Status begin() {
    workload_ = subject_.make();
    const Result<Proof> proof = workload_->prove();
    if (!proof.ok()) return proof.status();
    if (proof.value().error <= subject_.tolerance) return {};
    char text[96];
    std::snprintf(text, sizeof text, ": no time is told: it is %.1e from the definition, allowed is %.0e", proof.value().error,
                  subject_.tolerance);
    return {StatusCode::unavailable, subject_.mechanism + ", " + subject_.shape + text};
  }

  Result<double> time_calls(std::int64_t calls) {
    const double begin = seconds(Clock::wall);
    for (std::int64_t i = 0; i < calls; ++i)
      if (Status status = workload_->run(); !status.ok()) return status;
    return seconds(Clock::wall) - begin;
  }

  // Batches of twice as many calls each, until one takes long enough to be a sample; then as long as warming up takes.
  Status warm_up() {
    const std::int64_t calls = sample_calls_ > 0 ? sample_calls_ : warm_calls_;
    const Result<double> took = time_calls(calls);
    if (!took.ok()) return took.status();
    warm_seconds_ += took.value();
    if (took.value() >= kSampleSeconds) sample_calls_ = calls;
    else warm_calls_ = 2 * calls, sample_calls_ = 0;
    return {};
  }

  Status take_sample() {
    const Result<double> took = time_calls(sample_calls_);
    if (!took.ok()) return took.status();
    if (samples_.size() + 1 == kSamples && !workload_->unchanged())
      return {StatusCode::unavailable, subject_.mechanism + ", " + subject_.shape + ": no time is told: a timed call gave other numbers"};
    samples_.push_back(took.value() / static_cast<double>(sample_calls_));
    return {};
  }

  Case subject_;
  std::unique_ptr<Workload> workload_;
  std::int64_t warm_calls_ = 1, sample_calls_ = 0;
  double warm_seconds_ = 0;
  std::vector<double> samples_;
};

// Parts are the cases, tokens by tokens, in the order of kLines. They are times: to be taken one after the other.
class WallClock final : public FigureParts {
 public:
  static Result<std::unique_ptr<FigureParts>> create(std::int64_t width, std::int64_t longest) {
    auto clock = std::make_unique<WallClock>();
    for (std::int64_t tokens = kShortest; tokens <= longest; tokens *= 2)
      for (const Line& line : kLines) {
        const auto made = cases({.heads = 1, .tokens = tokens, .widths = {width}, .proof_flops = kProof}, {line.mechanism}, {"prefill"});
        if (!made.ok()) return made.status();
        clock->cases_.push_back(made.value().front());
      }
    return std::unique_ptr<FigureParts>(std::move(clock));
  }

  std::int64_t count() const override { return static_cast<std::int64_t>(cases_.size()); }
  double work(std::int64_t) const override { return 1; }  // samples take the same time whatever a call takes
  Result<std::unique_ptr<PartRun>> start(std::int64_t part) const override {
    return std::unique_ptr<PartRun>(std::make_unique<Clocked>(cases_[static_cast<std::size_t>(part)]));
  }
  Figure draw(const std::vector<std::vector<double>>& values) const override;

 private:
  std::vector<Case> cases_;
};

template <typename Value>
Panel panel_of(const char* name, const Axis& y, const std::vector<std::vector<Point>>& lines, Value value) {
  Panel panel{.name = name, .x = {"tokens", "tokens", true}, .y = y, .series = {}};
  for (std::size_t i = 0; i < kLineCount; ++i) {
    Series series{.memory = kLines[i].memory, .label = kLines[i].label, .x = {}, .y = {}};
    for (const Point& point : lines[i]) series.x.push_back(point.tokens), series.y.push_back(value(point));
    panel.series.push_back(std::move(series));
  }
  const Series &softmax = panel.series[kSoftmax], &gated_delta = panel.series[kGatedDelta];
  const double end = crossing(softmax.x, softmax.y, gated_delta.y);
  if (end > static_cast<double>(kShortest))
    panel.bands.push_back({.label = "softmax below gated delta", .from = static_cast<double>(kShortest), .to = end});
  return panel;
}

Figure WallClock::draw(const std::vector<std::vector<double>>& values) const {
  std::vector<std::vector<Point>> timed(kLineCount), all(kLineCount);  // the operations are known before anything is measured
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    Point point{.tokens = static_cast<double>(kShortest << (i / kLineCount)), .flops = cases_[i].work.flops};
    all[i % kLineCount].push_back(point);
    if (values[i].empty()) continue;
    point.low = values[i][0], point.median = values[i][1], point.high = values[i][2];
    timed[i % kLineCount].push_back(point);
  }
  Panel time = panel_of("time", {"time of a call", "ms", true}, timed, [](const Point& point) { return point.median * 1e3; });
  for (std::size_t i = 0; i < kLineCount; ++i)
    for (const Point& point : timed[i])
      time.series[i].low.push_back(point.low * 1e3), time.series[i].high.push_back(point.high * 1e3);
  Panel operations = panel_of("operations", {"operations of a call", "", true}, all, [](const Point& point) { return point.flops; });
  return {.panels = {std::move(time), std::move(operations)}};
}

Status check_whole(const Settings& settings) {
  for (const auto& [name, value] : settings)
    if (value != std::floor(value)) return Status::invalid("wall-clock: " + name + " is " + std::to_string(value) + ", must be a whole number");
  return {};
}

Result<std::unique_ptr<FigureParts>> parts(const Settings& settings) {
  if (Status status = check_whole(settings); !status.ok()) return status;
  return WallClock::create(static_cast<std::int64_t>(settings.at("width")), static_cast<std::int64_t>(settings.at("longest")));
}

}  // namespace

double crossing(const std::vector<double>& x, const std::vector<double>& subject, const std::vector<double>& other) {
  double before = 0, found = 0;
  for (std::size_t i = 0; i < subject.size() && i < other.size(); ++i) {
    const double gap = std::log(subject[i]) - std::log(other[i]);  // from 0 on: other is not above
    if (gap < 0) found = x[i];
    else if (i > 0 && before < 0) found = x[i - 1] * std::pow(x[i] / x[i - 1], before / (before - gap));
    before = gap;
  }
  return found;
}

const Experiment& wall_clock_experiment() {
  static const Experiment experiment{
      .name = "wall-clock",
      .question = "How long does a call of each mechanism take on this machine, and where does softmax attention become the slower one?",
      .not_shown = "more than one head and one thread; what surrounds a call in a model",
      .settings = {{"width", "width of keys and values", 64, 16, 256, 16}, {"longest", "most tokens of a call", 4096, 64, 8192, 64}},
      .run = nullptr,
      .parts = parts};
  return experiment;
}

}  // namespace linearmem::bench
