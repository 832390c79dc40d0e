// Sizes of states, and how many tokens a call takes in.
#include "linearmem/layer_state.hpp"

#include "foundation/sequences.hpp"

namespace linearmem {

std::int64_t StatePart::elements() const {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  return count;
}

std::int64_t LayerStateLayout::bytes() const {
  std::int64_t sum = 0;
  for (const StatePart& part : parts) sum += part.bytes();
  return sum;
}

Result<std::int64_t> LayerStateLayout::ledger_bytes() const {
  if (parts.empty()) return std::int64_t{0};
  const int bits = static_cast<int>(8 * dtype_bytes(parts.front().dtype));
  const auto one = layer_bytes(ledger.shape, most_tokens, {.kv_bits = bits, .state_bits = bits, .conv_bits = bits});
  if (!one.ok()) return one.status();
  return ledger.layers * one.value();
}

template <typename T>
std::int64_t taken_tokens(const LayerCall<T>& call, std::int64_t n) {
  const TokenRange range = sequence_range(call.cu_seqlens, call.hidden.extent(1), n);
  std::int64_t count = range.end - range.begin;
  for (std::int64_t t = range.begin; call.mask.given() && t < range.end; ++t) count -= call.mask(range.row, t) == 0;
  return count;
}

template std::int64_t taken_tokens(const LayerCall<float>&, std::int64_t);
template std::int64_t taken_tokens(const LayerCall<double>&, std::int64_t);

}  // namespace linearmem
