// Token by token along whole rows: five streams of memory in order, the state in the nearest cache. A lane is a channel.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "selective_scan/kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/simd-inl.hpp"
#include "foundation/tail-inl.hpp"
#include "selective_scan/kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using scan::ScanBlock;

template <typename T>
HWY_NOINLINE void scan_block(const ScanBlock<T>& block) {
  using S = Simd<T>;
  const std::int64_t lanes = S::lanes(), tail = block.D % lanes, whole = block.D - tail;
  for (std::int64_t t = 0; t < block.tokens; ++t) {
    const T* x = block.x.data + t * block.x.stride;
    const T* a = block.a.data + t * block.a.stride;
    const T* b = block.b.data + t * block.b.stride;
    const T* c = block.c.data + t * block.c.stride;
    T* y = block.y.data + t * block.y.stride;
    for (std::int64_t d = 0; d < whole; d += lanes) {
      const auto h = S::multiply_add(S::load(a + d), S::load(block.h + d), S::multiply(S::load(b + d), S::load(x + d)));
      S::store(h, block.h + d);
      S::store(S::multiply(S::load(c + d), h), y + d);
    }
    if (tail == 0) continue;
    const auto write = S::multiply(load_some(b + whole, tail), load_some(x + whole, tail));
    const auto h = S::multiply_add(load_some(a + whole, tail), load_some<T>(block.h + whole, tail), write);
    store_some<T>(h, block.h + whole, tail);
    store_some<T>(S::multiply(load_some(c + whole, tail), h), y + whole, tail);
  }
}

void ScanBlockF32(const ScanBlock<float>& block) { scan_block(block); }
void ScanBlockF64(const ScanBlock<double>& block) { scan_block(block); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(ScanBlockF32);
HWY_EXPORT(ScanBlockF64);

namespace scan {
void kernel_block(const ScanBlock<float>& block) { HWY_DYNAMIC_DISPATCH(ScanBlockF32)(block); }
void kernel_block(const ScanBlock<double>& block) { HWY_DYNAMIC_DISPATCH(ScanBlockF64)(block); }
}  // namespace scan
}  // namespace linearmem
#endif
