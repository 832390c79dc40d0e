// Runs the device's kernels on the processor, from their own source: block by block, phase by phase, thread by thread. In a phase the
// threads come in one of several orders, and so do the blocks of a grid: where the order is seen in the result, threads race on a GPU.
// Registers and memory hold NaN until they are written; a phase that does not wait and changes shared memory is an error, and so is a write
// past the end of device memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "host/device.hpp"
#include "kernels/kernels.hpp"

namespace linearmem::test {

enum class Order { rising, falling, shuffled };

class EmulatedBlock {
 public:
  EmulatedBlock(std::int64_t index, const cuda::Launch& launch, Order order)
      : index_(index), threads_(launch.threads), engine_(static_cast<std::uint64_t>(index)), order_(order), places_(static_cast<std::size_t>(threads_)),
        shared_(static_cast<std::size_t>(launch.shared_bytes / 16 + 1)) {
    std::memset(static_cast<void*>(shared_.data()), 0xff, shared_.size() * sizeof(shared_[0]));  // NaN
    std::iota(places_.begin(), places_.end(), 0);
    if (order == Order::falling) std::reverse(places_.begin(), places_.end());
  }

  template <typename T>
  class Registers {
   public:
    explicit Registers(const EmulatedBlock& block) : values_(static_cast<std::size_t>(block.threads())) {
      std::memset(static_cast<void*>(values_.data()), 0xff, values_.size() * sizeof(T));
    }
    T& operator[](int thread) { return values_[static_cast<std::size_t>(thread)]; }

   private:
    std::vector<T> values_;
  };

  std::int64_t index() const { return index_; }
  int threads() const { return threads_; }
  void* shared() { return shared_.data(); }
  bool broken() const { return broken_; }  // a phase that does not wait wrote shared memory

  template <typename Phase>
  void each(Phase phase) {
    if (order_ == Order::shuffled) shuffle();
    for (int thread : places_) phase(thread);
  }
  template <typename Phase>
  void each_apart(Phase phase) {
    const std::vector<Sixteen> before = shared_;
    each(phase);
    broken_ = broken_ || std::memcmp(before.data(), shared_.data(), shared_.size() * sizeof(Sixteen)) != 0;
  }

  // The exchange of a warp: each lane adds that of the lane `distance` away, for 1, 2, 4, ...
  void sum_across(Registers<float>& values, int lanes) {
    across(values, lanes, [](float a, float b) { return a + b; });
  }
  void max_across(Registers<float>& values, int lanes) {
    across(values, lanes, [](float a, float b) { return std::fmax(a, b); });
  }

  // Two numbers as bfloat16, to nearest even, the first in the low half.
  static std::uint32_t pair(float first, float second) { return rounded(first) | rounded(second) << 16; }

  // The instruction mma.m16n8k16 as the PTX ISA describes it: which lane and register hold element (row, column) of which operand. Products
  // are exact, and a sum is rounded once: how a device adds is its own affair.
  template <typename Pick>
  void multiply(Pick pick) {
    for (int first = 0; first < threads_; first += 32) multiply_warp(first, pick);
  }

 private:
  struct alignas(16) Sixteen {
    unsigned char bytes[16];
  };

  static std::uint32_t rounded(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    if (x != x) return 0x7fff;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  }
  static double number(std::uint32_t pair, int half) {
    const std::uint32_t bits = half == 0 ? pair << 16 : pair & 0xffff0000u;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return static_cast<double>(x);
  }

