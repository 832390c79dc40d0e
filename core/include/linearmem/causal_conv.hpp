// A short causal convolution, one filter per channel, that carries the last W-1 inputs from call to call:
//
//   y_t = activation(bias + sum_{j=0..W-1} weight_j x_{t-W+1+j})      weight_{W-1} meets the token itself
//
// Before the first token stand the W-1 inputs of the state, oldest first; after the last token the newest W-1 are kept.
// Source: Gu & Dao 2023, "Mamba" (the convolution in front of the scan); Fu et al. 2023, "Hungry Hungry Hippos" (the shift).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "linearmem/executor.hpp"
#include "linearmem/form.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

enum class Activation {
  silu,  // x / (1 + exp(-x))
  none,  // x
};

std::string_view activation_name(Activation activation);  // "silu", "none"
std::optional<Activation> activation_named(std::string_view name);

// B batch, T time, D channels, W width of the filter, N sequences: B, or the number of packed ones when cu_seqlens is given
// (then B = 1).
template <typename T>
struct CausalConvArguments {
  View<const T, 3> x;       // [B,T,D]
  View<const T, 2> weight;  // [D,W]
  View<const T, 1> bias = {};   // [D]; absent: zeros
  View<const T, 3> state = {};  // [N,D,W-1], the inputs before the first token, oldest first; absent: zeros
  View<const std::int64_t, 1> cu_seqlens = {};  // [N+1], rising from 0 to T: packed sequences

  Activation activation = Activation::silu;
  Form form = Form::automatic;  // reference, recurrent
  const Executor* executor = nullptr;  // whose threads to use; none: the calling thread. Same bits either way

  View<T, 3> y;                 // [B,T,D]
  View<T, 3> final_state = {};  // [N,D,W-1]; absent: not kept; may be the same memory as state
};

// Errors: an axis that differs, W of 0, cu_seqlens not rising from 0 to T, a form it lacks. Outputs are written only when the
// result is ok.
Status causal_conv(const CausalConvArguments<float>& arguments);
Status causal_conv(const CausalConvArguments<double>& arguments);

}  // namespace linearmem
