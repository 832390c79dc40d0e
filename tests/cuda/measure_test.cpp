// The benchmark of a device, on the emulator at small sizes: every case is proved, and figures follow from the clock.
#include <gtest/gtest.h>

#include "cuda/emulated.hpp"
#include "host/measure.hpp"

namespace linearmem {
namespace {

constexpr CudaSizes kSmall = {.tokens = 20, .heads = 2, .width = 16, .requests = 5, .decode_heads = 3, .keys = 3000, .key_width = 7, .k = 4};

TEST(CudaMeasure, ProvesEveryCaseAndReportsItsWork) {
  const test::Emulated emulated;
  const auto report = cuda::measure(emulated.device(), 3, kSmall);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report.value().device, "emulated device");
  ASSERT_EQ(report.value().measurements.size(), 3u);
  const CudaMeasurement &prefill = report.value().measurements[0], &decode = report.value().measurements[1], &knn = report.value().measurements[2];
  EXPECT_EQ(prefill.name, "gated-delta-rule, prefill");
  EXPECT_EQ(prefill.shape, "B 1, T 20, H 2, K = V = 16, f32");
  EXPECT_LE(prefill.error, 1e-5);
  EXPECT_EQ(prefill.flops, 7.0 * 20 * 2 * 16 * 16);
  EXPECT_EQ(prefill.seconds, 1e-3);  // the emulated clock
  EXPECT_EQ(prefill.fraction(), prefill.flops * 1e3 / report.value().flops_per_second);
  EXPECT_EQ(decode.bytes, 4.0 * (5 * 3 * (4 * 16 + 2) + 2 * 5 * 3 * 16 * 16));
  EXPECT_EQ(decode.limit, report.value().bytes_per_second);
  EXPECT_EQ(knn.bytes, 4.0 * 3000 * 7);
  EXPECT_EQ(emulated.device().used(), 0);
}

TEST(CudaMeasure, TellsWhatTheDeviceLacks) {
  const test::Emulated small({.memory_bytes = 10000}), lost({.launches_before_failure = 3});
  EXPECT_EQ(cuda::measure(small.device(), 1, kSmall).status().code(), StatusCode::out_of_memory);
  EXPECT_EQ(cuda::measure(lost.device(), 1, kSmall).status().message(), "backend cuda: the emulated device is lost");
}

}  // namespace
}  // namespace linearmem
