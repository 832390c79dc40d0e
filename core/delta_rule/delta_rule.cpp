// The door: check, choose a form, call it head by head.
#include "linearmem/delta_rule.hpp"

#include <cmath>
#include <string>
#include <type_traits>

#include "delta_rule/head.hpp"
#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

template <typename T>
const char* door_name(const DeltaRuleArguments<T>& a) {
  return a.g.given() ? "gated_delta_rule" : "delta_rule";
}

template <typename T>
Status check_gates(const DeltaRuleArguments<T>& a) {
  if (!a.g.given()) return {};
  Status status;
  each_index<3>(a.g.extents(), [&](const Extents<3>& at) {
    const T g = a.g[at];
    if (status.ok() && g > T{0})
      status = Status::invalid(std::string(door_name(a)) + ": g is " + std::to_string(g) + " at batch " + std::to_string(at[0]) + ", token " +
                               std::to_string(at[1]) + ", head " + std::to_string(at[2]) + "; a log decay is at most 0");
  });
  return status;
}

template <typename T>
Status check(const DeltaRuleArguments<T>& a, ShapeCheck& shapes) {
  shapes.required("q", a.q, "B T H K").required("k", a.k, "B T H K").required("v", a.v, "B T Hv V").required("beta", a.beta, "B T Hv");
  shapes.optional("g", a.g, "B T Hv").multiple("Hv", "H").sequences(a.cu_seqlens);
  shapes.require(shapes.size("K") > 0, "K is 0; a key needs at least one component");
  shapes.optional("state", a.state, "N Hv K V").required("o", a.o, "B T Hv V").optional("reads", a.reads, "B T Hv V");
  shapes.optional("final_state", a.final_state, "N Hv K V");
  if (!shapes.status().ok()) return shapes.status();
  const Status form = check_form(door_name(a), a.form, a.chunk, {Form::reference, Form::recurrent, Form::chunked, Form::explicit_});
  if (!form.ok()) return form;
  return check_gates(a);
}

template <typename T>
void run_head(const delta::Head<T>& head, const DeltaRuleArguments<T>& a) {
  switch (a.form) {
    case Form::reference:
      if constexpr (std::is_same_v<T, double>) delta::reference(head);
      return;
    case Form::chunked:
      return delta::chunked(head, a.chunk > 0 ? a.chunk : 64);
    case Form::explicit_:
      return delta::explicit_sum(head);
    default:
      return delta::recurrent(head);
  }
}

template <typename T>
void run_all(const DeltaRuleArguments<T>& a, std::int64_t N) {
  const std::int64_t K = a.q.extent(3), Hv = a.v.extent(2), V = a.v.extent(3);
  const std::int64_t group = a.q.extent(2) > 0 ? Hv / a.q.extent(2) : 1;
  const double scale = a.scale.value_or(1.0 / std::sqrt(static_cast<double>(K)));
  for (std::int64_t n = 0; n < N; ++n) {
    const TokenRange range = sequence_range(a.cu_seqlens, a.q.extent(1), n);
    for (std::int64_t h = 0; h < Hv; ++h) {
      Tensor<T, 2> S({K, V});
      if (a.state.given()) convert(head_state(a.state, n, h), S.view());
      run_head<T>({.q = head_rows(a.q, range, h / group),
                   .k = head_rows(a.k, range, h / group),
                   .v = head_rows(a.v, range, h),
                   .beta = head_scalars(a.beta, range, h),
                   .g = head_scalars(a.g, range, h),
                   .scale = scale,
                   .l2norm = a.l2norm,
                   .S = S.view(),
                   .o = head_rows(a.o, range, h),
                   .reads = head_rows(a.reads, range, h)},
                  a);
      if (a.final_state.given()) convert(View<const T, 2>(S.view()), head_state(a.final_state, n, h));
    }
  }
}

// The definition is float64: widen what comes in, narrow what goes out.
void run_reference_widened(const DeltaRuleArguments<float>& a, std::int64_t N) {
  const Widened<4> q(a.q), k(a.k), v(a.v), state(a.state);
  const Widened<3> beta(a.beta), g(a.g);
  Narrowing<4> o(a.o), reads(a.reads), final_state(a.final_state);
  run_all<double>({.q = q.view(), .k = k.view(), .v = v.view(), .beta = beta.view(), .g = g.view(), .state = state.view(),
                   .cu_seqlens = a.cu_seqlens, .scale = a.scale, .l2norm = a.l2norm, .form = Form::reference,
                   .o = o.view(), .reads = reads.view(), .final_state = final_state.view()}, N);
  o.narrow();
  reads.narrow();
  final_state.narrow();
}

template <typename T>
Status enter(const DeltaRuleArguments<T>& a) {
  ShapeCheck shapes(door_name(a));
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

Status delta_rule(const DeltaRuleArguments<float>& arguments) { return enter(arguments); }
Status delta_rule(const DeltaRuleArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
