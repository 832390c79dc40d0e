#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "foundation/target.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "linearmem/target.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

std::int64_t TargetBit() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {

HWY_EXPORT(TargetBit);

namespace {

// One bit per target that is compiled in and that this processor has; the lowest bit is the fastest.
std::int64_t available_bits() {
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0  // a single target is called directly, and there is no table to ask
  return HWY_TARGETS;
#else
  static const std::int64_t bits = hwy::SupportedTargets() & HWY_TARGETS;  // asked before any choice narrows the answer
  return bits;
#endif
}

void choose([[maybe_unused]] std::int64_t bit) {
#if (HWY_TARGETS & (HWY_TARGETS - 1)) != 0
  hwy::SetSupportedTargetsForTest(bit);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
#endif
}

}  // namespace

std::string_view simd_target() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(TargetBit)()); }

std::vector<std::string> available_simd_targets() {
  std::vector<std::string> names;
  for (std::int64_t rest = available_bits(); rest != 0; rest &= rest - 1) names.emplace_back(hwy::TargetName(rest & -rest));
  return names;
}

Status choose_simd_target(std::string_view name) {
  std::string available;
  for (std::int64_t rest = available_bits(); rest != 0; rest &= rest - 1) {
    const std::int64_t bit = rest & -rest;
    if (name == hwy::TargetName(bit)) {
      choose(bit);
      return {};
    }
    available += std::string(available.empty() ? "" : ", ") + hwy::TargetName(bit);
  }
  return Status::unavailable("SIMD target \"" + std::string(name) + "\" is not available: this build has on this processor " + available);
}

std::string_view build_id() { return LINEARMEM_BUILD_ID; }

}  // namespace linearmem
#endif
