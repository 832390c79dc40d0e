// What the door and the audit share: the checks of the inputs, and one head's part of them.
#pragma once

#include <cmath>

#include "delta_rule/head.hpp"
#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"
#include "linearmem/delta_rule.hpp"

namespace linearmem::delta {

template <typename T>
const char* door_name(const DeltaRuleArguments<T>& a) {
  return a.g.given() || a.g_key.given() ? "gated_delta_rule" : "delta_rule";
}

template <typename T>
void check_inputs(const DeltaRuleArguments<T>& a, ShapeCheck& shapes) {
  shapes.required("q", a.q, "B T H K").required("k", a.k, "B T H K").required("v", a.v, "B T Hv V").required("beta", a.beta, "B T Hv");
  shapes.optional("g", a.g, "B T Hv").optional("g_key", a.g_key, "B T Hv K").multiple("Hv", "H").sequences(a.cu_seqlens);
  shapes.require(shapes.size("K") > 0, "K is 0; a key needs at least one component");
  shapes.optional("state", a.state, "N Hv K V");
}

// Some value columns of value head h over the tokens of `range`. o and reads are absent where the arguments' are.
template <typename T>
Head<T> head_of(const DeltaRuleArguments<T>& a, const TokenRange& range, std::int64_t h, const Range& columns, const View<T, 2>& S,
                const std::optional<Rounding<T>>& rounding = {}) {
  const std::int64_t key_head = h / (a.v.extent(2) / a.q.extent(2));
  return {.q = head_rows(a.q, range, key_head),
          .k = head_rows(a.k, range, key_head),
          .v = columns_of(head_rows(a.v, range, h), columns),
          .beta = head_scalars(a.beta, range, h),
          .gates = head_gates(a.g, a.g_key, range, h),
          .scale = a.scale.value_or(1.0 / std::sqrt(static_cast<double>(a.q.extent(3)))),
          .l2norm = a.l2norm,
          .S = S,
          .o = columns_of(head_rows(a.o, range, h), columns),
          .reads = columns_of(head_rows(a.reads, range, h), columns),
          .rounding = rounding};
}

// The inputs in float64, alive as long as this object.
class WidenedInputs {
 public:
  explicit WidenedInputs(const DeltaRuleArguments<float>& a)
      : a_(a), q_(a.q), k_(a.k), v_(a.v), g_key_(a.g_key), state_(a.state), beta_(a.beta), g_(a.g) {}

  // With every option, without outputs.
  DeltaRuleArguments<double> arguments() const {
    return {.q = q_.view(),
            .k = k_.view(),
            .v = v_.view(),
            .beta = beta_.view(),
            .g = g_.view(),
            .g_key = g_key_.view(),
            .state = state_.view(),
            .cu_seqlens = a_.cu_seqlens,
            .scale = a_.scale,
            .allow_growth = a_.allow_growth,
            .l2norm = a_.l2norm,
            .form = a_.form,
            .state_type = a_.state_type,
            .checkpoint_every = a_.checkpoint_every,
            .executor = a_.executor,
            .o = {}};
  }

 private:
  const DeltaRuleArguments<float>& a_;
  Widened<4> q_, k_, v_, g_key_, state_;
  Widened<3> beta_, g_;
};

}  // namespace linearmem::delta
