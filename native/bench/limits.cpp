#include "limits.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#ifdef __wasm__
#include <emscripten.h>
#else
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#endif

#include "foundation/aligned_buffer.hpp"
#include "limits_kernel.hpp"

#ifdef __wasm__
// Node counts for the whole process, its compiler's threads included.
EM_JS(double, linearmem_bench_process_seconds, (), {
  const used = process.cpuUsage();
  return (used.user + used.system) * 1e-6;
});
#endif

namespace linearmem::bench {
namespace {

// A result that nobody reads still has to be computed: no compiler may leave a volatile store out.
template <typename T>
void keep(T result) {
  volatile T kept = result;
  static_cast<void>(kept);
}

// The size of the data cache of a level, in bytes; 0 where the system does not tell.
std::int64_t cache_bytes([[maybe_unused]] int level) {
#ifndef __wasm__
  // The C library's sysconf multiplies some processors' last level by the number of cores that share it; the kernel's list does not.
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::ifstream level_file(folder + "level"), type_file(folder + "type"), size_file(folder + "size");
    int here = 0;
    std::int64_t size = 0;
    std::string type, unit;
    if (!(level_file >> here && type_file >> type && size_file >> size)) continue;
    size_file >> unit;
    if (here == level && type != "Instruction") return unit == "M" ? size << 20 : unit == "K" ? size << 10 : size;
  }
#endif
  return 0;
}

// A part of the working set for each thread, kept as long as a sampler uses it.
class Memory {
 public:
  Memory(std::int64_t bytes, int threads) {
    const std::int64_t values = bytes / static_cast<std::int64_t>(sizeof(float)) / threads;
    count_ = std::max<std::int64_t>(1, (values + kStreamBlock - 1) / kStreamBlock) * kStreamBlock;
    for (int i = 0; i < threads; ++i) {
      parts_.push_back(std::make_unique<AlignedBuffer<float>>(count_));
      std::fill_n(parts_.back()->data(), count_, 1.0f);
    }
  }
  std::int64_t count() const { return count_; }  // values of a part
  float* part(int thread) const { return parts_[static_cast<std::size_t>(thread)]->data(); }

 private:
  std::int64_t count_;
  std::vector<std::unique_ptr<AlignedBuffer<float>>> parts_;
};

// pass(values, count) goes once over a part and moves each of its bytes `moves` times.
template <typename Pass>
Sampler memory_sampler(const std::shared_ptr<const Memory>& memory, const Timing& timing, int moves, Pass pass) {
  const double bytes = static_cast<double>(memory->count()) * sizeof(float);
  return {timing, bytes * moves, [=](int thread, std::int64_t repetitions) {
            for (std::int64_t i = 0; i < repetitions; ++i) pass(memory->part(thread), memory->count());
          }};
}

}  // namespace

double seconds(Clock clock) {
  if (clock == Clock::processor) {
#ifdef __wasm__
    return linearmem_bench_process_seconds();
#else
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#endif
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<MemoryLevel> memory_levels() {
  std::int64_t sizes[] = {32 << 10, 512 << 10, 8 << 20};
  std::vector<MemoryLevel> levels;
  for (int level = 1; level <= 3; ++level) {
    std::int64_t& size = sizes[level - 1];
    if (const std::int64_t told = cache_bytes(level); told > 0) size = told;
    levels.push_back({"L" + std::to_string(level), size / 2});
  }
  levels.push_back({"memory", std::clamp<std::int64_t>(4 * sizes[2], 64 << 20, 512 << 20)});
  return levels;
}

Sampler::Sampler(const Timing& timing, double unit, std::function<void(int, std::int64_t)> repeat)
    : timing_(timing), unit_(unit), repeat_(std::move(repeat)) {}

double Sampler::took(std::int64_t repetitions) const {
  const double begin = seconds(timing_.clock);
#ifndef __wasm__
  std::vector<std::thread> others;
  for (int i = 1; i < timing_.threads; ++i) others.emplace_back(repeat_, i, repetitions);
#endif
  repeat_(0, repetitions);
#ifndef __wasm__
  for (std::thread& other : others) other.join();
#endif
  return seconds(timing_.clock) - begin;
}

double Sampler::per_second() {
  if (repetitions_ == 0) {  // the shortest of three: an interruption must not look like work
    repetitions_ = 1;
    while (std::min({took(repetitions_), took(repetitions_), took(repetitions_)}) < timing_.least_seconds) repetitions_ *= 2;
  }
  return static_cast<double>(timing_.threads) * static_cast<double>(repetitions_) * unit_ / took(repetitions_);
}

template <typename T>
Sampler multiply_add_sampler(const Timing& timing) {
  constexpr std::int64_t kSteps = 4096;
  return {timing, static_cast<double>(kSteps * flops_per_step(T{})), [](int, std::int64_t repetitions) {
            T sum = 0;
            for (std::int64_t i = 0; i < repetitions; ++i) sum += multiply_adds(static_cast<T>(i % 7), kSteps);
            keep(sum);
          }};
}
template Sampler multiply_add_sampler<float>(const Timing&);
template Sampler multiply_add_sampler<double>(const Timing&);

MemorySamplers memory_samplers(std::int64_t bytes, const Timing& timing) {
  const auto memory = std::make_shared<const Memory>(bytes, timing.threads);
  return {.read = memory_sampler(memory, timing, 1, [](const float* values, std::int64_t count) { keep(sum_of(values, count)); }),
          .update = memory_sampler(memory, timing, 2, [](float* values, std::int64_t count) { scale(values, count, -1.0f); })};
}

Sampler read_sampler(std::span<const float> values, const Timing& timing) {
  const auto count = static_cast<std::int64_t>(values.size()) / timing.threads / kStreamBlock * kStreamBlock;
  return {timing, static_cast<double>(count) * sizeof(float), [=](int thread, std::int64_t repetitions) {
            for (std::int64_t i = 0; i < repetitions; ++i) keep(sum_of(values.data() + thread * count, count));
          }};
}

}  // namespace linearmem::bench
