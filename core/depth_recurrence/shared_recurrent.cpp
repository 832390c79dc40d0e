// One block, and a state [B,T,D] that goes through it round after round: what is stored does not grow with R.
#include <vector>

#include "depth_recurrence/block.hpp"

namespace linearmem::depth {

template <typename T>
DepthWork shared_recurrent(const SharedDepthArguments<T>& a) {
  const std::int64_t B = a.x.extent(0), time = a.x.extent(1), D = a.x.extent(2);
  Block<T> block(a);
  Tensor<T, 3> state(a.x.extents());
  std::vector<T> change(static_cast<std::size_t>(D));
  convert(a.x, state.view());
  for (std::int64_t r = 0; r < a.rounds; ++r) {
    for (std::int64_t token = 0; token < B * time; ++token) {
      T* row = state.data() + token * D;
      block.change(row, change.data());
      for (std::int64_t d = 0; d < D; ++d) row[d] += change[d];
    }
    for (std::int64_t b = 0; a.states.given() && b < B; ++b)
      for (std::int64_t t = 0; t < time; ++t)
        for (std::int64_t d = 0; d < D; ++d) a.states(r, b, t, d) = state(b, t, d);
  }
  convert(View<const T, 3>(state.view()), a.y);
  return block.work();
}

template DepthWork shared_recurrent(const SharedDepthArguments<float>&);
template DepthWork shared_recurrent(const SharedDepthArguments<double>&);

}  // namespace linearmem::depth
