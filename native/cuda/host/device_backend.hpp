// The doors' backend over a device: inputs go up, kernels run, outputs come down. Everything here is ordinary C++ over host/device.hpp,
// so that the tests run it over an emulated device.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "host/device.hpp"
#include "linearmem/backend.hpp"
#include "linearmem/cuda.hpp"
#include "linearmem/view.hpp"

namespace linearmem::cuda {

class DeviceBackend final : public Backend {
 public:
  explicit DeviceBackend(std::unique_ptr<Device> device, MatrixPrecision precision = MatrixPrecision::float32)
      : device_(std::move(device)), precision_(precision) {}

  std::string_view name() const override { return "cuda"; }
  bool computes(std::string_view mechanism) const override;
  Device& device() const { return *device_; }

  Status run(const SoftmaxAttentionArguments<float>& arguments) const override;
  Status run(const LinearAttentionArguments<float>& arguments) const override;
  Status run(const DeltaRuleArguments<float>& arguments) const override;
  Status run(const SelectiveScanArguments<float>& arguments) const override;
  Status run(const MambaScanArguments<float>& arguments) const override;
  Status run(const SsdArguments<float>& arguments) const override;
  Status run(const KnnSearchArguments<float>& arguments) const override;
  Status run(const associative::ItemSumsArguments& arguments) const override;

 private:
  std::unique_ptr<Device> device_;
  MatrixPrecision precision_;
};

// The same for arguments whose views are of the device's memory already: nothing is copied, shapes and values are the caller's word,
// and the call may return before the device is done. checkpoint_rows [N] on the device, where there are checkpoints.
Status launch_delta_rule(Device& device, const DeltaRuleArguments<float>& on_device, std::int64_t sequences,
                         const View<const std::int64_t, 1>& checkpoint_rows = {});
// denominators [B,T,H,1]: scratch on the device, where the call is normalized or hands over z.
Status launch_linear_attention(Device& device, const LinearAttentionArguments<float>& on_device, std::int64_t sequences,
                               const View<float, 4>& denominators, const View<const std::int64_t, 1>& checkpoint_rows = {});

}  // namespace linearmem::cuda
