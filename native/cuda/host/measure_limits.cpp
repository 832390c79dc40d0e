// What a device does at most, each proved before it is timed.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "host/measure.hpp"
#include "host/transfer.hpp"
#include "kernels/kernels.hpp"

namespace linearmem::cuda {
namespace {

template <typename T>
Status wrong(const std::string& name, T got, T expected) {
  return Status::invalid(name + " on backend cuda: " + std::to_string(got) + ", must be " + std::to_string(expected));
}

// Timed after `work` was run once and `proof` was content.
template <typename Work, typename Proof>
Result<CudaLimit> limit_of(Device& device, int rounds, const char* name, bool bytes, double amount, Work work, Proof proof) {
  Status status = work();
  if (status.ok()) status = device.finish();
  if (status.ok()) status = proof();
  if (!status.ok()) return status;
  const auto seconds = median_seconds(device, rounds, work);
  if (!seconds.ok()) return seconds.status();
  return CudaLimit{name, amount / seconds.value(), bytes, ""};
}

// The memory's limits share two blocks of it: numbers that are powers of two, so that doubling them stays exact.
class MemoryLimits {
 public:
  MemoryLimits(Device& device, int rounds, std::int64_t bytes)
      : device_(device), rounds_(rounds), memory_(device), blocks_(8 * device.limits().processors), count_(bytes / 16) {
    from_ = memory_.room<Four>(count_), to_ = memory_.room<Four>(count_);
    sums_ = memory_.room<float>(blocks_ * kThreads);
    if (memory_.status().ok()) memory_.keep(device.clear(from_, 16 * count_));
    constexpr float kFirst[4] = {1, 2, 4, 8}, kLast[4] = {-16, 0.5f, 0.25f, 3};
    if (memory_.status().ok()) memory_.keep(device.upload(kFirst, from_, 16));
    if (memory_.status().ok()) memory_.keep(device.upload(kLast, from_ + count_ - 1, 16));
  }
  const Status& status() const { return memory_.status(); }

  Result<CudaLimit> copy() {
    return limit_of(device_, rounds_, "copy", true, 32.0 * static_cast<double>(count_), [this] { return device_.copy(from_, to_, 16 * count_); },
                    [this] { return ends("copy", to_, 1, 3); });
  }
  Result<CudaLimit> read() {
    return limit_of(device_, rounds_, "read", true, 16.0 * static_cast<double>(count_), [this] { return launch<false>(from_); }, [this] {
      std::vector<float> sums(static_cast<std::size_t>(blocks_ * kThreads));
      Status status = device_.download(sums_, sums.data(), 4 * blocks_ * kThreads);
      double sum = 0;
      for (float part : sums) sum += static_cast<double>(part);
      if (status.ok() && !(sum == 2.75)) status = wrong("read", sum, 2.75);  // of the eight numbers
      return status;
    });
  }
  // The first round of the other block's numbers is proved; later ones double them on.
  Result<CudaLimit> scale() {
    return limit_of(device_, rounds_, "in place", true, 32.0 * static_cast<double>(count_), [this] { return launch<true>(to_); },
                    [this] { return ends("in place", to_, 2, 6); });
  }

 private:
  static constexpr int kThreads = StreamMemory<true>::kMostThreads;

  template <bool kWrites>
  Status launch(Four* fours) {
    const StreamMemoryArguments a{fours, sums_, count_, blocks_};
    return device_.launch({kernel_number<StreamMemory<kWrites>>(), blocks_, kThreads, 0, &a});
  }
  Status ends(const char* name, const Four* fours, float first, float last) {
    Four got[2];
    Status status = device_.download(fours, got, 16);
    if (status.ok()) status = device_.download(fours + count_ - 1, got + 1, 16);
    if (status.ok() && !(got[0].at[0] == first)) status = wrong(name, got[0].at[0], first);
    if (status.ok() && !(got[1].at[3] == last)) status = wrong(name, got[1].at[3], last);
    return status;
  }

