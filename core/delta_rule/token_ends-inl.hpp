// Before and after a token's pass over a tile: from its error read to what it writes, and from its sums to its output. Included once per
// target, like simd-inl.hpp.

#if defined(LINEARMEM_DELTA_RULE_TOKEN_ENDS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LINEARMEM_DELTA_RULE_TOKEN_ENDS_INL_HPP
#undef LINEARMEM_DELTA_RULE_TOKEN_ENDS_INL_HPP
#else
#define LINEARMEM_DELTA_RULE_TOKEN_ENDS_INL_HPP
#endif

#include <cstdint>

#include "delta_rule/kernel.hpp"
#include "foundation/column_tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

template <typename T, int kVectors>
HWY_INLINE void store_row(const typename Simd<T>::V (&values)[kVectors], T* row) {
  for (int c = 0; c < kVectors; ++c) Simd<T>::store(values[c], row + c * Simd<T>::lanes());
}

// read: from the state as it is kept on entry, of the decayed state on return.
template <typename T, int kVectors>
HWY_INLINE void begin_token(const delta::KernelBlock<T>& block, const Tile<T>& tile, std::int64_t t, typename Simd<T>::V (&read)[kVectors],
                            typename Simd<T>::V (&write)[kVectors]) {
  using S = Simd<T>;
  const CarriedDecay<T> carried = block.carried[t];
  const auto decay = S::all(carried.state * carried.read), beta = S::all(block.beta[t] * carried.write);
  const T* v = block.v + t * block.v_stride + tile.first;
  for (int c = 0; c < kVectors; ++c) {
    read[c] = S::multiply(decay, read[c]);
    write[c] = S::multiply(beta, S::subtract(S::load(v + c * S::lanes()), read[c]));
  }
  if (block.reads) store_row<T, kVectors>(read, block.reads + t * block.reads_stride + tile.first);
}

template <typename T, int kVectors>
HWY_INLINE void end_token(const delta::KernelBlock<T>& block, const Tile<T>& tile, std::int64_t t, typename Simd<T>::V (&output)[kVectors]) {
  using S = Simd<T>;
  for (int c = 0; c < kVectors; ++c) output[c] = S::multiply(S::all(block.scale * block.carried[t].read), output[c]);
  store_row<T, kVectors>(output, block.o + t * block.o_stride + tile.first);
}

template <typename T, int kVectors>
HWY_INLINE void clear(typename Simd<T>::V (&sums)[kVectors]) {
  for (int c = 0; c < kVectors; ++c) sums[c] = Simd<T>::zero();
}

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
