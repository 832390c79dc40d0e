// The door: check, choose a form, call it head by head.
#include "linearmem/softmax_attention.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"
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
    const std::string start = "window is " + std::to_string(*a.window);
    shapes.require(*a.window >= 1, start + ", must be at least 1, the query's own token");
    shapes.require(a.causal, start + ", but causal is false; a window looks back from the query's own token");
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

template <typename T>
void run_all(const SoftmaxAttentionArguments<T>& a, std::int64_t N) {
  const std::int64_t H = a.q.extent(2), group = a.k.extent(2) > 0 ? H / a.k.extent(2) : 1;
  const double scale = a.scale.value_or(1.0 / std::sqrt(static_cast<double>(a.q.extent(3))));
  for (std::int64_t n = 0; n < N; ++n) {
    const TokenRange range = sequence_range(a.cu_seqlens, a.q.extent(1), n);
    for (std::int64_t h = 0; h < H; ++h)
      run_head<T>({.q = head_rows(a.q, range, h),
                   .k = head_rows(a.k, range, h / group),
                   .v = head_rows(a.v, range, h / group),
                   .mask = sequence_scalars(a.key_mask, range),
                   .causal = a.causal,
                   .window = a.window.value_or(std::numeric_limits<std::int64_t>::max()),
                   .scale = scale,
                   .o = head_rows(a.o, range, h)},
                  a.form);
  }
}

// The definition is float64: widen what comes in, narrow what goes out.
void run_reference_widened(const SoftmaxAttentionArguments<float>& a, std::int64_t N) {
  const Widened<4> q(a.q), k(a.k), v(a.v);
  Narrowing<4> o(a.o);
  run_all<double>({.q = q.view(), .k = k.view(), .v = v.view(), .key_mask = a.key_mask, .cu_seqlens = a.cu_seqlens, .causal = a.causal,
                   .window = a.window, .scale = a.scale, .form = Form::reference, .o = o.view()}, N);
  o.narrow();
}

template <typename T>
Status enter(const SoftmaxAttentionArguments<T>& a) {
  ShapeCheck shapes(kDoor);
  if (Status status = check(a, shapes); !status.ok()) return status;
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
