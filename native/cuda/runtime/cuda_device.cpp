#include "runtime/cuda_device.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "runtime/cublas.hpp"
#include "runtime/kernel_table.hpp"

namespace linearmem::cuda {
namespace {

constexpr int kLeastMajor = 7, kLeastMinor = 5;  // compute capability
constexpr std::int64_t kSharedWithoutAsking = 48 << 10;

Status refusal(const std::string& reason) { return Status::unavailable("backend cuda: " + reason); }

std::string version_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

// Why no device can be counted.
Status no_device(cudaError_t error) {
  static_cast<void>(cudaGetLastError());
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) return refusal("there is no NVIDIA driver on this machine");
  if (error == cudaErrorInsufficientDriver)
    return refusal("the driver is too old: it supports CUDA " + version_text(driver) + ", this build needs " + version_text(CUDART_VERSION));
  if (error == cudaErrorNoDevice) return refusal("there is no CUDA device on this machine");
  return refusal(std::string("devices cannot be counted: ") + cudaGetErrorString(error));
}

class CudaDevice final : public Device {
 public:
  CudaDevice(int number, const cudaDeviceProp& properties) : number_(number), properties_(properties) {}
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice() override {
    if (cudaSetDevice(number_) != cudaSuccess) return;
    cublas_.reset();
    for (cudaEvent_t event : {begin_, end_})
      if (event) cudaEventDestroy(event);
    if (stream_) cudaStreamDestroy(stream_);
  }

  Status open() {
    Status status = here();
    if (status.ok()) status = code_is_there();
    if (status.ok()) status = checked("cudaStreamCreate", cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (cudaEvent_t* event : {&begin_, &end_})
      if (status.ok()) status = checked("cudaEventCreate", cudaEventCreate(event));
    return status;
  }

  std::string description() const override {
    return std::string(properties_.name) + ", device " + std::to_string(number_) + ", compute capability " + std::to_string(properties_.major) +
           "." + std::to_string(properties_.minor);
  }
  Limits limits() const override {
    return {static_cast<std::int64_t>(properties_.sharedMemPerBlockOptin), properties_.multiProcessorCount,
            10 * properties_.major + properties_.minor};
  }
  Result<MemoryState> memory() override {
    std::size_t free = 0, total = 0;
    if (Status status = here(); !status.ok()) return status;
    if (Status status = checked("cudaMemGetInfo", cudaMemGetInfo(&free, &total)); !status.ok()) return status;
    return MemoryState{static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
  }

  Result<void*> allocate(std::int64_t bytes) override {
    if (Status status = here(); !status.ok()) return status;
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
    if (error == cudaSuccess) return memory;
    if (error != cudaErrorMemoryAllocation) return checked("cudaMalloc", error);
    forget_error();  // running out of memory leaves the device usable
    const auto state = this->memory();
    if (!state.ok()) return state.status();
    return Status(StatusCode::out_of_memory, "backend cuda: " + std::to_string(bytes) + " bytes are needed, " +
                                                 std::to_string(state.value().free_bytes) + " of " + std::to_string(state.value().total_bytes) +
                                                 " are free on device " + std::to_string(number_));
  }
  void release(void* memory) override {
    if (here().ok() && cudaFree(memory) != cudaSuccess) forget_error();  // a lost device's memory went with it
  }

  Status upload(const void* host, void* device, std::int64_t bytes) override { return copied(host, device, bytes, cudaMemcpyHostToDevice); }
  Status download(const void* device, void* host, std::int64_t bytes) override { return copied(device, host, bytes, cudaMemcpyDeviceToHost); }
  Status copy(const void* from, void* to, std::int64_t bytes) override {
    if (Status status = here(); !status.ok()) return status;
    return checked("cudaMemcpyAsync", cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream_));
  }
  Status clear(void* device, std::int64_t bytes) override {
    if (Status status = here(); !status.ok()) return status;
    return checked("cudaMemsetAsync", cudaMemsetAsync(device, 0, static_cast<std::size_t>(bytes), stream_));
  }

  Status launch(const Launch& launch) override {
    if (Status status = here(); !status.ok()) return status;
    const void* function = kernel_function(launch.kernel);
    if (launch.shared_bytes > kSharedWithoutAsking) {
      // The most there is, always: another thread that asked for less would take this launch's share away.
      const cudaError_t error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                     static_cast<int>(limits().shared_bytes_per_block));
      if (Status status = checked("cudaFuncSetAttribute", error); !status.ok()) return status;
    }
    for (std::int64_t first = 0; first < launch.blocks; first += kMostBlocks) {
      const auto blocks = static_cast<unsigned>(std::min(kMostBlocks, launch.blocks - first));
      void* arguments[] = {const_cast<void*>(launch.arguments), &first};
      const cudaError_t error = cudaLaunchKernel(function, dim3(blocks), dim3(static_cast<unsigned>(launch.threads)), arguments,
                                                 static_cast<std::size_t>(launch.shared_bytes), stream_);
      if (Status status = checked("cudaLaunchKernel", error); !status.ok()) return status;
    }
    return {};
  }

