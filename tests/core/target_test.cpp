#include "linearmem/target.hpp"

#include <gtest/gtest.h>

namespace linearmem {
namespace {

// A build that silently fell back to scalar kernels would pass every other test.
TEST(Target, IsTheOneThisBuildPromises) {
#if defined(LINEARMEM_TEST_SCALAR)
  EXPECT_EQ(simd_target(), "SCALAR");
#elif defined(__wasm__)
  EXPECT_EQ(simd_target(), "WASM");
#else
  EXPECT_NE(simd_target(), "SCALAR");
#endif
}

TEST(Target, BuildIdStartsWithTheVersion) { EXPECT_EQ(build_id().find(LINEARMEM_TEST_VERSION "+"), 0u) << build_id(); }

}  // namespace
}  // namespace linearmem
