#include "cuda/backends.hpp"

namespace linearmem::test {

const std::vector<NamedBackend>& backends() {
  static const auto made = [](Order order) { return cuda::DeviceBackend(std::make_unique<EmulatedDevice>(EmulatedSettings{.order = order})); };
  static const cuda::DeviceBackend rising = made(Order::rising), falling = made(Order::falling), shuffled = made(Order::shuffled);
  static const std::vector<NamedBackend> all = {{"rising", &rising}, {"falling", &falling}, {"shuffled", &shuffled}};
  return all;
}

const std::vector<NamedBackend>& bfloat_backends() {
  constexpr cuda::Limits kAmpere = {.shared_bytes_per_block = 99 << 10, .processors = 2, .capability = 86};
  static const auto made = [=](Order order) {
    return cuda::DeviceBackend(std::make_unique<EmulatedDevice>(EmulatedSettings{.order = order, .limits = kAmpere}), MatrixPrecision::bfloat16);
  };
  static const cuda::DeviceBackend rising = made(Order::rising), falling = made(Order::falling), shuffled = made(Order::shuffled);
  static const std::vector<NamedBackend> all = {{"rising", &rising}, {"falling", &falling}, {"shuffled", &shuffled}};
  return all;
}

}  // namespace linearmem::test
