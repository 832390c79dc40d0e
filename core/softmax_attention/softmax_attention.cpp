// The door: check, choose a form, call it head by head.
#include "linearmem/softmax_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "foundation/backend_call.hpp"
#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"
#include "foundation/work_split.hpp"
#include "softmax_attention/head.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "softmax_attention";

template <typename T>
Status check(const SoftmaxAttentionArguments<T>& a, ShapeCheck& shapes) {
  shapes.required("q", a.q, "B T H K").required("k", a.k, "B T Hk K").required("v", a.v, "B T Hk V").multiple("H", "Hk");
  shapes.sequences(a.cu_seqlens).require(shapes.size("K") > 0, "K is 0; a key needs at least one component");
  shapes.optional("key_mask", a.key_mask, "B T").required("o", a.o, "B T H V");
  if (a.window) {
    const auto is = [&] { return "window is " + std::to_string(*a.window); };
    shapes.require(*a.window >= 1, [&] { return is() + ", must be at least 1, the query's own token"; });
    shapes.require(a.causal, [&] { return is() + ", but causal is false; a window looks back from the query's own token"; });
  }
  if (!shapes.status().ok()) return shapes.status();
  return check_form(kDoor, a.form, 0, {Form::reference, Form::explicit_, Form::streaming});
}

template <typename T>
void run_head(const softmax::Head<T>& head, Form form) {
  switch (form) {
    case Form::reference:
      if constexpr (std::is_same_v<T, double>) softmax::reference(head);
      return;
    case Form::explicit_:
      return softmax::explicit_scores(head);
    default:
      return softmax::streaming(head);
  }
}

constexpr std::int64_t kGrain = 64;  // queries: parts are whole multiples, many enough to pay for packing their keys

// Where part `part` of the queries begins. Causal queries see more and more keys: the first t of them take work as t^2.
std::int64_t first_query(std::int64_t tokens, bool growing, std::int64_t part, std::int64_t parts) {
  const double share = static_cast<double>(part) / static_cast<double>(parts);
  const double at = static_cast<double>(tokens) * (growing ? std::sqrt(share) : share);
  return part == parts ? tokens : static_cast<std::int64_t>(at) / kGrain * kGrain;
}

// Some queries of one head of one sequence.
template <typename T>
void run_piece(const SoftmaxAttentionArguments<T>& a, const Piece& piece) {
  const std::int64_t h = piece.head, key_head = h / (a.q.extent(2) / a.k.extent(2));
  const TokenRange range = sequence_range(a.cu_seqlens, a.q.extent(1), piece.sequence);
  const std::int64_t tokens = range.end - range.begin, window = a.window.value_or(std::numeric_limits<std::int64_t>::max());
  const bool growing = a.causal && window >= tokens;
  run_head<T>({.q = head_rows(a.q, range, h),
               .k = head_rows(a.k, range, key_head),
               .v = head_rows(a.v, range, key_head),
               .mask = sequence_scalars(a.key_mask, range),
               .causal = a.causal,
               .window = window,
               .scale = a.scale.value_or(1.0 / std::sqrt(static_cast<double>(a.q.extent(3)))),
               .o = head_rows(a.o, range, h),
               .begin = first_query(tokens, growing, piece.part, piece.parts),
               .end = first_query(tokens, growing, piece.part + 1, piece.parts)},
              a.form);
}

template <typename T>
void run_all(const SoftmaxAttentionArguments<T>& a, std::int64_t N) {
  const std::int64_t T_ = a.q.extent(1);
  const auto cost = [&](std::int64_t n) {
    const std::int64_t tokens = sequence_tokens(a.cu_seqlens, T_, n);
    return static_cast<double>(tokens) * static_cast<double>(std::min(tokens, a.window.value_or(tokens))) *
           static_cast<double>(a.q.extent(3) + a.v.extent(3));
  };
  each_piece({a.executor, N, a.q.extent(2), std::max<std::int64_t>(T_ / kGrain, 1)}, cost, [&](const Piece& piece) { run_piece(a, piece); });
}

// The definition is float64: widen what comes in, narrow what goes out.
void run_reference_widened(const SoftmaxAttentionArguments<float>& a, std::int64_t N) {
  const Widened<4> q(a.q), k(a.k), v(a.v);
  Narrowing<4> o(a.o);
  run_all<double>({.q = q.view(), .k = k.view(), .v = v.view(), .key_mask = a.key_mask, .cu_seqlens = a.cu_seqlens, .causal = a.causal,
                   .window = a.window, .scale = a.scale, .form = Form::reference,
                   .executor = a.executor, .o = o.view()}, N);
  o.narrow();
}

template <typename T>
Status enter(const SoftmaxAttentionArguments<T>& a) {
  ShapeCheck shapes(kDoor);
  if (Status status = check(a, shapes); !status.ok()) return status;
  if (a.backend) return run_on_backend(kDoor, a);
  if constexpr (std::is_same_v<T, float>)
    if (a.form == Form::reference) {
      run_reference_widened(a, shapes.size("N"));
      return {};
    }
  run_all(a, shapes.size("N"));
  return {};
}

}  // namespace

Status softmax_attention(const SoftmaxAttentionArguments<float>& arguments) { return enter(arguments); }
Status softmax_attention(const SoftmaxAttentionArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