  Device& device_;
  int rounds_;
  Transfer memory_;
  std::int64_t blocks_, count_;  // count: of Four
  Four *from_, *to_;
  float* sums_;
};

Result<CudaLimit> multiply_add(Device& device, int rounds, std::int64_t length) {
  Transfer memory(device);
  const std::int64_t blocks = 8 * device.limits().processors, threads = blocks * MultiplyAdd::kMostThreads;
  const MultiplyAddArguments chains{memory.room<float>(threads), length, 0.999f, 0.001f};
  if (!memory.status().ok()) return memory.status();
  const auto proof = [&] {
    float got = 0, expected = 0;
    for (int i = 0; i < MultiplyAdd::kChains; ++i) {
      auto chain = static_cast<float>(MultiplyAdd::kMostThreads - 1 + i);
      for (std::int64_t round = 0; round < length; ++round) chain = std::fma(chain, chains.factor, chains.addend);
      expected += chain;
    }
    Status status = device.download(chains.sums + threads - 1, &got, sizeof got);
    if (status.ok() && !(got == expected)) status = wrong("multiply-add", got, expected);
    return status;
  };
  return limit_of(device, rounds, "float32 multiply-add in registers", false, 2.0 * MultiplyAdd::kChains * static_cast<double>(threads * length),
                  [&] { return device.launch({kernel_number<MultiplyAdd>(), blocks, MultiplyAdd::kMostThreads, 0, &chains}); }, proof);
}

// Multiples of 1/64 in [-1, 1): exact in bfloat16, and so are sums of their products in float32.
float matrix_number(std::uint64_t stream, std::int64_t i) {
  return std::floor(number_at(stream << 40 | static_cast<std::uint64_t>(i), -64, 64)) / 64;
}

template <typename T>
T* matrix_there(Transfer& memory, Device& device, std::uint64_t stream, std::int64_t n) {
  std::vector<T> numbers(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n * n; ++i) {
    const float number = matrix_number(stream, i);
    // The upper half of a float is a bfloat16.
    std::memcpy(&numbers[static_cast<std::size_t>(i)], reinterpret_cast<const char*>(&number) + (sizeof number - sizeof(T)), sizeof(T));
  }
  T* there = memory.room<T>(n * n);
  if (memory.status().ok()) memory.keep(device.upload(numbers.data(), there, static_cast<std::int64_t>(sizeof(T)) * n * n));
  return there;
}

// A library that is not there is no error: the limit says what is missing.
template <typename T>
Result<CudaLimit> matrix(Device& device, int rounds, std::int64_t n, const char* name) {
  Transfer memory(device);
  const MatrixProduct product{sizeof(T) == 4 ? MatrixType::float32 : MatrixType::bfloat16, n, matrix_there<T>(memory, device, 11, n),
                              matrix_there<T>(memory, device, 12, n), memory.room<float>(n * n)};
  if (!memory.status().ok()) return memory.status();
  if (const Status status = device.multiply(product); !status.ok()) {
    if (status.code() == StatusCode::unavailable && device.finish().ok()) return CudaLimit{name, 0, false, status.message()};
    return status;
  }
  const auto proof = [&] {
    std::vector<float> column(static_cast<std::size_t>(n));
    Status status = device.download(product.c + (n - 1) * n, column.data(), 4 * n);
    for (std::int64_t row = 0; status.ok() && row < n; row += std::max<std::int64_t>(n / 16, 1)) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i)
        sum += static_cast<double>(matrix_number(11, i * n + row)) * static_cast<double>(matrix_number(12, (n - 1) * n + i));
      const auto got = static_cast<double>(column[static_cast<std::size_t>(row)]);
      if (!(std::abs(got - sum) <= kMeasureTolerance * std::max(1.0, std::abs(sum)))) status = wrong(name, got, sum);
    }
    return status;
  };
  const auto side = static_cast<double>(n);
  return limit_of(device, rounds, name, false, 2 * side * side * side, [&] { return device.multiply(product); }, proof);
}

}  // namespace

Result<MeasuredLimits> measure_limits(Device& device, int rounds, const CudaSizes& sizes) {
  MeasuredLimits limits;
  const auto keep = [](CudaLimit& to, Result<CudaLimit> limit) {
    if (!limit.ok()) return limit.status();
    to = std::move(limit).value();
    return Status();
  };
  Status status;
  {
    MemoryLimits memory(device, rounds, sizes.copied_bytes);
    status = memory.status();
    if (status.ok()) status = keep(limits.copy, memory.copy());
    if (status.ok()) status = keep(limits.read, memory.read());
    if (status.ok()) status = keep(limits.scale, memory.scale());
  }
  if (status.ok()) status = keep(limits.multiply_add, multiply_add(device, rounds, sizes.tokens));
  if (status.ok()) status = keep(limits.matrix_float32, matrix<float>(device, rounds, sizes.matrix, "float32 matrix product (cuBLAS)"));
  if (status.ok()) status = keep(limits.matrix_bfloat16, matrix<std::uint16_t>(device, rounds, sizes.matrix, "bfloat16 matrix product (cuBLAS)"));
  if (!status.ok()) return status;
  return limits;
}

}  // namespace linearmem::cuda
