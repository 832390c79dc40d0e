// The properties of tests/core, on the backends under test: compiled here a second time, they meet these before they run.
#include "core/properties.hpp"
#include "cuda/backends.hpp"

namespace linearmem {
namespace {

class OnBackends : public testing::Environment {
 public:
  void SetUp() override {
    for (const test::NamedBackend& named : test::backends()) test::property_backends().push_back(named.backend);
    ASSERT_FALSE(test::property_backends().empty());
  }
};

[[maybe_unused]] const testing::Environment* const on_backends = testing::AddGlobalTestEnvironment(new OnBackends);

}  // namespace
}  // namespace linearmem
