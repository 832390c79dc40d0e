// The language that kernels are written in: a block of threads that goes through phases. A kernel is a function template over the type
// of the block, so that one source is compiled by nvcc for the device and by an ordinary compiler for the emulator of the tests.
//
//   block.each(f)          f(thread) for every thread, then all wait for each other
//   block.each_apart(f)    the same without waiting: f may read shared memory, and must not write it
//   Registers<T> r(block)  one T per thread, r[thread], kept from phase to phase
//   block.sum_across(r, lanes), max_across   over `lanes` neighbours (a power of two up to 32), to all of them, in one fixed order
//   block.multiply(pick)   every warp multiplies a tile on tensor cores (tensor_tile.hpp); Block::pair(a, b) rounds two numbers to bfloat16
//   block.shared()         the block's shared memory, 16-byte aligned
//   block.index()          which block of the grid this is
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define LINEARMEM_DEVICE __device__
#define LINEARMEM_INLINE __device__ __forceinline__
#define LINEARMEM_BOTH __host__ __device__ constexpr  // what host and device both count
#define LINEARMEM_UNROLL _Pragma("unroll")
#define LINEARMEM_UNROLL_TWICE _Pragma("unroll 2")
#define LINEARMEM_ROLLED _Pragma("unroll 1")  // where more at once would not fit into the registers
#define LINEARMEM_MAY_ALIAS  // the device's compiler does not reason by type
#else
#define LINEARMEM_DEVICE
#define LINEARMEM_INLINE inline
#define LINEARMEM_BOTH constexpr
#define LINEARMEM_UNROLL
#define LINEARMEM_UNROLL_TWICE
#define LINEARMEM_ROLLED
#define LINEARMEM_MAY_ALIAS __attribute__((__may_alias__))
#endif

namespace linearmem::cuda {

// A tensor in the device's memory, strides in elements; absent where data is null.
template <typename T, int N>
struct Array {
  T* data = nullptr;
  std::int64_t strides[N] = {};

  LINEARMEM_INLINE bool given() const { return data != nullptr; }

  template <typename... Index>
  LINEARMEM_INLINE T& at(Index... index) const {
    static_assert(sizeof...(Index) == N, "one index per axis");
    const std::int64_t places[N] = {static_cast<std::int64_t>(index)...};
    std::int64_t offset = 0;
    LINEARMEM_UNROLL
    for (int axis = 0; axis < N; ++axis) offset += places[axis] * strides[axis];
    return data[offset];
  }
};

// Which tokens a sequence has: batch row and tokens [begin, end).
struct Tokens {
  std::int64_t row, begin, end;
};

LINEARMEM_INLINE Tokens tokens_of(const Array<const std::int64_t, 1>& cu_seqlens, std::int64_t T, std::int64_t n) {
  if (cu_seqlens.given()) return {0, cu_seqlens.at(n), cu_seqlens.at(n + 1)};
  return {n, 0, T};
}

// Four numbers that lie together, aligned, so that they are read at once.
struct alignas(16) Four {
  float at[4];
};

LINEARMEM_INLINE Four four_of(const float* first) { return *reinterpret_cast<const Four*>(first); }

template <typename T>
LINEARMEM_INLINE T least(T a, T b) {
  return b < a ? b : a;
}

template <typename T>
LINEARMEM_INLINE bool is_finite(T x) {
  return x - x == T{0};
}

// Bits that are set.
LINEARMEM_INLINE int count_bits(std::uint64_t bits) {
#ifdef __CUDACC__
  return __popcll(bits);
#else
  return std::popcount(bits);
#endif
}

// log(1 + exp(x)), without overflow.
LINEARMEM_INLINE float softplus(float x) { return x > 0 ? x + log1pf(expf(-x)) : log1pf(expf(x)); }

// x / (1 + exp(-x)).
LINEARMEM_INLINE float silu(float x) { return x / (1.0f + expf(-x)); }

}  // namespace linearmem::cuda
