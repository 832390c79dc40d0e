// The same function as a stack of R layers, each with its own copy of the parameters, token by token:
//   x_r = x_0 + c_0 + ... + c_{r-1},   c_s = what layer s adds
// Sharing costs no accuracy and saves R - 1 copies: the outputs are those of the recurrent form, to rounding.
#include <vector>

#include "depth_recurrence/block.hpp"

namespace linearmem::depth {
namespace {

// x = x_0 + the changes of the layers before r, summed anew.
template <typename T>
void gather(const std::vector<T>& first, const std::vector<std::vector<T>>& changes, std::int64_t r, std::vector<T>& x) {
  for (std::size_t d = 0; d < x.size(); ++d) {
    T sum = 0;
    for (std::int64_t s = 0; s < r; ++s) sum += changes[s][d];
    x[d] = first[d] + sum;
  }
}

}  // namespace

template <typename T>
DepthWork shared_unrolled(const SharedDepthArguments<T>& a) {
  const std::int64_t D = a.x.extent(2), R = a.rounds;
  std::vector<Block<T>> layers;
  for (std::int64_t r = 0; r < R; ++r) layers.emplace_back(a);
  std::vector<T> first(static_cast<std::size_t>(D)), x(first);
  std::vector<std::vector<T>> changes(static_cast<std::size_t>(R), x);
  for (std::int64_t b = 0; b < a.x.extent(0); ++b)
    for (std::int64_t t = 0; t < a.x.extent(1); ++t) {
      for (std::int64_t d = 0; d < D; ++d) x[d] = first[d] = a.x(b, t, d);
      for (std::int64_t r = 0; r < R; ++r) {
        layers[r].change(x.data(), changes[r].data());
        gather(first, changes, r + 1, x);
        for (std::int64_t d = 0; a.states.given() && d < D; ++d) a.states(r, b, t, d) = x[d];
      }
      for (std::int64_t d = 0; d < D; ++d) a.y(b, t, d) = x[d];
    }
  DepthWork work;
  for (const Block<T>& layer : layers) {
    work.parameters += layer.work().parameters;
    work.operations += layer.work().operations;
  }
  return work;
}

template DepthWork shared_unrolled(const SharedDepthArguments<float>&);
template DepthWork shared_unrolled(const SharedDepthArguments<double>&);

}  // namespace linearmem::depth
