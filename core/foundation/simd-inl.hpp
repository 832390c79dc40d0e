// The vector operations our kernels use, over float and double on every target. Highway gives all of them but double on
// WebAssembly, which is written out here. Included once per target, inside Highway's per-target namespace.

#if defined(LINEARMEM_FOUNDATION_SIMD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_FOUNDATION_SIMD_INL_HPP
#undef LINEARMEM_FOUNDATION_SIMD_INL_HPP
#else
#define LINEARMEM_FOUNDATION_SIMD_INL_HPP
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
struct Simd {
  using Tag = hn::ScalableTag<T>;
  using V = hn::Vec<Tag>;

  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Tag())); }
  static HWY_INLINE V zero() { return hn::Zero(Tag()); }
  static HWY_INLINE V all(T value) { return hn::Set(Tag(), value); }
  static HWY_INLINE V load(const T* from) { return hn::LoadU(Tag(), from); }
  static HWY_INLINE void store(V value, T* to) { hn::StoreU(value, Tag(), to); }
  static HWY_INLINE V add(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE V subtract(V a, V b) { return hn::Sub(a, b); }
  static HWY_INLINE V multiply(V a, V b) { return hn::Mul(a, b); }
  static HWY_INLINE V divide(V a, V b) { return hn::Div(a, b); }
  static HWY_INLINE V maximum(V a, V b) { return hn::Max(a, b); }
  static HWY_INLINE V multiply_add(V a, V b, V sum) { return hn::MulAdd(a, b, sum); }            // a b + sum
  static HWY_INLINE V subtract_product(V sum, V a, V b) { return hn::NegMulAdd(a, b, sum); }  // sum - a b
  static HWY_INLINE T sum(V a) { return hn::GetLane(hn::SumOfLanes(Tag(), a)); }
  static HWY_INLINE T first(V a) { return hn::GetLane(a); }
  static HWY_INLINE T largest(V a) { return hn::GetLane(hn::MaxOfLanes(Tag(), a)); }
  static HWY_INLINE V bit_and(V a, V b) { return hn::And(a, b); }
  static HWY_INLINE V select_less(V a, V b, V yes, V no) { return hn::IfThenElse(hn::Lt(a, b), yes, no); }  // a NaN is not less
  static HWY_INLINE V at_least(V a, V least) {  // a NaN stays
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
    return hn::Max(least, a);  // the second one where either is a NaN
#else
    return select_less(a, least, least, a);
#endif
  }
  static HWY_INLINE V minus_size(V a) { return hn::Or(a, all(T(-0.0))); }  // -|a|
  // a 2^n for each lane where a and the product are normal numbers, by the exponent's bits alone: the low bits of low_bits' own pattern hold n.
  static HWY_INLINE V times_power_of_two(V a, V low_bits) {
    constexpr int kMantissaBits = sizeof(T) == 8 ? 52 : 23;
    const hn::RebindToUnsigned<Tag> bits;
    return hn::BitCast(Tag(), hn::Add(hn::ShiftLeft<kMantissaBits>(hn::BitCast(bits, low_bits)), hn::BitCast(bits, a)));
  }
  // 2^n, n a whole number between the exponent's limits, where it is 0 and infinity.
  static HWY_INLINE V power_of_two(V low_bits) { return times_power_of_two(all(T{1}), low_bits); }
};

#if HWY_TARGET == HWY_WASM
template <>
struct Simd<double> {
  using V = __f64x2;

  static HWY_INLINE std::int64_t lanes() { return 2; }
  static HWY_INLINE V zero() { return V{0.0, 0.0}; }
  static HWY_INLINE V all(double value) { return V{value, value}; }
  static HWY_INLINE V load(const double* from) { return static_cast<V>(wasm_v128_load(from)); }
  static HWY_INLINE void store(V value, double* to) { wasm_v128_store(to, static_cast<v128_t>(value)); }
  static HWY_INLINE V add(V a, V b) { return a + b; }
  static HWY_INLINE V subtract(V a, V b) { return a - b; }
  static HWY_INLINE V multiply(V a, V b) { return a * b; }
  static HWY_INLINE V divide(V a, V b) { return a / b; }
  static HWY_INLINE V maximum(V a, V b) { return static_cast<V>(wasm_f64x2_max(static_cast<v128_t>(a), static_cast<v128_t>(b))); }
  static HWY_INLINE V multiply_add(V a, V b, V sum) { return a * b + sum; }
  static HWY_INLINE V subtract_product(V sum, V a, V b) { return sum - a * b; }
  static HWY_INLINE double sum(V a) { return a[0] + a[1]; }
  static HWY_INLINE double first(V a) { return a[0]; }
  static HWY_INLINE double largest(V a) { return a[0] > a[1] ? a[0] : a[1]; }
  static HWY_INLINE V bit_and(V a, V b) { return static_cast<V>(wasm_v128_and(static_cast<v128_t>(a), static_cast<v128_t>(b))); }
  static HWY_INLINE V select_less(V a, V b, V yes, V no) {
    return static_cast<V>(wasm_v128_bitselect(static_cast<v128_t>(yes), static_cast<v128_t>(no), static_cast<v128_t>(a < b)));
  }
  static HWY_INLINE V at_least(V a, V least) { return select_less(a, least, least, a); }
  static HWY_INLINE V minus_size(V a) { return static_cast<V>(wasm_v128_or(static_cast<v128_t>(a), static_cast<v128_t>(all(-0.0)))); }
  static HWY_INLINE V times_power_of_two(V a, V low_bits) {
    return static_cast<V>(wasm_i64x2_add(wasm_i64x2_shl(static_cast<v128_t>(low_bits), 52), static_cast<v128_t>(a)));
  }
  static HWY_INLINE V power_of_two(V low_bits) { return times_power_of_two(all(1), low_bits); }
};
#endif

// Vectors that stay in registers while a kernel walks down the rows of a tile of columns.
// Sixteen registers: two sets of accumulators and one of write values fit four wide on x86 and NEON; V8's allocator wants fewer.
#if HWY_TARGET == HWY_WASM
constexpr int kTileVectors = 2;
constexpr bool kFetchStates = false;  // memory can be asked for ahead of time
#else
constexpr int kTileVectors = 4;
constexpr bool kFetchStates = true;
#endif

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
