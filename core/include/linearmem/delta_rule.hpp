// The delta rule and the gated delta rule: a fixed state S [K,V] that is corrected, not only added to.
//
//   S'  = exp(g_t) S_{t-1}                      decay   (absent: none; a gate per key component: S'_i = exp(g_ti) S_{t-1,i})
//   e_t = v_t - k_t S'                          measure the error
//   S_t = S' + beta_t k_t^T e_t                 write
//   o_t = scale q_t S_t                         read
//
// Sources: Widrow & Hoff 1960 (the rule); Schlag, Irie & Schmidhuber 2021 (as a fast-weight memory);
// Yang, Kautz & Hatamizadeh 2024, "Gated Delta Networks" (the decay); Kimi Team 2025, "Kimi Linear" (a decay per key component).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "linearmem/backend.hpp"
#include "linearmem/executor.hpp"
#include "linearmem/form.hpp"
#include "linearmem/recurrent_state.hpp"
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
  View<const T, 3> beta;  // [B,T,Hv], write strength; between 1 and 2 a unit key's reading swings to the other side of v
  View<const T, 3> g = {};      // [B,T,Hv], natural log of the decay, <= 0
  View<const T, 4> g_key = {};  // [B,T,Hv,K], the same for each key component; not together with g
  View<const T, 4> state = {};  // [N,Hv,K,V], state before the first token; absent: zeros
  View<const std::int64_t, 1> cu_seqlens = {};  // [N+1], rising from 0 to T: packed sequences

  std::optional<double> scale = {};  // multiplies q only; absent: K^-1/2
  bool allow_growth = false;  // lets gates above 0 through
  bool l2norm = false;  // q and k become x / sqrt(sum x^2 + 1e-6) first; scale is applied after it
  Form form = Form::automatic;  // reference, recurrent, chunked, explicit
  std::int64_t chunk = 0;       // tokens per chunk in Form::chunked; 0: 64, with g_key 16
  std::optional<StateType> state_type =
      {};  // the format the state is kept in, reference and recurrent only; absent: what the form computes in
  std::int64_t checkpoint_every = 0;         // n: keep the states after tokens n, 2n, ... of each sequence; 0: none
  const Executor* executor = nullptr;  // whose threads to use; none: the calling thread. Same bits either way
  const Backend* backend = nullptr;  // where to compute; none: this processor

  View<T, 4> o;                // [B,T,Hv,V]
  View<T, 4> reads = {};       // [B,T,Hv,V], k_t S' before the write; absent: not kept
  View<T, 4> final_state = {};  // [N,Hv,K,V]; absent: not kept; may be the same memory as state
  View<T, 4> checkpoints = {};  // [M,Hv,K,V], M as checkpoint_count(cu_seqlens, B, T, checkpoint_every) counts; needs checkpoint_every
};

// Errors: an axis that differs, K of 0, Hv not a multiple of H, cu_seqlens not rising from 0 to T, g together with g_key, a gate above 0
// without allow_growth, a form it lacks, a state_type where the form has no state per token or wider than what it computes in, one of
// checkpoints and checkpoint_every without the other. Outputs are written only when the result is ok.
Status delta_rule(const DeltaRuleArguments<float>& arguments);
Status delta_rule(const DeltaRuleArguments<double>& arguments);

// Something that makes a state grow, and where: batch row, token and value head as in the arguments' axes.
struct StabilityFinding {
  std::int64_t batch, token, head;
  double number;
};

struct StabilityFindings {
  std::int64_t total = 0;
  std::vector<StabilityFinding> listed;  // the first of them: by sequence, then head, then token
};

struct StabilityReport {
  StabilityFindings unstable_writes;  // number = beta |k|^2, above 2 or below 0: the key's old reading is not shrunk but thrown further out
  StabilityFindings growing_gates;    // number = g above 0, or the largest of a token's g_key
  StabilityFindings growing_states;   // number = |S_t| (Frobenius), above |S_{t-1}| + |beta k| |v|: more than the write brought, which no
                                      // stable step can do
};

// Runs the definition in float64 over the arguments' inputs and lists at most `limit` findings of each kind; gates above 0 are not
// refused, outputs, form, chunk, state_type and checkpoints are not looked at. Errors: those of the inputs, a limit below 0.
Result<StabilityReport> audit_delta_rule(const DeltaRuleArguments<float>& arguments, std::int64_t limit);
Result<StabilityReport> audit_delta_rule(const DeltaRuleArguments<double>& arguments, std::int64_t limit);

}  // namespace linearmem
