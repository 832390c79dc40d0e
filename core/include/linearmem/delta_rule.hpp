// The delta rule and the gated delta rule: a fixed state S [K,V] that is corrected, not only added to.
//
//   S'  = exp(g_t) S_{t-1}                      decay   (g absent: no decay)
//   e_t = v_t - k_t S'                          measure the error
//   S_t = S' + beta_t k_t^T e_t                 write
//   o_t = scale q_t S_t                         read
//
// Sources: Widrow & Hoff 1960 (the rule); Schlag, Irie & Schmidhuber 2021 (as a fast-weight memory);
// Yang, Kautz & Hatamizadeh 2024, "Gated Delta Networks" (the decay); Kimi Team 2025 (a decay per key).
#pragma once

#include <cstdint>
#include <optional>

#include "linearmem/form.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// B batch, T time, H key heads, Hv value heads (a multiple of H; value head h uses key head h / (Hv/H)),
// K key width, V value width, N sequences: B, or the number of packed ones when cu_seqlens is given (then B = 1).
template <typename T>
struct DeltaRuleArguments {
  View<const T, 4> q;     // [B,T,H,K]
  View<const T, 4> k;     // [B,T,H,K]
  View<const T, 4> v;     // [B,T,Hv,V]
  View<const T, 3> beta;  // [B,T,Hv], write strength
  View<const T, 3> g = {};      // [B,T,Hv], natural log of the decay, <= 0; absent: 0
  View<const T, 4> state = {};  // [N,Hv,K,V], state before the first token; absent: zeros
  View<const std::int64_t, 1> cu_seqlens = {};  // [N+1], rising from 0 to T: packed sequences

  std::optional<double> scale = {};  // multiplies q only; absent: K^-1/2
  bool l2norm = false;  // q and k become x / sqrt(sum x^2 + 1e-6) first; scale is applied after it
  Form form = Form::automatic;  // reference, recurrent, chunked, explicit
  std::int64_t chunk = 0;       // tokens per chunk in Form::chunked; 0: 64

  View<T, 4> o;                // [B,T,Hv,V]
  View<T, 4> reads = {};       // [B,T,Hv,V], k_t S' before the write; absent: not kept
  View<T, 4> final_state = {};  // [N,Hv,K,V]; absent: not kept; may be the same memory as state
};

// Errors: an axis that differs, Hv not a multiple of H, cu_seqlens not rising from 0 to T, g above 0, a form it lacks.
// Outputs are written only when the result is ok.
Status delta_rule(const DeltaRuleArguments<float>& arguments);
Status delta_rule(const DeltaRuleArguments<double>& arguments);

}  // namespace linearmem
