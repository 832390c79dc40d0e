// What a launch needs, as plain arithmetic: kernel, blocks, threads, shared memory, and what is refused.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <set>
#include <string>

#include "host/attention.hpp"
#include "host/knn.hpp"
#include "host/matrix_state.hpp"
#include "host/scan.hpp"
#include "kernels/kernels.hpp"

namespace linearmem::cuda {
namespace {

constexpr Limits kTuring = {.shared_bytes_per_block = 64 << 10, .processors = 40};  // the least of the devices built for
constexpr Limits kHopper = {.shared_bytes_per_block = 227 << 10, .processors = 132};

MatrixStateArguments sizes(std::int64_t H, std::int64_t K, std::int64_t V) {
  MatrixStateArguments a{};
  a.H = H, a.K = K, a.V = V;
  return a;
}

TEST(CudaPlans, EveryKeyWidthFitsTheSmallestDevice) {
  for (bool corrects : {false, true})
    for (bool by_key : {false, true}) {
      std::set<int> kernels;
      for (std::int64_t K = 0; K <= kMostKeyWidth; ++K) {
        MatrixStateArguments a = sizes(96, K, 128);
        const auto plan = plan_matrix_state("delta_rule", 1, corrects, by_key, kTuring, a);
        ASSERT_TRUE(plan.ok()) << K << " " << plan.status().message();
        EXPECT_LE(plan.value().shared_bytes, kTuring.shared_bytes_per_block) << K;
        EXPECT_EQ(plan.value().threads % 32, 0) << K;
        kernels.insert(plan.value().kernel);
      }
      EXPECT_EQ(kernels.size(), 4u);
    }
}

TEST(CudaPlans, EveryColumnHasOneBlock) {
  for (std::int64_t V = 1; V <= 300; ++V)
    for (std::int64_t heads : {1, 7, 96, 4096}) {
      MatrixStateArguments a = sizes(heads, 64, V);
      const auto plan = plan_matrix_state("ssd", 3, false, false, kHopper, a);
      EXPECT_GE(a.columns * a.tiles, V);
      EXPECT_LT(a.columns * (a.tiles - 1), V);
      EXPECT_EQ(plan.value().blocks, 3 * heads * a.tiles);
      EXPECT_EQ(plan.value().threads, a.columns * 4);
    }
}

TEST(CudaPlans, FewHeadsAreCutIntoNarrowBlocksManyIntoWideOnes) {
  MatrixStateArguments few = sizes(4, 128, 128), many = sizes(96, 128, 128);
  EXPECT_TRUE(plan_matrix_state("delta_rule", 1, true, false, kHopper, few).ok());
  EXPECT_TRUE(plan_matrix_state("delta_rule", 1, true, false, kHopper, many).ok());
  EXPECT_EQ(few.columns, 8);
  EXPECT_EQ(many.columns, 32);
}

TEST(CudaPlans, MoreBlocksThanAGridHoldsAreCountedIn64Bits) {
  MatrixStateArguments a = sizes(1 << 16, 128, 128);
  const auto plan = plan_matrix_state("delta_rule", 1 << 16, true, false, kHopper, a);
  EXPECT_EQ(plan.value().blocks, std::int64_t{1} << 34);
}

TEST(CudaPlans, OffsetsReachBeyond32Bits) {
  const std::int64_t far = std::int64_t{1} << 33;
  void* memory = ::mmap(nullptr, static_cast<std::size_t>(far + 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const Array<char, 2> array{static_cast<char*>(memory), {far / 2, 1}};
  static_cast<char*>(memory)[far] = 7;
  EXPECT_EQ(array.at(2, 0), 7);
  EXPECT_EQ(::munmap(memory, static_cast<std::size_t>(far + 1)), 0);
}

TEST(CudaPlans, AWiderKeyIsRefusedByName) {
  MatrixStateArguments a = sizes(1, 257, 8);
  const auto plan = plan_matrix_state("delta_rule", 1, true, false, kHopper, a);
  EXPECT_EQ(plan.status().code(), StatusCode::unavailable);
  EXPECT_EQ(plan.status().message(), "delta_rule: K is 257, backend cuda keeps keys of at most 256 components");
}

TEST(CudaPlans, TooLittleSharedMemoryIsRefusedWithBothNumbers) {
  MatrixStateArguments a = sizes(1, 256, 32);
  const auto plan = plan_matrix_state("linear_attention", 1, false, true, {.shared_bytes_per_block = 40000, .processors = 1}, a);
  EXPECT_EQ(plan.status().message(),
            "linear_attention: K is 256, which needs 50304 bytes of shared memory; a block of this device has 40000");
}

SoftmaxAttentionArguments<float> attention(std::int64_t K, std::int64_t V) {
  SoftmaxAttentionArguments<float> a;
  a.q = {nullptr, {2, 100, 6, K}}, a.k = {nullptr, {2, 100, 3, K}}, a.v = {nullptr, {2, 100, 3, V}}, a.o = {nullptr, {2, 100, 6, V}};
  return a;
}

TEST(CudaPlans, AttentionHasABlockForEvery32Queries) {
  const auto plan = plan_attention(attention(128, 128), 2, 100, kTuring);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan.value().blocks, 2 * 6 * 4);
  EXPECT_EQ(plan.value().arguments.group, 2);
  EXPECT_EQ(plan.value().arguments.window, 100);
  EXPECT_EQ(plan.value().shared_bytes, 4 * (48 * 132 + 16 * 132 + 32 * 17));
  EXPECT_EQ(plan.value().kernel, kernel_number<Attention<8>>());
}

TEST(CudaPlans, AttentionRefusesWhatDoesNotFit) {
  EXPECT_EQ(plan_attention(attention(8, 257), 2, 100, kHopper).status().message(),
            "softmax_attention: V is 257, backend cuda sums values of at most 256 components");
  EXPECT_EQ(plan_attention(attention(256, 256), 2, 100, kTuring).status().message(),
            "softmax_attention: K is 256 and V is 256, which need 68736 bytes of shared memory; a block of this device has 65536");
  EXPECT_TRUE(plan_attention(attention(256, 256), 2, 100, kHopper).ok());
}

TEST(CudaPlans, ScansHaveAThreadForEveryChannelOrFourOrSixteen) {
  SelectiveScanArguments<float> scan;
  scan.x = {nullptr, {1, 5, 129}};
  EXPECT_EQ(plan_scan(scan, 3).blocks, 6);
  MambaScanArguments<float> mamba;
  mamba.u = {nullptr, {1, 5, 33}};
  for (const auto& [N, blocks] : {std::pair{16, 6}, std::pair{17, 15}}) {
    mamba.A = {nullptr, {33, N}};
    EXPECT_EQ(plan_mamba(mamba, 3).value().blocks, blocks) << N;
  }
  mamba.A = {nullptr, {33, 257}};
  EXPECT_EQ(plan_mamba(mamba, 3).status().message(), "mamba_scan: N is 257, backend cuda keeps at most 256 numbers per channel");
}

TEST(CudaPlans, ASearchKeepsItsScratchWithinBounds) {
  EXPECT_EQ(segments_of(1), 1);
  EXPECT_EQ(segments_of(2048), 1);
  EXPECT_EQ(segments_of(2049), 2);
  EXPECT_EQ(queries_at_once(1000, 1000, 8 * 1000 * 100), 100);
  EXPECT_EQ(queries_at_once(1000, 1000, 8 * 1000 * 103), 100);  // whole groups
  EXPECT_EQ(queries_at_once(1000, 1000, 1), kKnnQueries);        // at least one group
  EXPECT_EQ(queries_at_once(3, 1000, std::int64_t{1} << 40), 3);
  for (std::int64_t k = 1; k <= kMostNeighbours; ++k)  // rounds end: what is left shrinks
    for (std::int64_t L : {2049, 4096, 100000}) ASSERT_LT(segments_of(L) * k, L) << k;
}

}  // namespace
}  // namespace linearmem::cuda
