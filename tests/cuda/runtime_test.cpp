// The CUDA runtime's side, linked by itself: every kernel is a function of its own, and a machine says what it has or lacks.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/kernels.hpp"
#include "runtime/cuda_device.hpp"
#include "runtime/kernel_table.hpp"

namespace linearmem::cuda {
namespace {

TEST(Runtime, EveryKernelIsAFunctionOfItsOwn) {
  std::set<const void*> functions;
  for (int number = 0; number < kKernelCount; ++number) functions.insert(kernel_function(number));
  EXPECT_EQ(functions.count(nullptr), 0u);
  EXPECT_EQ(functions.size(), static_cast<std::size_t>(kKernelCount));
}

TEST(Runtime, ADeviceAnswersOrTheReasonIsGiven) {
  const auto device = open_device(0);
  if (device.ok()) {
    EXPECT_GE(device.value()->limits().shared_bytes_per_block, 64 << 10) << device.value()->description();
    EXPECT_EQ(open_device(1000).status().message().find("backend cuda: device is 1000, but this machine has "), 0u);
    return;
  }
  EXPECT_EQ(device.status().code(), StatusCode::unavailable);
  const std::string message = device.status().message();
  bool known = false;
  for (const char* reason : {"there is no NVIDIA driver", "there is no CUDA device", "the driver is too old: it supports CUDA ",
                             "device 0 has compute capability "})
    known = known || message.find(std::string("backend cuda: ") + reason) == 0;
  EXPECT_TRUE(known) << message;
}

}  // namespace
}  // namespace linearmem::cuda
