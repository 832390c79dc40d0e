// Scaled dot-product attention: every output is an average of the values it can see, weighted by how well their keys match.
//
//   o_t = sum_s w_ts v_s,   w_ts = exp(a_ts) / sum_r exp(a_tr),   a_ts = scale q_t k_s^T,   s, r over the keys visible to t
//
// Key s is visible to query t when its key_mask is set and, if causal, t - window < s <= t. A query that sees no key gives 0.
// Sources: Vaswani et al. 2017, "Attention Is All You Need"; in one pass: Milakov & Gimelshein 2018, Rabe & Staats 2021.
#pragma once

#include <cstdint>
#include <optional>

#include "linearmem/backend.hpp"
#include "linearmem/executor.hpp"
#include "linearmem/form.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// B batch, T time, H query heads, Hk key heads (H is a multiple of Hk; query head h uses key head h / (H/Hk)), K key width,
// V value width, N sequences: B, or the number of packed ones when cu_seqlens is given (then B = 1).
template <typename T>
struct SoftmaxAttentionArguments {
  View<const T, 4> q;  // [B,T,H,K]
  View<const T, 4> k;  // [B,T,Hk,K]
  View<const T, 4> v;  // [B,T,Hk,V]
  View<const std::uint8_t, 2> key_mask = {};    // [B,T], 0: the key is never seen, whatever it holds; absent: all are seen
  View<const std::int64_t, 1> cu_seqlens = {};  // [N+1], rising from 0 to T: packed sequences

  bool causal = true;
  std::optional<std::int64_t> window = {};  // tokens seen, the query's own included; needs causal; absent: all before it
  std::optional<double> scale = {};         // absent: K^-1/2
  Form form = Form::automatic;              // reference, explicit, streaming
  const Executor* executor = nullptr;  // whose threads to use; none: the calling thread. Same bits either way
  const Backend* backend = nullptr;  // where to compute; none: this processor

  View<T, 4> o;  // [B,T,H,V]
};

// Errors: an axis that differs, K of 0, H not a multiple of Hk, cu_seqlens not rising from 0 to T, a window below 1 or without causal,
// a form it lacks. Outputs are written only when the result is ok.
Status softmax_attention(const SoftmaxAttentionArguments<float>& arguments);
Status softmax_attention(const SoftmaxAttentionArguments<double>& arguments);

}  // namespace linearmem
