// What this machine can do at most, measured: multiply-adds per second, and bytes per second read and scaled in place at each level
// of its memory. A sample takes a few milliseconds, so that it can stand beside each sample of a kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace linearmem::bench {

enum class Clock {
  wall,
  processor,  // time this thread (in Node: this process) was running: for one thread on a machine that others use
};

double seconds(Clock clock);  // of a clock that only goes forward

struct Timing {
  int threads = 1;
  double least_seconds = 0.002;  // of a sample
  Clock clock = Clock::wall;
};

struct MemoryLevel {
  std::string name;    // "L1", "L2", "L3" or "memory"
  std::int64_t bytes;  // a working set that fits it: half of a cache, four times the last one
};

// Cache sizes as the system tells them; where it tells none, those of a small core.
std::vector<MemoryLevel> memory_levels();

// Runs a piece of work again and again, the same number of times in every sample: as often as takes long enough the first time.
class Sampler {
 public:
  // repeat(thread, repetitions) does `repetitions` pieces of `unit` work each.
  Sampler(const Timing& timing, double unit, std::function<void(int, std::int64_t)> repeat);

  double per_second();  // units of work, by all threads together

 private:
  double took(std::int64_t repetitions) const;

  Timing timing_;
  double unit_;
  std::function<void(int, std::int64_t)> repeat_;
  std::int64_t repetitions_ = 0;
};

template <typename T>
Sampler multiply_add_sampler(const Timing& timing);  // flops

// Bytes moved in a working set of `bytes`, of which each thread has its part, rounded up to whole blocks.
struct MemorySamplers {
  Sampler read;
  Sampler update;  // bytes read and bytes written, both counted
};
MemorySamplers memory_samplers(std::int64_t bytes, const Timing& timing);

// Bytes read of memory that is there already, which each thread has a part of: where its pages lie matters too.
Sampler read_sampler(std::span<const float> values, const Timing& timing);

}  // namespace linearmem::bench
