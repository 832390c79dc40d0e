// The whole sequence as one matrix (ssd_block.hpp); no state in between is formed.
#include "selective_scan/ssd_block.hpp"

namespace linearmem::scan {

template <typename T>
void explicit_sum(const SsdHead<T>& head) {
  SsdMatrix<T>(head, 0, head.tokens()).run();
}

template void explicit_sum(const SsdHead<float>&);
template void explicit_sum(const SsdHead<double>&);

}  // namespace linearmem::scan
