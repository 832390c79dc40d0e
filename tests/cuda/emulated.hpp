// One emulated device and the backend over it.
#pragma once

#include <memory>
#include <utility>

#include "cuda/emulator.hpp"
#include "host/device_backend.hpp"

namespace linearmem::test {

class Emulated {
 public:
  explicit Emulated(const EmulatedSettings& settings = {}, MatrixPrecision precision = MatrixPrecision::float32) {
    auto owner = std::make_unique<EmulatedDevice>(settings);
    device_ = owner.get();
    backend_ = std::make_unique<cuda::DeviceBackend>(std::move(owner), precision);
  }
  EmulatedDevice& device() const { return *device_; }
  const Backend* backend() const { return backend_.get(); }

 private:
  EmulatedDevice* device_;
  std::unique_ptr<cuda::DeviceBackend> backend_;
};

}  // namespace linearmem::test
