// Decays of one head, kept outside its state: S_t = a_t S_{t-1} + k_t w_t is kept as S = A Z, where A is the product of the decays since S
// was last whole, so that a token costs one multiply-add a value, Z += k_t (w_t / A), and reads are multiplied by A. Where A would leave
// [2^-24, 2^24], and at the end of a block, Z is multiplied by A and A is 1 again: then a decay of 0 still makes a 0, and no
// number is divided by one that is far from 1. Plain data: kernels include it too.
#pragma once

#include <cstdint>

namespace linearmem {

// What a token multiplies: the state before its write, its write, and what it reads after. One of state and read is 1.
template <typename T>
struct CarriedDecay {
  T state, write, read;
};

// carried: [tokens]. decay(t) gives a_t, t in [0, tokens).
template <typename T, typename Decay>
void carry_decays(std::int64_t tokens, const Decay& decay, CarriedDecay<T>* carried) {
  constexpr T kLeast = T{1} / (1 << 24), kMost = 1 << 24;
  T product = 1;
  for (std::int64_t t = 0; t < tokens; ++t) {
    product *= decay(t);
    const bool apart = product >= kLeast && product <= kMost && t + 1 < tokens;  // a NaN goes into the state
    carried[t] = apart ? CarriedDecay<T>{1, 1 / product, product} : CarriedDecay<T>{product, 1, 1};
    if (!apart) product = 1;
  }
}

}  // namespace linearmem
