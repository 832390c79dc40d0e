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

class WallClock final : public ExperimentRun {
 public:
  WallClock(std::int64_t width, std::int64_t longest) : lines_(kLineCount) {
    for (std::int64_t tokens = kShortest; tokens <= longest; tokens *= 2)
      for (const Line& line : kLines) add_case(line, tokens, width);
  }

  void step() override {
    if (!status_.ok() || current_ == cases_.size()) return;
    if (!workload_) status_ = begin_case();
    else if (warm_seconds_ < kWarmSeconds || sample_calls_ == 0) status_ = warm_up();
    else status_ = take_sample();
  }

  double progress() const override {
    if (current_ == cases_.size()) return 1;
    const double within = static_cast<double>(samples_.size()) / kSamples;
    return (static_cast<double>(current_) + within) / static_cast<double>(cases_.size());
  }

  Status status() const override { return status_; }
  Figure figure() const override;

 private:
  void add_case(const Line& line, std::int64_t tokens, std::int64_t width) {
    const auto made = cases({.heads = 1, .tokens = tokens, .widths = {width}, .proof_flops = kProof}, {line.mechanism}, {"prefill"});
    if (!made.ok()) status_ = made.status();
    else cases_.push_back(made.value().front());
  }

  std::vector<Point>& points() { return lines_[current_ % kLineCount]; }

  Status begin_case() {
    const Case& subject = cases_[current_];
    workload_ = subject.make();
    const Result<Proof> proof = workload_->prove();
    if (!proof.ok()) return proof.status();
    if (proof.value().error <= subject.tolerance) return {};
    char text[96];
    std::snprintf(text, sizeof text, ": no time is told: it is %.1e from the definition, allowed is %.0e", proof.value().error,
                  subject.tolerance);
    return {StatusCode::unavailable, subject.mechanism + ", " + subject.shape + text};
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
    samples_.push_back(took.value() / static_cast<double>(sample_calls_));
    return samples_.size() == kSamples ? end_case() : Status();
  }

  Status end_case() {
    const Case& subject = cases_[current_];
    if (!workload_->unchanged())
      return {StatusCode::unavailable, subject.mechanism + ", " + subject.shape + ": no time is told: a timed call gave other numbers"};
    const auto [low, high] = std::minmax_element(samples_.begin(), samples_.end());
    points().push_back({.tokens = static_cast<double>(kShortest << (current_ / kLineCount)),
                        .flops = subject.work.flops,
                        .low = *low,
                        .median = median_of(samples_),
                        .high = *high});
    workload_ = nullptr;
    samples_.clear();
    sample_calls_ = 0, warm_calls_ = 1, warm_seconds_ = 0;
    ++current_;
    return {};
  }

  std::vector<Case> cases_;  // tokens by tokens, in the order of kLines
  std::vector<std::vector<Point>> lines_;
  Status status_;
  std::size_t current_ = 0;
  std::unique_ptr<Workload> workload_;
  std::int64_t warm_calls_ = 1, sample_calls_ = 0;
  double warm_seconds_ = 0;
  std::vector<double> samples_;
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

Figure WallClock::figure() const {
  Panel time = panel_of("time", {"time of a call", "ms", true}, lines_, [](const Point& point) { return point.median * 1e3; });
  for (std::size_t i = 0; i < kLineCount; ++i)
    for (const Point& point : lines_[i])
      time.series[i].low.push_back(point.low * 1e3), time.series[i].high.push_back(point.high * 1e3);
  std::vector<std::vector<Point>> all(kLineCount);  // the operations are known before anything is measured
  for (std::size_t i = 0; i < cases_.size(); ++i)
    all[i % kLineCount].push_back({.tokens = static_cast<double>(kShortest << (i / kLineCount)), .flops = cases_[i].work.flops});
  Panel operations = panel_of("operations", {"operations of a call", "", true}, all, [](const Point& point) { return point.flops; });
  return {.panels = {std::move(time), std::move(operations)}};
}

Status check_whole(const Settings& settings) {
  for (const auto& [name, value] : settings)
    if (value != std::floor(value)) return Status::invalid("wall-clock: " + name + " is " + std::to_string(value) + ", must be a whole number");
  return {};
}

Result<std::unique_ptr<ExperimentRun>> start(const Settings& settings) {
  if (Status status = check_whole(settings); !status.ok()) return status;
  std::unique_ptr<ExperimentRun> run =
      std::make_unique<WallClock>(static_cast<std::int64_t>(settings.at("width")), static_cast<std::int64_t>(settings.at("longest")));
  if (Status status = run->status(); !status.ok()) return status;
  return run;
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
      .start = start};
  return experiment;
}

}  // namespace linearmem::bench
