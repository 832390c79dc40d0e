// Linear attention: the match of a query and a key is a plain product of features, so the whole past fits a fixed state.
//
//   S' = exp(g_t) S_{t-1},  z' = exp(g_t) z_{t-1}    decay      (absent: none; a gate per key component: S'_i = exp(g_ti) S_{t-1,i})
//   S_t = S' + phi(k_t)^T v_t                        write      S [K,V]
//   z_t = z' + phi(k_t)                              and count  z [K]
//   o_t = phi(q_t) S_t / (phi(q_t) z_t + eps)        read; without normalize o_t = phi(q_t) S_t
//
// Not causal: every query reads the state after the last token. A denominator of exactly 0 (eps 0, nothing seen) gives 0.
// Sources: Katharopoulos, Vyas, Pappas & Fleuret 2020, "Transformers are RNNs"; a decay per head: Sun et al. 2023, "Retentive Network",
// and as SSD in Dao & Gu 2024; per key component: Yang et al. 2024, "Gated Linear Attention Transformers".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "linearmem/backend.hpp"
#include "linearmem/executor.hpp"
#include "linearmem/form.hpp"
#include "linearmem/recurrent_state.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// phi, applied to each component of q and k.
enum class Feature {
  elu1,      // x + 1 for x > 0, exp(x) otherwise
  relu,      // x for x > 0, 0 otherwise
  identity,  // x
};

std::string_view feature_name(Feature feature);  // "elu1", "relu", "identity"
std::optional<Feature> feature_named(std::string_view name);

// B batch, T time, H query heads, Hk key heads (H is a multiple of Hk; query head h uses key head h / (H/Hk)), K key width,
// V value width, N sequences: B, or the number of packed ones when cu_seqlens is given (then B = 1).
template <typename T>
struct LinearAttentionArguments {
  View<const T, 4> q;  // [B,T,H,K]
  View<const T, 4> k;  // [B,T,Hk,K]
  View<const T, 4> v;  // [B,T,Hk,V]
  View<const T, 3> g = {};      // [B,T,H], natural log of the decay, <= 0; needs causal
  View<const T, 4> g_key = {};  // [B,T,H,K], the same for each key component; not together with g
  View<const T, 4> state = {};  // [N,H,K,V], S before the first token; absent: zeros
  View<const T, 3> z = {};      // [N,H,K] before the first token; absent: zeros; with normalize it comes with state
  View<const std::uint8_t, 2> key_mask = {};    // [B,T], 0: the token decays and writes nothing, whatever it holds, but still reads
  View<const std::int64_t, 1> cu_seqlens = {};  // [N+1], rising from 0 to T: packed sequences

  Feature feature = Feature::elu1;
  double eps = 1e-6;  // >= 0
  bool normalize = true;
  bool causal = true;
  bool allow_growth = false;  // lets gates above 0 through
  Form form = Form::automatic;  // reference, explicit, recurrent, chunked
  std::int64_t chunk = 0;       // tokens per chunk in Form::chunked; 0: 64, with g_key 16
  std::optional<StateType> state_type =
      {};  // the format S and z are kept in, reference and recurrent only; absent: what the form computes in
  std::int64_t checkpoint_every = 0;         // n: keep S and z after tokens n, 2n, ... of each sequence; 0: none; needs causal
  const Executor* executor = nullptr;  // whose threads to use; none: the calling thread. Same bits either way
  const Backend* backend = nullptr;  // where to compute; none: this processor

  View<T, 4> o;                 // [B,T,H,V]
  View<T, 4> final_state = {};  // [N,H,K,V]; absent: not kept; may be the same memory as state
  View<T, 3> final_z = {};      // [N,H,K]; absent: not kept; may be the same memory as z
  View<T, 4> checkpoints = {};    // [M,H,K,V], M as checkpoint_count(cu_seqlens, B, T, checkpoint_every) counts; needs checkpoint_every
  View<T, 3> checkpoints_z = {};  // [M,H,K]; absent: not kept; comes with checkpoints
};

// Errors: an axis that differs, K of 0, H not a multiple of Hk, cu_seqlens not rising from 0 to T, state without z or z without state
// under normalize, an eps below 0 or not finite, g together with g_key, gates or checkpoints without causal, a gate above 0 without
// allow_growth, a form it lacks, a state_type where the form has no state per token or wider than what it computes in, one of
// checkpoints and checkpoint_every without the other. Outputs are written only when the result is ok.
Status linear_attention(const LinearAttentionArguments<float>& arguments);
Status linear_attention(const LinearAttentionArguments<double>& arguments);

}  // namespace linearmem
