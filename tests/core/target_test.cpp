#include "linearmem/target.hpp"

#include <gtest/gtest.h>

#include "linearmem/delta_rule.hpp"
#include "linearmem/random.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

// A build that silently fell back to scalar kernels would pass every other test.
TEST(Target, IsTheOneThisBuildPromises) {
#if defined(LINEARMEM_TEST_SCALAR)
  EXPECT_EQ(available_simd_targets().front(), "SCALAR");
#elif defined(__wasm__)
  EXPECT_EQ(available_simd_targets().front(), "WASM");
#else
  EXPECT_NE(available_simd_targets().front(), "SCALAR");
#endif
}

// Puts back what the other tests of this process were started with.
class ChosenTarget : public testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(choose_simd_target(before_).ok()); }

 private:
  std::string before_{simd_target()};
};

std::vector<float> delta_rule_output() {
  Generator generator(5);
  Tensor<float, 4> q({1, 9, 1, 7}), v({1, 9, 1, 70}), o({1, 9, 1, 70});
  Tensor<float, 3> beta({1, 9, 1}, 0.5f);
  for (float& value : q.values()) value = static_cast<float>(generator.standard_normal());
  for (float& value : v.values()) value = static_cast<float>(generator.standard_normal());
  const Status status = delta_rule(DeltaRuleArguments<float>{
      .q = q.view(), .k = q.view(), .v = v.view(), .beta = beta.view(), .l2norm = true, .o = o.view()});
  EXPECT_TRUE(status.ok()) << status.message();
  return o.values();
}

TEST_F(ChosenTarget, IsTheOneThatRunsAndComputesTheSame) {
  const std::vector<float> expected = delta_rule_output();
  for (const std::string& name : available_simd_targets()) {
    ASSERT_TRUE(choose_simd_target(name).ok());
    EXPECT_EQ(simd_target(), name);
    const std::vector<float> got = delta_rule_output();
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5) << name << " " << i;
  }
}

TEST_F(ChosenTarget, UnknownNamesAreRefusedAndChangeNothing) {
  const std::string before(simd_target());
  const std::string first = available_simd_targets().front();
  for (const char* name : {"AVX9", "", "avx2"}) {
    const Status status = choose_simd_target(name);
    EXPECT_EQ(status.code(), StatusCode::unavailable);
    EXPECT_EQ(status.message().find("SIMD target \"" + std::string(name) + "\" is not available: this build has on this processor " + first), 0u)
        << status.message();
    EXPECT_EQ(simd_target(), before);
  }
}

TEST(Target, BuildIdStartsWithTheVersion) { EXPECT_EQ(build_id().find(LINEARMEM_TEST_VERSION "+"), 0u) << build_id(); }

}  // namespace
}  // namespace linearmem
