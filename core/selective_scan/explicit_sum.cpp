// The scan as a matrix, channel by channel; no state in between is formed:
//   y_t = sum_{s <= t} M_ts x_s + c_t (a_t ... a_1) h_0,   M_ts = c_t b_s (a_t ... a_{s+1}).
#include <vector>

#include "selective_scan/sequence.hpp"

namespace linearmem::scan {
namespace {

template <typename T>
std::vector<T> column(const View<const T, 2>& rows, std::int64_t d) {
  std::vector<T> values;
  for (std::int64_t t = 0; t < rows.extent(0); ++t) values.push_back(rows(t, d));
  return values;
}

template <typename T>
class Channel {
 public:
  Channel(const Sequence<T>& sequence, std::int64_t d)
      : x_(column(sequence.x, d)), a_(column(sequence.a, d)), b_(column(sequence.b, d)), first_(sequence.h(d)) {}

  // weight times the state after token `last`; -1 is the first state.
  T read(T weight, std::int64_t last) const {
    T sum = 0;
    for (std::int64_t s = last; s >= 0; --s) {
      sum += weight * b_[s] * x_[s];
      weight *= a_[s];
    }
    return sum + weight * first_;
  }

 private:
  std::vector<T> x_, a_, b_;
  T first_;
};

}  // namespace

template <typename T>
void explicit_sum(const Sequence<T>& sequence) {
  for (std::int64_t d = 0; d < sequence.channels(); ++d) {
    const Channel<T> channel(sequence, d);
    for (std::int64_t t = 0; t < sequence.tokens(); ++t) sequence.y(t, d) = channel.read(sequence.c(t, d), t);
    sequence.h(d) = channel.read(T{1}, sequence.tokens() - 1);
  }
}

template void explicit_sum(const Sequence<float>&);
template void explicit_sum(const Sequence<double>&);

}  // namespace linearmem::scan
