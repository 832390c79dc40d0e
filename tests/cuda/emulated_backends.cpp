#include "cuda/backends.hpp"

namespace linearmem::test {
namespace {

std::vector<NamedBackend> every_order(EmulatedSettings settings, MatrixPrecision precision) {
  static std::vector<std::unique_ptr<cuda::DeviceBackend>> kept;
  std::vector<NamedBackend> all;
  const auto add = [&](const char* name, Order order, Pace pace) {
    settings.order = order, settings.pace = pace;
    kept.push_back(std::make_unique<cuda::DeviceBackend>(std::make_unique<EmulatedDevice>(settings), precision));
    all.push_back({name, kept.back().get()});
  };
  add("rising", Order::rising, Pace::phases);
  add("falling", Order::falling, Pace::phases);
  add("shuffled", Order::shuffled, Pace::phases);
  add("last threads ahead", Order::falling, Pace::threads);
  return all;
}

}  // namespace

const std::vector<NamedBackend>& backends() {
  static const std::vector<NamedBackend> all = every_order({}, MatrixPrecision::float32);
  return all;
}

const std::vector<NamedBackend>& bfloat_backends() {
  constexpr cuda::Limits kAmpere = {.shared_bytes_per_block = 99 << 10, .processors = 2, .capability = 86};
  static const std::vector<NamedBackend> all = every_order({.limits = kAmpere}, MatrixPrecision::bfloat16);
  return all;
}

}  // namespace linearmem::test