  template <typename Pick>
  static void multiply_warp(int first, Pick pick) {
    double a[16][16], b[16][8], d[16][8];
    cuda::Product lanes[32];
    for (int lane = 0; lane < 32; ++lane) {
      lanes[lane] = pick(first + lane);
      const int group = lane >> 2, in_group = lane % 4;
      for (int i = 0; i < 8; ++i)
        a[group + (i / 2 % 2 == 0 ? 0 : 8)][in_group * 2 + (i & 1) + (i < 4 ? 0 : 8)] = number(lanes[lane].left[i / 2], i & 1);
      for (int i = 0; i < 4; ++i) b[in_group * 2 + (i & 1) + (i < 2 ? 0 : 8)][group] = number(lanes[lane].right[i / 2], i & 1);
      for (int i = 0; i < 4; ++i) d[group + (i < 2 ? 0 : 8)][in_group * 2 + (i & 1)] = static_cast<double>(lanes[lane].sums[i]);
    }
    for (int row = 0; row < 16; ++row)
      for (int k = 0; k < 16; ++k)
        for (int column = 0; column < 8; ++column) d[row][column] += a[row][k] * b[k][column];
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) lanes[lane].sums[i] = static_cast<float>(d[(lane >> 2) + (i < 2 ? 0 : 8)][lane % 4 * 2 + (i & 1)]);
  }

  void shuffle() {  // not std::shuffle, which differs between standard libraries
    for (std::size_t i = places_.size(); i > 1; --i) std::swap(places_[i - 1], places_[engine_() % i]);
  }

  template <typename Join>
  void across(Registers<float>& values, int lanes, Join join) {
    for (int distance = 1; distance < lanes; distance *= 2) {
      Registers<float> before = values;
      for (int thread = 0; thread < threads_; ++thread) values[thread] = join(before[thread], before[thread ^ distance]);
    }
  }

  std::int64_t index_;
  int threads_;
  std::mt19937_64 engine_;
  Order order_;
  std::vector<int> places_;
  std::vector<Sixteen> shared_;
  bool broken_ = false;
};

// What a kernel is to the emulator: a function that runs one block; true where the block obeyed the rules.
using RunBlock = bool (*)(std::int64_t index, const cuda::Launch& launch, Order order);

template <typename Kernel>
struct EmulatedEntry {
  static RunBlock make() {
    return [](std::int64_t index, const cuda::Launch& launch, Order order) {
      EmulatedBlock block(index, launch, order);
      Kernel::run(block, *static_cast<const typename Kernel::Arguments*>(launch.arguments));
      return !block.broken();
    };
  }
};

struct EmulatedSettings {
  Order order = Order::rising;
  cuda::Limits limits = {.shared_bytes_per_block = 64 << 10, .processors = 2, .capability = 80};  // the least shared memory that any supported device has
  std::int64_t memory_bytes = std::int64_t{1} << 32;
  std::int64_t launches_before_failure = -1;  // then the device is lost; -1: never
  std::int64_t spoiled_download = -1;         // the number of one that arrives with other bits; -1: none
  bool multiplies = true;                     // whether the vendor's library is there
};

class EmulatedDevice final : public cuda::Device {
 public:
  explicit EmulatedDevice(const EmulatedSettings& settings = {}) : settings_(settings) {}
  ~EmulatedDevice() override = default;

  std::string description() const override { return "emulated device"; }
  cuda::Limits limits() const override { return settings_.limits; }
  Result<cuda::MemoryState> memory() override { return cuda::MemoryState{settings_.memory_bytes - used_, settings_.memory_bytes}; }

  Result<void*> allocate(std::int64_t bytes) override {
    if (bytes > settings_.memory_bytes - used_)
      return Status(StatusCode::out_of_memory, "backend cuda: " + std::to_string(bytes) + " bytes are needed, " +
                                                   std::to_string(settings_.memory_bytes - used_) + " of " + std::to_string(settings_.memory_bytes) +
                                                   " are free on the emulated device");
    auto owner = std::make_unique<unsigned char[]>(static_cast<std::size_t>(bytes) + kGuardBytes);
    std::memset(owner.get(), 0xff, static_cast<std::size_t>(bytes) + kGuardBytes);
    void* memory = owner.get();
    blocks_.emplace(memory, Held{std::move(owner), bytes});
    used_ += bytes;
    return memory;
  }
  void release(void* memory) override {
    used_ -= blocks_.at(memory).bytes;
    blocks_.erase(memory);
  }
  std::int64_t used() const { return used_; }
  std::int64_t launches() const { return launches_; }

