// The benchmark of a device, on the emulator at small sizes: every case is proved, and figures follow from the clock.
#include <gtest/gtest.h>

#include "cuda/emulated.hpp"
#include "host/measure.hpp"

namespace linearmem {
namespace {

constexpr CudaSizes kSmall = {.tokens = 20, .heads = 2, .width = 16, .requests = 5, .decode_heads = 3, .keys = 3000, .key_width = 7, .k = 4,
                              .matrix = 40, .copied_bytes = 16 * 5000};

TEST(CudaMeasure, ProvesEveryCaseAndReportsItsWork) {
  const test::Emulated emulated;
  const auto report = cuda::measure(emulated.device(), 3, kSmall);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report.value().device, "emulated device");
  ASSERT_EQ(report.value().measurements.size(), 4u);
  const CudaMeasurement &prefill = report.value().measurements[0], &chunked = report.value().measurements[1],
                        &decode = report.value().measurements[2], &knn = report.value().measurements[3];
  EXPECT_EQ(prefill.name, "gated-delta-rule, prefill");
  EXPECT_EQ(prefill.shape, "B 1, T 20, H 2, K = V = 16, f32");
  EXPECT_LE(prefill.error, 1e-5);
  EXPECT_EQ(prefill.flops, 7.0 * 20 * 2 * 16 * 16);
  EXPECT_EQ(prefill.seconds, 1e-3);  // the emulated clock
  EXPECT_EQ(prefill.fraction(), prefill.flops / 1e-3 / prefill.limit.per_second);
  EXPECT_EQ(prefill.limit.name, "float32 multiply-add in registers");
  EXPECT_EQ(chunked.name, "gated-delta-rule, prefill in chunks");
  EXPECT_EQ(chunked.shape, "B 1, T 20, H 2, K = V = 16, bf16");
  EXPECT_LE(chunked.error, 0x1p-7);
  EXPECT_GT(chunked.error, 1e-5);  // bfloat16 indeed
  EXPECT_EQ(chunked.flops, prefill.flops);
  EXPECT_EQ(chunked.limit.name, "bfloat16 matrix product (cuBLAS)");
  EXPECT_EQ(decode.bytes, 4.0 * (5 * 3 * (4 * 16 + 2) + 2 * 5 * 3 * 16 * 16));
  EXPECT_EQ(decode.limit.name, "copy");
  EXPECT_EQ(knn.bytes, 4.0 * 3000 * 7);
  EXPECT_EQ(knn.limit.name, "read");
  EXPECT_EQ(emulated.device().used(), 0);
}

TEST(CudaMeasure, LimitsFollowFromTheClock) {
  const test::Emulated emulated;
  const auto report = cuda::measure(emulated.device(), 1, kSmall);
  ASSERT_TRUE(report.ok()) << report.status().message();
  const auto& limits = report.value().limits;
  ASSERT_EQ(limits.size(), 6u);
  const double expected[] = {2 * 16 * 5000 / 1e-3, 2 * 16 * 5000 / 1e-3, 16 * 5000 / 1e-3, 2.0 * 8 * 256 * 16 * 20 / 1e-3,
                             2.0 * 40 * 40 * 40 / 1e-3, 2.0 * 40 * 40 * 40 / 1e-3};
  for (std::size_t i = 0; i < limits.size(); ++i) {
    EXPECT_EQ(limits[i].per_second, expected[i]) << limits[i].name;
    EXPECT_EQ(limits[i].bytes, i < 3) << limits[i].name;
    EXPECT_EQ(limits[i].missing, "") << limits[i].name;
  }
}

TEST(CudaMeasure, ALibraryThatIsMissingIsNamed) {
  const test::Emulated without({.multiplies = false});
  const auto report = cuda::measure(without.device(), 1, kSmall);
  ASSERT_TRUE(report.ok()) << report.status().message();
  for (std::size_t i : {4u, 5u}) {
    EXPECT_EQ(report.value().limits[i].missing, "backend cuda: the emulated device has no library that multiplies");
    EXPECT_EQ(report.value().limits[i].per_second, 0);
  }
  EXPECT_EQ(report.value().measurements.size(), 4u);
}

TEST(CudaMeasure, ADeviceWithoutTensorCoresSaysWhatIsMissing) {
  const test::Emulated old({.limits = {.shared_bytes_per_block = 64 << 10, .processors = 2, .capability = 75}});
  const auto report = cuda::measure(old.device(), 1, kSmall);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report.value().measurements[1].missing, "needs tensor cores for bf16, compute capability 8.0");
  EXPECT_EQ(report.value().measurements[2].missing, "");
}

// Whatever comes down with other bits is found out, and nothing is reported.
TEST(CudaMeasure, NoWrongResultIsTimed) {
  const test::Emulated sound;
  ASSERT_TRUE(cuda::measure(sound.device(), 1, kSmall).ok());
  EXPECT_EQ(sound.device().downloads(), 15);
  for (std::int64_t i = 0; i < sound.device().downloads(); ++i) {
    const test::Emulated spoiled({.spoiled_download = i});
    const auto report = cuda::measure(spoiled.device(), 1, kSmall);
    EXPECT_EQ(report.status().code(), StatusCode::invalid_argument) << i << " " << report.status().message();
    EXPECT_NE(report.status().message().find("on backend cuda: "), std::string::npos) << i;
    EXPECT_EQ(spoiled.device().used(), 0);
  }
}

TEST(CudaMeasure, TellsWhatTheDeviceLacks) {
  const test::Emulated small({.memory_bytes = 10000}), lost({.launches_before_failure = 3});
  EXPECT_EQ(cuda::measure(small.device(), 1, kSmall).status().code(), StatusCode::out_of_memory);
  EXPECT_EQ(cuda::measure(lost.device(), 1, kSmall).status().message(), "backend cuda: the emulated device is lost");
}

}  // namespace
}  // namespace linearmem
