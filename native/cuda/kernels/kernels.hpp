// The kernels, in a fixed order: the host asks for one by its number, a device holds a table of them.
#pragma once

#include <tuple>
#include <type_traits>

#include "kernels/attention.hpp"
#include "kernels/channel_scan.hpp"
#include "kernels/chunk_scan.hpp"
#include "kernels/chunk_weights.hpp"
#include "kernels/item_sums.hpp"
#include "kernels/knn.hpp"
#include "kernels/matrix_state.hpp"
#include "kernels/multiply_add.hpp"
#include "kernels/normal_stream.hpp"
#include "kernels/stream_memory.hpp"

namespace linearmem::cuda {

using Kernels = std::tuple<
    // S [K,V] for K up to 16, 64, 128, 256; added to or corrected; a decay per head or per key component
    MatrixState<4, 4, false, false>, MatrixState<4, 16, false, false>, MatrixState<4, 32, false, false>, MatrixState<8, 32, false, false>,
    MatrixState<4, 4, false, true>, MatrixState<4, 16, false, true>, MatrixState<4, 32, false, true>, MatrixState<8, 32, false, true>,
    MatrixState<4, 4, true, false>, MatrixState<4, 16, true, false>, MatrixState<4, 32, true, false>, MatrixState<8, 32, true, false>,
    MatrixState<4, 4, true, true>, MatrixState<4, 16, true, true>, MatrixState<4, 32, true, true>, MatrixState<8, 32, true, true>,
    // prefill in chunks, K up to 64, 128, 256; added to or corrected
    ChunkWeights, ChunkScan<64, false>, ChunkScan<128, false>, ChunkScan<256, false>, ChunkScan<64, true>, ChunkScan<128, true>,
    ChunkScan<256, true>,
    ChannelScan, MambaScan<4, 4>, MambaScan<16, 16>,                // N up to 16, 256
    Attention<1>, Attention<4>, Attention<8>, Attention<16>,        // V up to 16, 64, 128, 256
    KnnDistance, KnnSelect, MultiplyAdd, StreamMemory<false>, StreamMemory<true>,
    NormalExits, NormalDraw, UnitRows, SliceSums, JoinSlices>;      // sampling

constexpr int kKernelCount = static_cast<int>(std::tuple_size_v<Kernels>);

template <typename Kernel, int kNumber = 0>
constexpr int kernel_number() {
  if constexpr (std::is_same_v<Kernel, std::tuple_element_t<kNumber, Kernels>>) {
    return kNumber;
  } else {
    return kernel_number<Kernel, kNumber + 1>();
  }
}

// table[number] is Entry<Kernel>::make(): what a kernel is to a device.
template <template <typename> typename Entry, typename Value>
class KernelTable {
 public:
  KernelTable() { fill<0>(); }
  const Value& operator[](int number) const { return entries_[number]; }

 private:
  template <int kNumber>
  void fill() {
    if constexpr (kNumber < kKernelCount) {
      entries_[kNumber] = Entry<std::tuple_element_t<kNumber, Kernels>>::make();
      fill<kNumber + 1>();
    }
  }

  Value entries_[kKernelCount];
};

}  // namespace linearmem::cuda
