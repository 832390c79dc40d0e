// One pass per token over a tile of state columns: while row i of S is in registers for the write of token t, it also feeds
// the output of t and the error read of t+1. Columns are independent, so a lane is a value column and a tail is the same
// formula on zero-filled lanes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "delta_rule/kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "delta_rule/kernel.hpp"
#include "foundation/column_tiles-inl.hpp"
#include "foundation/rounding-inl.hpp"
#include "foundation/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using delta::KernelBlock;

// Rows of v in and of o and reads out; `columns` may be fewer than the tile holds.
template <typename T>
HWY_INLINE const T* value_row(const T* row, std::int64_t columns, std::int64_t width, T* padded) {
  if (columns == width) return row;
  for (std::int64_t j = 0; j < columns; ++j) padded[j] = row[j];
  for (std::int64_t j = columns; j < width; ++j) padded[j] = 0;
  return padded;
}

template <typename T, int kVectors>
HWY_INLINE void store_row(const typename Simd<T>::V (&values)[kVectors], T* row, std::int64_t columns, T* padded) {
  using S = Simd<T>;
  const std::int64_t lanes = S::lanes(), width = kVectors * lanes;
  T* to = columns == width ? row : padded;
  for (int c = 0; c < kVectors; ++c) S::store(values[c], to + c * lanes);
  if (columns == width) return;
  for (std::int64_t j = 0; j < columns; ++j) row[j] = padded[j];
}

template <typename T, int kVectors>
HWY_INLINE void read_rows(const T* x, const T* state, std::int64_t K, typename Simd<T>::V (&sum)[kVectors]) {
  using S = Simd<T>;
  const std::int64_t lanes = S::lanes();
  for (int c = 0; c < kVectors; ++c) sum[c] = S::zero();
  for (std::int64_t i = 0; i < K; ++i) {
    const auto x_i = S::all(x[i]);
    for (int c = 0; c < kVectors; ++c) sum[c] = S::multiply_add(x_i, S::load(state + (i * kVectors + c) * lanes), sum[c]);
  }
}

// state: the tile's rows, kVectors vectors each. first: the tile's first value column. kByKey: each key component has its own decay.
template <typename T, int kVectors, bool kByKey, bool kRounded>
HWY_NOINLINE void tile_block(const KernelBlock<T>& block, T* state, std::int64_t first, std::int64_t columns) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), K = block.K;
  const T* read_keys = kByKey ? block.k_decayed : block.k;
  T padded[kVectors * HWY_MAX_BYTES / sizeof(T)];
  V read[kVectors];
  read_rows<T, kVectors>(read_keys, state, K, read);
  for (std::int64_t t = 0; t < block.tokens; ++t) {
    const T* q = block.q + t * K;
    const T* k = block.k + t * K;
    const T* k_next = read_keys + (t + 1 < block.tokens ? t + 1 : t) * K;
    const T* decays = block.decay + (kByKey ? t * K : t);
    const V decay = S::all(decays[0]), beta = S::all(block.beta[t]);
    if constexpr (!kByKey)
      for (int c = 0; c < kVectors; ++c) read[c] = S::multiply(decay, read[c]);
    if (block.reads) store_row<T, kVectors>(read, block.reads + t * block.reads_stride + first, columns, padded);
    const T* v = value_row(block.v + t * block.v_stride + first, columns, kVectors * lanes, padded);
    V write[kVectors], output[kVectors];
    for (int c = 0; c < kVectors; ++c) {
      write[c] = S::multiply(beta, S::subtract(S::load(v + c * lanes), read[c]));
      output[c] = S::zero();
      read[c] = S::zero();
    }
    for (std::int64_t i = 0; i < K; ++i) {
      const V k_i = S::all(k[i]), q_i = S::all(q[i]), next_i = S::all(k_next[i]), decay_i = kByKey ? S::all(decays[i]) : decay;
      for (int c = 0; c < kVectors; ++c) {
        T* at = state + (i * kVectors + c) * lanes;
        V s = S::multiply_add(k_i, write[c], S::multiply(decay_i, S::load(at)));
        if constexpr (kRounded) s = rounded_lanes<T>(*block.rounding, s);
        S::store(s, at);
        output[c] = S::multiply_add(q_i, s, output[c]);
        read[c] = S::multiply_add(next_i, s, read[c]);
      }
    }
    store_row<T, kVectors>(output, block.o + t * block.o_stride + first, columns, padded);
  }
}

template <typename T, int kVectors>
HWY_INLINE void tile_of(const KernelBlock<T>& block, T* state, std::int64_t first, std::int64_t columns) {
  if (block.rounding) return tile_block<T, kVectors, true, true>(block, state, first, columns);
  if (block.k_decayed) return tile_block<T, kVectors, true, false>(block, state, first, columns);
  return tile_block<T, kVectors, false, false>(block, state, first, columns);
}

template <typename T>
HWY_INLINE void all_tiles(const KernelBlock<T>& block) {
  each_tile<T>(block.K, block.V, [&](int vectors, std::int64_t offset, std::int64_t first, std::int64_t columns) HWY_ATTR {
    if constexpr (kTileVectors == 4)  // a target with narrower tiles carries no code for wide ones
      if (vectors == 4) return tile_of<T, 4>(block, block.state + offset, first, columns);
    if (vectors == 2) return tile_of<T, 2>(block, block.state + offset, first, columns);
    return tile_of<T, 1>(block, block.state + offset, first, columns);
  });
}

void BlockF32(const KernelBlock<float>& block) { all_tiles(block); }
void BlockF64(const KernelBlock<double>& block) { all_tiles(block); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(BlockF32);
HWY_EXPORT(BlockF64);

namespace delta {
void kernel_block(const KernelBlock<float>& block) { HWY_DYNAMIC_DISPATCH(BlockF32)(block); }
void kernel_block(const KernelBlock<double>& block) { HWY_DYNAMIC_DISPATCH(BlockF64)(block); }
}  // namespace delta
}  // namespace linearmem
#endif
