// Decays of a state [K,V], given as natural logarithms: one gate per token, or one per token and key component.
// As the forms see them: [T,G], G = 1 or K; absent: no decay.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "foundation/sequences.hpp"
#include "linearmem/status.hpp"

namespace linearmem {

// The gates of one head of one sequence, out of g [B,T,H] or g_key [B,T,H,K], of which at most one is given.
template <typename T>
View<const T, 2> head_gates(const View<const T, 3>& g, const View<const T, 4>& g_key, const TokenRange& range, std::int64_t head) {
  if (g_key.given()) return head_rows(g_key, range, head);
  const View<const T, 1> one = head_scalars(g, range, head);
  return one.given() ? View<const T, 2>(one.data(), {one.extent(0), 1}, {one.stride(0), 1}) : View<const T, 2>{};
}

// The log decay of key component i at token t.
template <typename T>
T log_decay(const View<const T, 2>& gates, std::int64_t t, std::int64_t i) {
  return gates.given() ? gates(t, gates.extent(1) == 1 ? 0 : i) : T{0};
}

// Refuses g together with g_key and, unless allow_growth, the first gate above 0. Tokens whose key_mask is 0 are passed over.
template <typename T>
Status check_gates(const char* door, const View<const T, 3>& g, const View<const T, 4>& g_key, bool allow_growth,
                   const View<const std::uint8_t, 2>& key_mask = {});

// The decays between earlier tokens and one token: row s holds exp(g_s + ... + g_t), s <= t, for each of G gates. Only sums of gates
// between two tokens are exponentiated, so a strong gate gives 0 and never infinity over infinity. G = 0: every decay is 1.
template <typename T>
class Decays {
 public:
  Decays(std::int64_t tokens, std::int64_t G)
      : G_(G), sum_(static_cast<std::size_t>(G)), rows_(static_cast<std::size_t>((tokens + 1) * G)) {}

  // gates: [tokens,G], packed. Afterwards rows 0..t are those to token t, and row t + 1 is exp(0).
  void set(const T* gates, std::int64_t t) {
    std::fill(sum_.begin(), sum_.end(), T{0});
    for (std::int64_t s = t + 1; s >= 0; --s)
      for (std::int64_t i = 0; i < G_; ++i) {
        if (s <= t) sum_[static_cast<std::size_t>(i)] += gates[s * G_ + i];
        rows_[static_cast<std::size_t>(s * G_ + i)] = std::exp(sum_[static_cast<std::size_t>(i)]);
      }
  }

  // Row s of key component i.
  T operator()(std::int64_t s, std::int64_t i) const {
    return G_ == 0 ? T{1} : rows_[static_cast<std::size_t>(s * G_ + (G_ == 1 ? 0 : i))];
  }

  // sum_i x_i decay_i y_i
  T product(std::int64_t s, const T* x, const T* y, std::int64_t K) const {
    T sum = 0;
    if (G_ <= 1) {
      for (std::int64_t i = 0; i < K; ++i) sum += x[i] * y[i];
      return (*this)(s, 0) * sum;
    }
    const T* decay = rows_.data() + s * G_;
    for (std::int64_t i = 0; i < K; ++i) sum += x[i] * decay[i] * y[i];
    return sum;
  }

 private:
  std::int64_t G_;
  std::vector<T> sum_, rows_;
};

}  // namespace linearmem
