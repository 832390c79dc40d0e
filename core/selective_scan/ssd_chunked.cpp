// Blocks of C tokens, each as a matrix (ssd_block.hpp), joined by the state.
#include <algorithm>

#include "selective_scan/ssd_block.hpp"

namespace linearmem::scan {

template <typename T>
void chunked(const SsdHead<T>& head, std::int64_t chunk) {
  for (std::int64_t begin = 0, size = 0; begin < head.tokens(); begin += size) {
    size = std::min(chunk, head.tokens() - begin);
    SsdMatrix<T>(head, begin, begin + size).run();
  }
}

template void chunked(const SsdHead<float>&, std::int64_t);
template void chunked(const SsdHead<double>&, std::int64_t);

}  // namespace linearmem::scan
