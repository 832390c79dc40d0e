// LINEARMEM_TARGET=AVX2 runs every test of this program on that instruction set; skipped, saying so, where this machine does not have it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "linearmem/target.hpp"

namespace linearmem {
namespace {

class NamedTarget : public testing::Environment {
 public:
  void SetUp() override {
    const char* name = std::getenv("LINEARMEM_TARGET");
    if (!name) return;
    if (const Status status = choose_simd_target(name); !status.ok()) GTEST_SKIP() << status.message();
    EXPECT_EQ(simd_target(), name);
  }
};

[[maybe_unused]] const testing::Environment* const named_target = testing::AddGlobalTestEnvironment(new NamedTarget);

}  // namespace
}  // namespace linearmem
