// Linear attention: the match of a query and a key is a plain product of features, so the whole past fits a fixed state.
//
//   S_t = S_{t-1} + phi(k_t)^T v_t        write      S [K,V]
//   z_t = z_{t-1} + phi(k_t)              and count  z [K]
//   o_t = phi(q_t) S_t / (phi(q_t) z_t + eps)        read; without normalize o_t = phi(q_t) S_t
//
// Not causal: every query reads the state after the last token. A denominator of exactly 0 (eps 0, nothing seen) gives 0.
// Source: Katharopoulos, Vyas, Pappas & Fleuret 2020, "Transformers are RNNs".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "linearmem/form.hpp"
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
  View<const T, 4> state = {};  // [N,H,K,V], S before the first token; absent: zeros
  View<const T, 3> z = {};      // [N,H,K] before the first token; absent: zeros; with normalize it comes with state
  View<const std::uint8_t, 2> key_mask = {};    // [B,T], 0: the token writes nothing, whatever it holds, but still reads
  View<const std::int64_t, 1> cu_seqlens = {};  // [N+1], rising from 0 to T: packed sequences

  Feature feature = Feature::elu1;
  double eps = 1e-6;  // >= 0
  bool normalize = true;
  bool causal = true;
  Form form = Form::automatic;  // reference, explicit, recurrent, chunked
  std::int64_t chunk = 0;       // tokens per chunk in Form::chunked; 0: 64

  View<T, 4> o;                 // [B,T,H,V]
  View<T, 4> final_state = {};  // [N,H,K,V]; absent: not kept; may be the same memory as state
  View<T, 3> final_z = {};      // [N,H,K]; absent: not kept; may be the same memory as z
};

// Errors: an axis that differs, H not a multiple of Hk, cu_seqlens not rising from 0 to T, state without z or z without state
// under normalize, an eps below 0 or not finite, a form it lacks. Outputs are written only when the result is ok.
Status linear_attention(const LinearAttentionArguments<float>& arguments);
Status linear_attention(const LinearAttentionArguments<double>& arguments);

}  // namespace linearmem
