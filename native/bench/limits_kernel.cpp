#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "limits_kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/simd-inl.hpp"
#include "limits_kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

// Chains that do not wait for each other: enough to cover the latency of a product and a sum at two of each per cycle, few enough
// for sixteen registers.
constexpr int kChains = 12;

template <typename T>
HWY_INLINE T sum_of_lanes(typename Simd<T>::V values) {
  T lanes[HWY_MAX_BYTES / sizeof(T)], sum = 0;
  Simd<T>::store(values, lanes);
  for (std::int64_t i = 0; i < Simd<T>::lanes(); ++i) sum += lanes[i];
  return sum;
}

// x/2 + 1 goes to 2 and stays there: neither tiny nor huge, and no compiler may foresee it.
template <typename T>
HWY_NOINLINE T multiply_adds_of(T start, std::int64_t steps) {
  using S = Simd<T>;
  typename S::V chain[kChains];
  const auto half = S::all(T{0.5}), one = S::all(T{1});
  T starts[kChains * HWY_MAX_BYTES / sizeof(T)];  // all different, or one lane would do the work of several
  for (std::int64_t i = 0; i < kChains * S::lanes(); ++i) starts[i] = start + T(i);
  for (int c = 0; c < kChains; ++c) chain[c] = S::load(starts + c * S::lanes());
  for (std::int64_t i = 0; i < steps; ++i)
    for (int c = 0; c < kChains; ++c) chain[c] = S::multiply_add(chain[c], half, one);
  for (int c = 1; c < kChains; ++c) chain[0] = S::add(chain[0], chain[c]);
  return sum_of_lanes<T>(chain[0]);
}

float MultiplyAddsF32(float start, std::int64_t steps) { return multiply_adds_of<float>(start, steps); }
double MultiplyAddsF64(double start, std::int64_t steps) { return multiply_adds_of<double>(start, steps); }
std::int64_t FlopsPerStepF32() { return 2 * kChains * Simd<float>::lanes(); }
std::int64_t FlopsPerStepF64() { return 2 * kChains * Simd<double>::lanes(); }

constexpr int kStreamVectors = 8;

HWY_NOINLINE float SumF32(const float* values, std::int64_t count) {
  using S = Simd<float>;
  const std::int64_t lanes = S::lanes();
  S::V sum[kStreamVectors];
  for (int c = 0; c < kStreamVectors; ++c) sum[c] = S::zero();
  for (std::int64_t i = 0; i < count; i += kStreamVectors * lanes)
    for (int c = 0; c < kStreamVectors; ++c) sum[c] = S::add(sum[c], S::load(values + i + c * lanes));
  for (int c = 1; c < kStreamVectors; ++c) sum[0] = S::add(sum[0], sum[c]);
  return sum_of_lanes<float>(sum[0]);
}

HWY_NOINLINE void ScaleF32(float* values, std::int64_t count, float factor) {
  using S = Simd<float>;
  const std::int64_t lanes = S::lanes();
  const auto by = S::all(factor);
  for (std::int64_t i = 0; i < count; i += kStreamVectors * lanes)
    for (int c = 0; c < kStreamVectors; ++c) S::store(S::multiply(by, S::load(values + i + c * lanes)), values + i + c * lanes);
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(MultiplyAddsF32);
HWY_EXPORT(MultiplyAddsF64);
HWY_EXPORT(FlopsPerStepF32);
HWY_EXPORT(FlopsPerStepF64);
HWY_EXPORT(SumF32);
HWY_EXPORT(ScaleF32);

namespace bench {
std::int64_t flops_per_step(float) { return HWY_DYNAMIC_DISPATCH(FlopsPerStepF32)(); }
std::int64_t flops_per_step(double) { return HWY_DYNAMIC_DISPATCH(FlopsPerStepF64)(); }
float multiply_adds(float start, std::int64_t steps) { return HWY_DYNAMIC_DISPATCH(MultiplyAddsF32)(start, steps); }
double multiply_adds(double start, std::int64_t steps) { return HWY_DYNAMIC_DISPATCH(MultiplyAddsF64)(start, steps); }
float sum_of(const float* values, std::int64_t count) { return HWY_DYNAMIC_DISPATCH(SumF32)(values, count); }
void scale(float* values, std::int64_t count, float factor) { HWY_DYNAMIC_DISPATCH(ScaleF32)(values, count, factor); }
}  // namespace bench
}  // namespace linearmem
#endif
