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

std::string_view simd_target() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(TargetBit)()); }

std::string_view build_id() { return LINEARMEM_BUILD_ID; }

}  // namespace linearmem
#endif