  Status upload(const void* host, void* device, std::int64_t bytes) override { return copied(host, device, bytes); }
  Status download(const void* device, void* host, std::int64_t bytes) override {
    Status status = copied(device, host, bytes);
    if (downloads_++ == settings_.spoiled_download)
      for (std::int64_t i = 0; i < bytes; ++i) static_cast<unsigned char*>(host)[i] ^= 0x40;
    return status;
  }
  std::int64_t downloads() const { return downloads_; }
  Status copy(const void* from, void* to, std::int64_t bytes) override { return copied(from, to, bytes); }
  Status clear(void* device, std::int64_t bytes) override {
    std::memset(device, 0, static_cast<std::size_t>(bytes));
    return state();
  }

  Status launch(const cuda::Launch& launch) override {
    static const cuda::KernelTable<EmulatedEntry, RunBlock> kernels;
    if (launches_++ == settings_.launches_before_failure) lost_ = true;
    if (lost_) return state();
    if (launch.threads % 32 != 0 || launch.shared_bytes > settings_.limits.shared_bytes_per_block)
      return Status::invalid("emulated device: a launch of " + std::to_string(launch.threads) + " threads and " +
                             std::to_string(launch.shared_bytes) + " bytes of shared memory");
    bool obeyed = true;
    for (std::int64_t i = 0; i < launch.blocks; ++i) {
      const std::int64_t index = settings_.order == Order::rising ? i : launch.blocks - 1 - i;
      obeyed = kernels[launch.kernel](index, launch, settings_.order) && obeyed;
    }
    return obeyed ? Status() : Status::invalid("emulated device: kernel " + std::to_string(launch.kernel) + " wrote shared memory without waiting");
  }
  Status finish() override {
    for (const auto& [memory, held] : blocks_)
      if (!std::all_of(held.owner.get() + held.bytes, held.owner.get() + held.bytes + kGuardBytes, [](unsigned char byte) { return byte == 0xff; }))
        return Status::invalid("emulated device: a kernel wrote past the end of " + std::to_string(held.bytes) + " bytes");
    return state();
  }
  Status multiply(const cuda::MatrixProduct& product) override {
    if (lost_) return state();
    if (!settings_.multiplies) return Status::unavailable("backend cuda: the emulated device has no library that multiplies");
    const bool wide = product.type == cuda::MatrixType::float32;
    for (std::int64_t column = 0; column < product.n; ++column)
      for (std::int64_t row = 0; row < product.n; ++row) {
        float sum = 0;
        for (std::int64_t i = 0; i < product.n; ++i)
          sum += number_of(product.a, i * product.n + row, wide) * number_of(product.b, column * product.n + i, wide);
        product.c[column * product.n + row] = sum;
      }
    return {};
  }
  Result<double> seconds(const std::function<Status()>& work) override {
    if (Status status = work(); !status.ok()) return status;
    return 1e-3;  // a clock that stands: figures made of it can be foreseen
  }

 private:
  static constexpr std::size_t kGuardBytes = 256;  // behind every allocation: what is written there was meant for nobody

  struct Held {
    std::unique_ptr<unsigned char[]> owner;
    std::int64_t bytes;
  };

  static float number_of(const void* numbers, std::int64_t i, bool wide) {
    if (wide) return static_cast<const float*>(numbers)[i];
    const std::uint32_t bits = static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(numbers)[i]) << 16;
    return std::bit_cast<float>(bits);
  }
  Status state() const { return lost_ ? Status::unavailable("backend cuda: the emulated device is lost") : Status(); }
  Status copied(const void* from, void* to, std::int64_t bytes) {
    if (bytes > 0 && !lost_) std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return state();
  }

  EmulatedSettings settings_;
  std::map<void*, Held> blocks_;
  std::int64_t used_ = 0, launches_ = 0, downloads_ = 0;
  bool lost_ = false;
};

}  // namespace linearmem::test
