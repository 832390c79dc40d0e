// Depth as a recurrence: one block with one set of parameters, applied round after round, and a rule for when to stop.
//
// shared_depth runs a residual block R times, each token on its own:
//   x_{r+1} = x_r + act(x_r W1 + b1) W2 + b2        r = 0 .. R-1
//
// adaptive_computation_time mixes the states after rounds 1 .. R by what a halting unit gave in each of them, p_r in [0,1]:
//   h   = the first round with p_1 + ... + p_h >= 1 - eps, where there is one
//   n   = h, or the cap R where there is none
//   w_r = p_r for r < n, 0 for r > n, and in the last round, by convention,
//     graves                 w_n = 1 - (p_1 + ... + p_{n-1}), the remainder, at the cap too: the weights sum to 1
//     cap_without_remainder  the same where n = h; at the cap w_R = p_R: there the weights sum to p_1 + ... + p_R, below 1 - eps
//   o   = sum_r w_r x_r
//
// Sources: Dehghani, Gouws, Vinyals, Uszkoreit & Kaiser 2019, "Universal Transformers" (the shared block); Graves 2016, "Adaptive
// Computation Time for Recurrent Neural Networks" (halting, the cap and its remainder). The cap without a remainder is what
// public code for Universal Transformers does, Tensor2Tensor's among it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "linearmem/form.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// What the last round of a token weighs when the cap stops it.
enum class Halting {
  graves,                 // all that is left of 1
  cap_without_remainder,  // its own p
};

std::string_view halting_name(Halting halting);  // "graves", "cap-without-remainder"
std::optional<Halting> halting_named(std::string_view name);

// B batch, T time, R rounds at most, D width.
template <typename T>
struct AdaptiveComputationTimeArguments {
  View<const T, 3> p;  // [B,T,R], halting probabilities; only those up to a token's round n are looked at
  View<const T, 4> x;  // [R,B,T,D], states after each round; only those up to a token's round n are looked at
  View<const std::uint8_t, 2> mask = {};  // [B,T], 0: the token takes no round, whatever it holds; its outputs are 0; absent: all take part

  Halting halting = Halting::graves;
  double eps = 0.01;            // in [0,1)
  Form form = Form::automatic;  // reference, recurrent

  View<T, 3> o;                     // [B,T,D]
  View<T, 3> weights = {};          // [B,T,R], w_r; absent: not kept
  View<T, 2> remainder = {};        // [B,T], w_n where it is a remainder, 0 at a cap without one; absent: not kept
  View<std::int64_t, 2> n = {};     // [B,T], rounds used; absent: not kept
};

// Errors: an axis that differs, R of 0, an eps outside [0,1), a p outside [0,1] or not a number in a round that is looked at, a form it
// lacks. Outputs are written only when the result is ok.
Status adaptive_computation_time(const AdaptiveComputationTimeArguments<float>& arguments);
Status adaptive_computation_time(const AdaptiveComputationTimeArguments<double>& arguments);

// act, applied to each component.
enum class BlockActivation {
  relu,  // x for x > 0, 0 for x <= 0
  gelu,  // x Phi(x), Phi the normal distribution function (by erf, not the tanh approximation)
  tanh,
  none,  // x
};

std::string_view block_activation_name(BlockActivation activation);  // "relu", "gelu", "tanh", "none"
std::optional<BlockActivation> block_activation_named(std::string_view name);

// Counted while the block runs.
struct DepthWork {
  std::int64_t parameters = 0;  // numbers held in matrices and biases; in the explicit form once per round
  std::int64_t operations = 0;  // multiply-adds of the matrix products
};

// B batch, T time, D width, F inner width, R = rounds.
template <typename T>
struct SharedDepthArguments {
  View<const T, 3> x;        // [B,T,D]
  View<const T, 2> w1;       // [D,F]
  View<const T, 1> b1 = {};  // [F]; absent: zeros
  View<const T, 2> w2;       // [F,D]
  View<const T, 1> b2 = {};  // [D]; absent: zeros

  std::int64_t rounds = 1;
  BlockActivation activation = BlockActivation::gelu;
  Form form = Form::automatic;  // reference, recurrent (one block, its state carried), explicit (R layers, each with its own copy)

  View<T, 3> y;              // [B,T,D], x_R; may be the same memory as x
  View<T, 4> states = {};    // [R,B,T,D], x_1 .. x_R; absent: not kept
  DepthWork* work = nullptr;  // absent: not counted
};

// Errors: an axis that differs, rounds below 0, a form it lacks. Outputs are written only when the result is ok.
Status shared_depth(const SharedDepthArguments<float>& arguments);
Status shared_depth(const SharedDepthArguments<double>& arguments);

}  // namespace linearmem