  Status finish() override {
    if (Status status = here(); !status.ok()) return status;
    return checked("cudaStreamSynchronize", cudaStreamSynchronize(stream_));
  }

  Status multiply(const MatrixProduct& product) override {
    if (Status status = here(); !status.ok()) return status;
    if (!cublas_) {
      auto loaded = Cublas::load(stream_);
      if (!loaded.ok()) return loaded.status();
      cublas_ = std::move(loaded).value();
    }
    return cublas_->multiply(product);
  }

  Result<double> seconds(const std::function<Status()>& work) override {
    if (Status status = here(); !status.ok()) return status;
    Status status = checked("cudaEventRecord", cudaEventRecord(begin_, stream_));
    if (status.ok()) status = work();
    if (status.ok()) status = checked("cudaEventRecord", cudaEventRecord(end_, stream_));
    if (status.ok()) status = checked("cudaEventSynchronize", cudaEventSynchronize(end_));
    float milliseconds = 0;
    if (status.ok()) status = checked("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, begin_, end_));
    if (!status.ok()) return status;
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  static constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();  // of a grid's first axis

  // Other users of the runtime in this process ask for the last error, and must not meet ours. One that loses the device stays.
  static void forget_error() { static_cast<void>(cudaGetLastError()); }

  Status checked(const char* what, cudaError_t error) const {
    if (error == cudaSuccess) return {};
    forget_error();
    const std::string sentence = std::string(what) + " failed on device " + std::to_string(number_) + ": " + cudaGetErrorString(error);
    if (error == cudaErrorMemoryAllocation) return Status(StatusCode::out_of_memory, "backend cuda: " + sentence);
    return refusal(sentence);
  }

  // The calling thread's device is a state of its own. The first call makes the context, which a device filled by others has no room for.
  Status here() const { return checked("cudaSetDevice", cudaSetDevice(number_)); }

  // All kernels are compiled for the same devices: what the first one lacks, all lack.
  Status code_is_there() const {
    cudaFuncAttributes attributes{};
    const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel_function(0));
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction || error == cudaErrorUnsupportedPtxVersion ||
        error == cudaErrorJitCompilerNotFound) {
      forget_error();
      return refusal("this build holds no code that runs on device " + std::to_string(number_) + ", compute capability " +
                     std::to_string(properties_.major) + "." + std::to_string(properties_.minor) + ": " + cudaGetErrorString(error));
    }
    return checked("cudaFuncGetAttributes", error);
  }

  Status copied(const void* from, void* to, std::int64_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return {};
    if (Status status = here(); !status.ok()) return status;
    const cudaError_t error = cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, stream_);
    if (Status status = checked("cudaMemcpyAsync", error); !status.ok()) return status;
    return finish();
  }

  int number_;
  cudaDeviceProp properties_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  std::unique_ptr<Cublas> cublas_;  // once it was asked for
};

}  // namespace

Result<std::unique_ptr<Device>> open_device(int number) {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) return no_device(error);
  if (count == 0) return no_device(cudaErrorNoDevice);
  if (number < 0 || number >= count)
    return refusal("device is " + std::to_string(number) + ", but this machine has " + std::to_string(count) + ", counted from 0");
  cudaDeviceProp properties{};
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, number); error != cudaSuccess)
    return refusal("device " + std::to_string(number) + " does not answer: " + cudaGetErrorString(error));
  if (properties.major < kLeastMajor || (properties.major == kLeastMajor && properties.minor < kLeastMinor))
    return refusal("device " + std::to_string(number) + " has compute capability " + std::to_string(properties.major) + "." +
                   std::to_string(properties.minor) + ", at least " + std::to_string(kLeastMajor) + "." + std::to_string(kLeastMinor) + " is needed");
  auto device = std::make_unique<CudaDevice>(number, properties);
  if (Status status = device->open(); !status.ok()) return status;
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace linearmem::cuda
