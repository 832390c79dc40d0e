#include "sweep_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <mutex>
#include <new>
#include <numeric>
#include <vector>

namespace linearmem::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// 3 s, 90 s, 12 min, 3 h
std::string duration_text(double seconds) {
  const auto rounded = [](double number) { return std::to_string(static_cast<long long>(std::ceil(number))); };
  if (seconds < 120) return rounded(seconds) + " s";
  return seconds < 7200 ? rounded(seconds / 60) + " min" : rounded(seconds / 3600) + " h";
}

// A line on the terminal that is written over, at most ten times a second; nothing where standard error goes elsewhere.
class ProgressLine {
 public:
  ProgressLine() : shown_(isatty(STDERR_FILENO) != 0), start_(Clock::now()), last_(start_) {}
  ~ProgressLine() {
    if (shown_) std::cerr << "\r\033[K" << std::flush;
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // share of all work, and how much of it was there before this run
  void show(double share, double before) {
    if (!shown_ || std::chrono::duration<double>(Clock::now() - last_).count() < 0.1) return;
    last_ = Clock::now();
    std::cerr << "\r\033[K" << static_cast<int>(100 * share) << " %";
    if (share > before) std::cerr << ", about " << duration_text(seconds_since(start_) * (1 - share) / (share - before)) << " left";
    std::cerr << std::flush;
  }

 private:
  bool shown_;
  Clock::time_point start_, last_;
};

// What the threads share. Parts are independent, so the lock is held for bookkeeping only.
class Sweep {
 public:
  Sweep(const FigureParts& parts, PartialFile* partial)
      : parts_(parts),
        partial_(partial),
        values_(partial ? partial->values() : std::vector<std::vector<double>>(static_cast<std::size_t>(parts.count()))),
        share_(values_.size()) {
    for (std::size_t part = 0; part < values_.size(); ++part) {
      const double work = parts.work(static_cast<std::int64_t>(part));
      all_ += work;
      if (values_[part].empty())
        left_.push_back(static_cast<std::int64_t>(part));
      else
        done_ += work;
    }
    before_ = done_;
    // The long ones first: at the end no thread waits for one of them.
    std::stable_sort(left_.begin(), left_.end(), [&](std::int64_t a, std::int64_t b) { return parts.work(a) > parts.work(b); });
  }

  std::int64_t left() const { return static_cast<std::int64_t>(left_.size()); }
  const Status& status() const { return status_; }
  const std::vector<std::vector<double>>& values() const { return values_; }

  static void run_item(const void* context, std::int64_t index) noexcept {
    Sweep& sweep = *static_cast<Sweep*>(const_cast<void*>(context));
    Status status;
    try {
      status = sweep.run_part(sweep.left_[static_cast<std::size_t>(index)]);
    } catch (const std::bad_alloc&) {
      status = Status(StatusCode::out_of_memory, "out of memory");
    }
    const std::lock_guard lock(sweep.mutex_);
    if (sweep.status_.ok()) sweep.status_ = std::move(status);
  }

 private:
  Status run_part(std::int64_t part) {
    if (stopped()) return {};
    auto run = parts_.start(part);
    if (!run.ok()) return run.status();
    while (run.value()->progress() < 1) {
      if (Status status = run.value()->step(); !status.ok()) return status;
      if (tell(part, run.value()->progress())) return {};
    }
    std::vector<double> values = run.value()->values();
    const std::lock_guard lock(mutex_);
    Status status = partial_ ? partial_->add(part, values) : Status();
    values_[static_cast<std::size_t>(part)] = std::move(values);
    return status;
  }

  bool stopped() {
    const std::lock_guard lock(mutex_);
    return !status_.ok();
  }

  // Whether another part has failed.
  bool tell(std::int64_t part, double progress) {
    const std::lock_guard lock(mutex_);
    const auto at = static_cast<std::size_t>(part);
    done_ += (progress - share_[at]) * parts_.work(part);
    share_[at] = progress;
    line_.show(done_ / all_, before_ / all_);
    return !status_.ok();
  }

  const FigureParts& parts_;
  PartialFile* partial_;
  std::vector<std::vector<double>> values_;
  std::vector<double> share_;
  std::vector<std::int64_t> left_;
  double all_ = 0, done_ = 0, before_ = 0;
  ProgressLine line_;
  std::mutex mutex_;
  Status status_;
};

}  // namespace

Result<Figure> run_parts(const FigureParts& parts, const Executor& executor, PartialFile* partial) {
  Sweep sweep(parts, partial);
  if (sweep.left() > 0) executor.run(sweep.left(), Sweep::run_item, &sweep);
  if (!sweep.status().ok()) return sweep.status();
  return parts.draw(sweep.values());
}

Result<std::string> estimate_parts(const FigureParts& parts, std::int64_t threads) {
  if (parts.count() == 0) return std::string("less than a second: it is computed at once");
  std::vector<std::int64_t> order(static_cast<std::size_t>(parts.count()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  // Every seventh part first, so that all kinds have had their turn when time is up.
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return a % 7 < b % 7; });
  double all = 0, done = 0;
  for (std::int64_t part : order) all += parts.work(part);
  const Clock::time_point start = Clock::now();
  std::int64_t measured = 0;
  for (std::int64_t part : order) {
    auto run = parts.start(part);
    if (!run.ok()) return run.status();
    const Clock::time_point part_start = Clock::now();
    while (run.value()->progress() < 1 && seconds_since(part_start) < 0.2)
      if (Status status = run.value()->step(); !status.ok()) return status;
    done += run.value()->progress() * parts.work(part);
    ++measured;
    if (seconds_since(start) > 1.5) break;
  }
  const double seconds = seconds_since(start) * all / done / static_cast<double>(std::min(threads, parts.count()));
  return "about " + duration_text(seconds) + " on " + std::to_string(threads) + (threads == 1 ? " thread: " : " threads: ") +
         std::to_string(parts.count()) + " parts, of which " + std::to_string(measured) + " were tried";
}

}  // namespace linearmem::cli
