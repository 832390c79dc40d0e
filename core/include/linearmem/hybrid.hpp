// A hybrid stack: layers that look back at a window of tokens and layers that carry a fixed state, one on top of the other. Each layer
// keeps a state of its own kind, apart from the others, so that the whole stack can stop after any token and go on.
//
//   x^0 = hidden,   x^{l+1} = x^l + sum_h o_h Wo_l[h],   o = memory_l(x^l Wq_l, x^l Wk_l, x^l Wv_l)        l = 0 .. L-1
//
//   window  softmax attention over the last `window` tokens; keeps the last window - 1 keys and values
//   delta   the gated delta rule on L2-normalized q and k, beta = sigmoid(x Wbeta), g = log sigmoid(x Wg); keeps S
//   linear  linear attention, elu + 1, eps 1e-6; keeps S and z
//
// Scale is K^-1/2 in window and delta layers. No norm, feed-forward part or position enters: what is here is the memory.
// Sources: De et al. 2024, "Griffin" (local attention between recurrent layers); Ren et al. 2024, "Samba"; Yang, Kautz &
// Hatamizadeh 2024, "Gated Delta Networks" (delta layers between window layers).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "linearmem/executor.hpp"
#include "linearmem/form.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

enum class HybridLayer { window, delta, linear };

std::string_view hybrid_layer_name(HybridLayer layer);  // "window", "delta", "linear"
std::optional<HybridLayer> hybrid_layer_named(std::string_view name);

// Rows of the window state after T more tokens: window - 1, or all P + T there can be when they are fewer or no window is set.
std::int64_t hybrid_window_rows(std::int64_t P, std::int64_t T, std::optional<std::int64_t> window);

// B batch, T time, D width, L layers (Lw, Ld, Ll of each kind), H heads, K key width, V value width, P rows of the window state before
// and Q = hybrid_window_rows(P, T, window) after, N sequences: B, or the number of packed ones when cu_seqlens is given (then B = 1).
// States are stacked by kind, in the order of the layers of that kind.
template <typename T>
struct HybridArguments {
  std::vector<HybridLayer> layers;  // L of them, the first one reads hidden
  View<const T, 3> hidden;          // [B,T,D]
  View<const T, 4> wq;              // [L,D,H,K]
  View<const T, 4> wk;              // [L,D,H,K]
  View<const T, 4> wv;              // [L,D,H,V]
  View<const T, 4> wo;              // [L,H,V,D]
  View<const T, 3> wbeta = {};      // [Ld,D,H]; absent: beta 1
  View<const T, 3> wg = {};         // [Ld,D,H]; absent: no decay

  View<const T, 5> window_k = {};                 // [Lw,N,P,H,K], oldest first; rows from window_count on are not looked at
  View<const T, 5> window_v = {};                 // [Lw,N,P,H,V]
  View<const std::int64_t, 1> window_count = {};  // [N], rows that hold a token; the three come together; absent: none
  View<const T, 5> delta_state = {};              // [Ld,N,H,K,V]; absent: zeros
  View<const T, 5> linear_state = {};             // [Ll,N,H,K,V]; absent: zeros
  View<const T, 4> linear_z = {};                 // [Ll,N,H,K]; comes with linear_state
  View<const std::int64_t, 1> cu_seqlens = {};    // [N+1], rising from 0 to T: packed sequences

  std::optional<std::int64_t> window = {};  // tokens seen, the query's own included; absent: all. What an earlier call has not kept,
                                            // under a smaller window, cannot be seen
  Form form = Form::automatic;  // reference, recurrent, chunked, explicit: of the delta and linear layers; window layers have the first
                                // and the last of these, and stream otherwise
  std::int64_t chunk = 0;       // tokens per chunk in Form::chunked; 0: 64
  const Executor* executor = nullptr;  // whose threads to use; none: the calling thread. Same bits either way

  View<T, 3> y;                                    // [B,T,D], x^L
  View<T, 5> final_window_k = {};                  // [Lw,N,Q,H,K]; rows from final_window_count on are 0. Every state: absent: not kept;
  View<T, 5> final_window_v = {};                  // [Lw,N,Q,H,V]                                     may be the same memory as before
  View<std::int64_t, 1> final_window_count = {};   // [N]
  View<T, 5> final_delta_state = {};               // [Ld,N,H,K,V]
  View<T, 5> final_linear_state = {};              // [Ll,N,H,K,V]
  View<T, 4> final_linear_z = {};                  // [Ll,N,H,K]
};

// Errors: no layers, an axis that differs, cu_seqlens not rising from 0 to T, a window below 1, a window_count outside [0,P], a part of a
// state without the others, a form it lacks. Outputs are written only when the result is ok.
Status hybrid(const HybridArguments<float>& arguments);
Status hybrid(const HybridArguments<double>& arguments);

}  // namespace linearmem
