// Selective scans: a state whose decay and write depend on the token. Three members of one family, from the plainest on.
//
//   selective_scan   h_t = a_t h_{t-1} + b_t x_t                 y_t = c_t h_t                    every channel by itself
//   mamba_scan       h_t = exp(s_t A) h_{t-1} + s_t B_t u_t      y_t = (C_t h_t + D u_t) silu(z_t)     s = softplus(delta + bias)
//   ssd              S_t = exp(dt_t A) S_{t-1} + dt_t B_t^T x_t   y_t = C_t S_t + D x_t           one decay per head
//
// Token order: decay, write, read. Outputs are written only when the result is ok.
// Sources: Gu & Dao 2023, "Mamba"; Dao & Gu 2024, "Transformers are SSMs" (ssd); Blelloch 1990 (the parallel scan).
#pragma once

#include <cstdint>

#include "linearmem/backend.hpp"
#include "linearmem/executor.hpp"
#include "linearmem/form.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// B batch, T time, D channels, N sequences: B, or the number of packed ones when cu_seqlens is given (then B = 1).
// a, b and c are any numbers: a outside [-1, 1] grows.
template <typename T>
struct SelectiveScanArguments {
  View<const T, 3> x, a, b, c;  // [B,T,D]
  View<const T, 2> state = {};  // [N,D], h before the first token; absent: zeros
  View<const std::int64_t, 1> cu_seqlens = {};  // [N+1], rising from 0 to T: packed sequences

  Form form = Form::automatic;  // reference, recurrent, explicit, chunked, parallel_scan
  std::int64_t chunk = 0;       // tokens per chunk in Form::chunked; 0: 64
  const Executor* executor = nullptr;  // whose threads to use; none: the calling thread. Same bits either way
  const Backend* backend = nullptr;  // where to compute; none: this processor

  View<T, 3> y;                 // [B,T,D]
  View<T, 2> final_state = {};  // [N,D]; absent: not kept; may be the same memory as state
};

// Errors: an axis that differs, cu_seqlens not rising from 0 to T, a form it lacks, working memory of the parallel scan
// (2 T D values) that cannot be addressed.
Status selective_scan(const SelectiveScanArguments<float>& arguments);
Status selective_scan(const SelectiveScanArguments<double>& arguments);

// B batch, T time, D channels, N state size per channel, Seq sequences: B, or the number of packed ones.
// A is the negative number itself, not its logarithm.
template <typename T>
struct MambaScanArguments {
  View<const T, 3> u;      // [B,T,D]
  View<const T, 3> delta;  // [B,T,D], step size before bias and softplus
  View<const T, 2> A;      // [D,N]
  View<const T, 3> B, C;   // [B,T,N]
  View<const T, 1> D = {};           // [D], adds D u; absent: nothing
  View<const T, 3> z = {};           // [B,T,D], multiplies the output by silu(z); absent: no gate
  View<const T, 1> delta_bias = {};  // [D], added to delta; absent: zeros
  View<const T, 3> state = {};       // [Seq,D,N], h before the first token; absent: zeros
  View<const std::int64_t, 1> cu_seqlens = {};  // [Seq+1], rising from 0 to T: packed sequences

  bool softplus = true;       // step = softplus(delta + delta_bias); false: the sum itself
  bool allow_growth = false;  // accept step A above 0
  Form form = Form::automatic;  // reference, recurrent, explicit, chunked, parallel_scan
  std::int64_t chunk = 0;       // tokens per chunk in Form::chunked; 0: 64
  const Executor* executor = nullptr;  // whose threads to use; none: the calling thread. Same bits either way
  const Backend* backend = nullptr;  // where to compute; none: this processor

  View<T, 3> y;                 // [B,T,D]
  View<T, 3> final_state = {};  // [Seq,D,N]; absent: not kept; may be the same memory as state
};

// Errors: those of selective_scan (the parallel scan takes 2 T N values), a step times A above 0 that is not allowed.
Status mamba_scan(const MambaScanArguments<float>& arguments);
Status mamba_scan(const MambaScanArguments<double>& arguments);

// B batch, T time, H heads, P head width, G groups of B and C (H is a multiple of G; head h uses group h / (H/G)),
// N state size, Seq sequences: B, or the number of packed ones. dt is used as it is: softplus and bias come before.
template <typename T>
struct SsdArguments {
  View<const T, 4> x;     // [B,T,H,P]
  View<const T, 3> dt;    // [B,T,H]
  View<const T, 1> A;     // [H], the negative number itself
  View<const T, 4> B, C;  // [B,T,G,N]
  View<const T, 1> D = {};      // [H], adds D x; absent: nothing
  View<const T, 4> state = {};  // [Seq,H,N,P], S before the first token; absent: zeros
  View<const std::int64_t, 1> cu_seqlens = {};  // [Seq+1], rising from 0 to T: packed sequences

  bool allow_growth = false;    // accept dt A above 0
  Form form = Form::automatic;  // reference, recurrent, explicit, chunked
  std::int64_t chunk = 0;       // tokens per chunk in Form::chunked; 0: 64
  const Executor* executor = nullptr;  // whose threads to use; none: the calling thread. Same bits either way
  const Backend* backend = nullptr;  // where to compute; none: this processor

  View<T, 4> y;                 // [B,T,H,P]
  View<T, 4> final_state = {};  // [Seq,H,N,P]; absent: not kept; may be the same memory as state
};

// Errors: an axis that differs, H not a multiple of G, cu_seqlens not rising from 0 to T, dt A above 0 that is not allowed,
// a form it lacks.
Status ssd(const SsdArguments<float>& arguments);
Status ssd(const SsdArguments<double>& arguments);

}  // namespace linearmem
