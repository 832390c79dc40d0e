// Runs the device's kernels on the processor, from their own source: block by block, phase by phase, thread by thread. In a phase the
// threads come in one of several orders, and so do the blocks of a grid: where the order is seen in the result, threads race on a GPU.
// Or every thread goes through the kernel by itself, as far as it can without waiting (threaded_block.hpp). Registers and memory hold NaN
// until they are written; a phase that does not wait and changes shared memory is an error, and so is a write past the end of shared or
// device memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "cuda/emulated_tensor_core.hpp"
#include "cuda/threaded_block.hpp"
#include "host/device.hpp"
#include "kernels/kernels.hpp"

namespace linearmem::test {

enum class Order { rising, falling, shuffled };
enum class Pace { phases, threads };  // who comes first: all threads through a phase, or a thread through all phases up to where it waits

// Of a block: NaN at first, with a guard behind it.
class SharedMemory {
 public:
  explicit SharedMemory(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)), memory_((bytes_ + kGuardBytes) / 16 + 1) {
    std::memset(static_cast<void*>(memory_.data()), 0xff, memory_.size() * sizeof(Sixteen));
  }
  unsigned char* data() { return memory_.data()->bytes; }
  bool guard_intact() {
    return std::all_of(data() + bytes_, data() + 16 * memory_.size(), [](unsigned char byte) { return byte == 0xff; });
  }
  bool operator==(const SharedMemory& other) const { return std::memcmp(memory_.data(), other.memory_.data(), bytes_) == 0; }

 private:
  static constexpr std::size_t kGuardBytes = 1024;
  struct alignas(16) Sixteen {
    unsigned char bytes[16];
  };

  std::size_t bytes_;
  std::vector<Sixteen> memory_;
};

class EmulatedBlock : public EmulatedWarp<EmulatedBlock> {
 public:
  EmulatedBlock(std::int64_t index, const cuda::Launch& launch, Order order)
      : index_(index), threads_(launch.threads), engine_(static_cast<std::uint64_t>(index)), order_(order), places_(static_cast<std::size_t>(threads_)),
        shared_(launch.shared_bytes) {
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
  bool broken() { return broken_ || !shared_.guard_intact(); }  // a phase that does not wait wrote shared memory, or one wrote past its end

  template <typename Phase>
  void each(Phase phase) {
    if (order_ == Order::shuffled) shuffle();
    for (int thread : places_) phase(thread);
  }
  template <typename Phase>
  void each_apart(Phase phase) {
    const SharedMemory before = shared_;
    each(phase);
    broken_ = broken_ || !(before == shared_);
  }

  // Of every warp: pick(thread) says which registers of the thread a tile takes.
  template <typename Pick>
  void multiply(Pick pick) {
    for (int first = 0; first < threads_; first += 32) {
      cuda::Product lanes[32];
      for (int lane = 0; lane < 32; ++lane) lanes[lane] = pick(first + lane);
      multiply_lanes(lanes);
    }
  }

 private:
  friend EmulatedWarp;

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
  SharedMemory shared_;
  bool broken_ = false;
};

// What a kernel is to the emulator: a function that runs one block; true where the block obeyed the rules.
using RunBlock = bool (*)(std::int64_t index, const cuda::Launch& launch, Order order, Pace pace);

template <typename Kernel>
struct EmulatedEntry {
  static RunBlock make() {
    return [](std::int64_t index, const cuda::Launch& launch, Order order, Pace pace) {
      if (launch.threads > Kernel::kMostThreads) return false;
      const auto& arguments = *static_cast<const typename Kernel::Arguments*>(launch.arguments);
      if (pace == Pace::threads) {
        SharedMemory shared(launch.shared_bytes);
        return run_threaded<Kernel>(index, shared.data(), launch.threads, arguments, order == Order::falling) && shared.guard_intact();
      }
      EmulatedBlock block(index, launch, order);
      Kernel::run(block, arguments);
      return !block.broken();
    };
  }
};

struct EmulatedSettings {
  Order order = Order::rising;
  Pace pace = Pace::phases;
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
      obeyed = kernels[launch.kernel](index, launch, settings_.order, settings_.pace) && obeyed;
    }
    return obeyed ? Status()
                  : Status::invalid("emulated device: kernel " + std::to_string(launch.kernel) + " wrote shared memory without waiting or past its "
                                    "end, did not wait alike in all threads, or has more threads than it is made for");
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
