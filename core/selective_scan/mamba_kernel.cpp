// One exponential per state value and token is most of the work, so it runs in vectors: a lane is a channel, and the N rows of
// a tile of channels are decayed, written and read in one pass. The kernel's own rows are padded to whole vectors; the caller's are not.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "selective_scan/mamba_kernel.cpp"
#include "foundation/highway_targets.hpp"

#include <hwy/foreach_target.h>

#include "foundation/activation-inl.hpp"
#include "foundation/column_tiles-inl.hpp"
#include "foundation/exp-inl.hpp"
#include "foundation/tail-inl.hpp"
#include "selective_scan/decay-inl.hpp"
#include "selective_scan/mamba_kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace linearmem {
namespace HWY_NAMESPACE {

using scan::MambaBlock;

constexpr double kLog2E = 1.4426950408889634;

// The values of a row of `width` from d on, zeros past its end.
template <typename T>
HWY_INLINE typename Simd<T>::V row_part(const T* row, std::int64_t d, std::int64_t width) {
  using S = Simd<T>;
  return width - d >= S::lanes() ? S::load(row + d) : load_some(row + d, width - d);
}

// Of every token and channel before the states: what the step multiplies and writes, and the skip. In loops of their own, these and the
// gates hide their long chains behind each other.
template <typename T>
HWY_NOINLINE void mamba_steps(const MambaBlock<T>& block) {
  using S = Simd<T>;
  for (std::int64_t t = 0; t < block.tokens; ++t) {
    const T *delta_t = block.delta[t], *u_t = block.u[t];
    const std::int64_t at = t * block.row;
    for (std::int64_t d = 0; d < block.channels; d += S::lanes()) {
      const auto sum = S::add(row_part(delta_t, d, block.channels), S::load(block.bias + d)), u = row_part(u_t, d, block.channels);
      const auto step = block.with_softplus ? softplus<T>(sum) : sum;
      S::store(S::multiply(step, u), block.write + at + d);
      S::store(S::multiply(S::load(block.D + d), u), block.read + at + d);
      S::store(S::multiply(step, S::all(static_cast<T>(kLog2E))), block.step + at + d);
    }
  }
}

template <typename T>
HWY_NOINLINE void mamba_gates(const MambaBlock<T>& block) {
  using S = Simd<T>;
  for (std::int64_t t = 0; t < block.tokens; ++t)
    for (std::int64_t d = 0; d < block.channels; d += S::lanes()) {
      auto y = S::load(block.read + t * block.row + d);
      if (block.z.first) y = S::multiply(y, silu<T>(row_part(block.z[t], d, block.channels)));
      T* to = block.y + t * block.y_stride + d;
      if (block.channels - d >= S::lanes())
        S::store(y, to);
      else
        store_some<T>(y, to, block.channels - d);
    }
}

// A tile walks down its rows token by token, A and the state in the nearest cache.
template <typename T, int kVectors, bool kNear>
HWY_NOINLINE void mamba_tile(const MambaBlock<T>& block, std::int64_t offset, std::int64_t row, std::int64_t first) {
  using S = Simd<T>;
  using V = typename S::V;
  const std::int64_t lanes = S::lanes(), N = block.N;
  for (std::int64_t t = 0; t < block.tokens; ++t) {
    const T *B_t = block.B[t], *C_t = block.C[t], *rates = block.A + offset;
    T* states = block.h + offset;
    const std::int64_t at = t * block.row + first;
    V step[kVectors], write[kVectors], y[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      step[v] = S::load(block.step + at + v * lanes);
      write[v] = S::load(block.write + at + v * lanes);
      y[v] = S::load(block.read + at + v * lanes);
    }
    for (std::int64_t n = 0; n < N; ++n, rates += row, states += row) {
      const V B = S::all(B_t[n]), C = S::all(C_t[n]);
      V decay[kVectors], A[kVectors];
      for (int v = 0; v < kVectors; ++v) decay[v] = step[v], A[v] = S::load(rates + v * lanes);
      decay_each<T, kVectors, kNear>(decay, A);
      for (int v = 0; v < kVectors; ++v) {
        const V h = S::multiply_add(decay[v], S::load(states + v * lanes), S::multiply(B, write[v]));
        S::store(h, states + v * lanes);
        y[v] = S::multiply_add(C, h, y[v]);
      }
    }
    for (int v = 0; v < kVectors; ++v) S::store(y[v], block.read + at + v * lanes);
  }
}

// Whether every step of the block times every A of these channels is a number of at most kNearest.
template <typename T>
HWY_INLINE bool steps_near(const MambaBlock<T>& block, std::int64_t first) {
  if constexpr (sizeof(T) == 4) {
    using S = Simd<T>;
    const hn::Rebind<std::int32_t, typename S::Tag> bits;
    auto top = hn::Zero(bits);  // as whole numbers, the sizes of floats are ordered, and infinities and NaN come last
    for (std::int64_t t = 0; t < block.tokens; ++t)
      top = hn::Max(top, hn::BitCast(bits, hn::Abs(S::load(block.step + t * block.row + first))));
    const auto product = hn::Mul(hn::BitCast(typename S::Tag(), top), S::load(block.A_size + first));
    return hn::AllTrue(typename S::Tag(), hn::Lt(product, S::all(kNearest)));
  } else {
    return false;
  }
}

template <typename T, int kVectors>
HWY_INLINE void mamba_tile_of(const MambaBlock<T>& block, std::int64_t offset, std::int64_t first) {
  constexpr int kPart = kVectors < 2 ? kVectors : 2;  // vectors: their numbers and half of the constants fit sixteen registers
  for (int part = 0; part < kVectors; part += kPart) {
    const std::int64_t lanes = Simd<T>::lanes(), skip = part * lanes;
    bool near = true;
    for (int v = 0; v < kPart; ++v) near = near && steps_near(block, first + skip + v * lanes);
    if (near)
      mamba_tile<T, kPart, sizeof(T) == 4>(block, offset + skip, kVectors * lanes, first + skip);
    else
      mamba_tile<T, kPart, false>(block, offset + skip, kVectors * lanes, first + skip);
  }
}

template <typename T>
HWY_INLINE void mamba_block(const MambaBlock<T>& block) {
  mamba_steps(block);
  each_tile<T>(block.N, block.channels, [&](int vectors, std::int64_t offset, std::int64_t first, std::int64_t) HWY_ATTR {
    if constexpr (kTileVectors == 4)  // a target with narrower tiles carries no code for wide ones
      if (vectors == 4) return mamba_tile_of<T, 4>(block, offset, first);
    if (vectors == 2) return mamba_tile_of<T, 2>(block, offset, first);
    return mamba_tile_of<T, 1>(block, offset, first);
  });
  mamba_gates(block);
}

// a b + sum as a lane of Simd<T> has it.
template <typename T>
HWY_INLINE T lane_multiply_add(T a, T b, T sum) {
#if HWY_TARGET == HWY_WASM
  return a * b + sum;
#else
  const hn::CappedTag<T, 1> one;
  return hn::GetLane(hn::MulAdd(hn::Set(one, a), hn::Set(one, b), hn::Set(one, sum)));
#endif
}

constexpr std::int64_t kFewChannels = 64;

template <typename T>
struct FewRows {
  T step[kFewChannels], write[kFewChannels], y[kFewChannels];
};

// Steps, writes and skips of token t for channels [first, first + count): a lane is a channel.
template <typename T>
HWY_INLINE void few_steps(const scan::MambaFew<T>& few, std::int64_t t, std::int64_t first, std::int64_t count, FewRows<T>& rows) {
  using S = Simd<T>;
  for (std::int64_t d = 0; d < count; d += S::lanes()) {
    const std::int64_t some = count - d < S::lanes() ? count - d : S::lanes();
    const auto part = [&](const T* row) HWY_ATTR { return row ? load_some(row + first + d, some) : S::zero(); };
    const auto sum = S::add(part(few.delta[t]), part(few.bias)), u = part(few.u[t]);
    const auto step = few.with_softplus ? softplus<T>(sum) : sum;
    S::store(S::multiply(step, u), rows.write + d);
    S::store(S::multiply(part(few.D), u), rows.y + d);
    S::store(S::multiply(step, S::all(static_cast<T>(kLog2E))), rows.step + d);
  }
}

// One channel: a lane is a state value; the read sums them one by one, as a tile does.
template <typename T>
HWY_INLINE T few_channel(const scan::MambaFew<T>& few, std::int64_t t, const T* A, T* h, T step, T write, T y) {
  using S = Simd<T>;
  const T *B = few.B[t], *C = few.C[t];
  for (std::int64_t n = 0; n < few.N; n += S::lanes()) {
    const std::int64_t some = few.N - n < S::lanes() ? few.N - n : S::lanes();
    const auto part = [&](const T* row) HWY_ATTR { return some == S::lanes() ? S::load(row + n) : load_some(row + n, some); };
    typename S::V decay[] = {S::all(step)};
    decay_each<T, 1, false>(decay, {part(A)});
    const auto next = S::multiply_add(decay[0], part(h), S::multiply(part(B), S::all(write)));
    if (some == S::lanes())
      S::store(next, h + n);
    else
      store_some<T>(next, h + n, some);
  }
  for (std::int64_t n = 0; n < few.N; ++n) y = lane_multiply_add(C[n], h[n], y);
  return y;
}

template <typename T>
HWY_NOINLINE void mamba_few(const scan::MambaFew<T>& few, std::int64_t first, std::int64_t count) {
  using S = Simd<T>;
  FewRows<T> rows;
  for (std::int64_t t = 0; t < few.tokens; ++t) {
    few_steps(few, t, first, count, rows);
    for (std::int64_t d = 0; d < count; ++d)
      rows.y[d] = few_channel(few, t, few.A[first + d], few.h + (first + d) * few.h_stride, rows.step[d], rows.write[d], rows.y[d]);
    for (std::int64_t d = 0; d < count; d += S::lanes()) {
      const std::int64_t some = count - d < S::lanes() ? count - d : S::lanes();
      auto y = S::load(rows.y + d);
      if (few.z.first) y = S::multiply(y, silu<T>(load_some(few.z[t] + first + d, some)));
      store_some<T>(y, few.y + t * few.y_stride + first + d, some);
    }
  }
}

template <typename T>
HWY_INLINE void mamba_few_all(const scan::MambaFew<T>& few) {
  for (std::int64_t first = 0; first < few.channels; first += kFewChannels)
    mamba_few(few, first, few.channels - first < kFewChannels ? few.channels - first : kFewChannels);
}

void MambaFewF32(const scan::MambaFew<float>& few) { mamba_few_all(few); }
void MambaFewF64(const scan::MambaFew<double>& few) { mamba_few_all(few); }
void MambaBlockF32(const MambaBlock<float>& block) { mamba_block(block); }
void MambaBlockF64(const MambaBlock<double>& block) { mamba_block(block); }

}  // namespace HWY_NAMESPACE
}  // namespace linearmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linearmem {
HWY_EXPORT(MambaFewF32);
HWY_EXPORT(MambaFewF64);
HWY_EXPORT(MambaBlockF32);
HWY_EXPORT(MambaBlockF64);

namespace scan {
void kernel_few(const MambaFew<float>& few) { HWY_DYNAMIC_DISPATCH(MambaFewF32)(few); }
void kernel_few(const MambaFew<double>& few) { HWY_DYNAMIC_DISPATCH(MambaFewF64)(few); }
void kernel_block(const MambaBlock<float>& block) { HWY_DYNAMIC_DISPATCH(MambaBlockF32)(block); }
void kernel_block(const MambaBlock<double>& block) { HWY_DYNAMIC_DISPATCH(MambaBlockF64)(block); }
}  // namespace scan
}  // namespace linearmem
#endif
