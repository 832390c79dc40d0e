// The door: check, choose a form, call it head by head.
#include "linearmem/linear_attention.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"
#include "foundation/state_check.hpp"
#include "linear_attention/head.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "linear_attention";

template <typename T>
Status check_tensors(const LinearAttentionArguments<T>& a, ShapeCheck& shapes) {
  shapes.required("q", a.q, "B T H K").required("k", a.k, "B T Hk K").required("v", a.v, "B T Hk V").multiple("H", "Hk");
  shapes.optional("g", a.g, "B T H").optional("g_key", a.g_key, "B T H K");
  shapes.sequences(a.cu_seqlens).require(shapes.size("K") > 0, "K is 0; a key needs at least one component");
  shapes.optional("state", a.state, "N H K V").optional("z", a.z, "N H K").optional("key_mask", a.key_mask, "B T");
  shapes.required("o", a.o, "B T H V").optional("final_state", a.final_state, "N H K V").optional("final_z", a.final_z, "N H K");
  check_checkpoints(shapes, a.cu_seqlens, a.checkpoint_every, a.checkpoints.given());
  shapes.optional("checkpoints", a.checkpoints, "M H K V");
  shapes.require(a.checkpoints.given() || !a.checkpoints_z.given(), "checkpoints_z is given without checkpoints");
  shapes.optional("checkpoints_z", a.checkpoints_z, "M H K");
  if (a.normalize && a.state.given() != a.z.given()) {
    const std::string given = a.state.given() ? "state" : "z", missing = a.state.given() ? "z" : "state";
    shapes.require(false, given + " is given without " + missing + "; a normalized read needs both");
  }
  shapes.require(std::isfinite(a.eps) && a.eps >= 0, "eps is " + std::to_string(a.eps) + ", must be finite and at least 0");
  shapes.require(a.causal || !(a.g.given() || a.g_key.given()),
                 std::string(a.g.given() ? "g" : "g_key") + " is given, but causal is false; a decay needs an order");
  shapes.require(a.causal || !a.checkpoints.given(),
                 "checkpoints are given, but causal is false; only a causal state grows token by token");
  return shapes.status();
}

template <typename T>
Status check(const LinearAttentionArguments<T>& a, ShapeCheck& shapes) {
  Status status = check_tensors(a, shapes);
  if (status.ok()) status = check_form(kDoor, a.form, a.chunk, {Form::reference, Form::recurrent, Form::chunked, Form::explicit_});
  if (status.ok()) status = check_state_type(kDoor, a.state_type, a.form, std::is_same_v<T, double> || a.form == Form::reference);
  return status.ok() ? check_gates(kDoor, a.g, a.g_key, a.allow_growth, a.key_mask) : status;
}

template <typename T>
void run_head(const linear::Head<T>& head, const LinearAttentionArguments<T>& a) {
  switch (a.form) {
    case Form::reference:
      if constexpr (std::is_same_v<T, double>) linear::reference(head);
      return;
    case Form::chunked:
      return linear::chunked(head, a.chunk > 0 ? a.chunk : a.g_key.given() ? 16 : 64);
    case Form::explicit_:
      return linear::explicit_sum(head);
    default:
      return linear::recurrent(head);
  }
}

// S and z of one head, side by side, and their way in and out.
template <typename T>
class HeadState {
 public:
  HeadState(std::int64_t K, std::int64_t V) : K_(K), V_(V), both_({K, V + 1}) {}

  View<T, 2> both() { return both_.view(); }
  void load(const LinearAttentionArguments<T>& a, std::int64_t n, std::int64_t h) {
    if (a.state.given()) convert(head_state(a.state, n, h), S());
    if (a.z.given()) convert(head_vector(a.z, n, h), z());
  }
  void round(const Rounding<T>& rounding) {
    for (T& s : both_.values()) s = rounded(rounding, s);
  }
  void store(const View<T, 4>& S_to, const View<T, 3>& z_to, std::int64_t n, std::int64_t h) {
    if (S_to.given()) convert(S(), head_state(S_to, n, h));
    if (z_to.given()) convert(z(), head_vector(z_to, n, h));
  }

 private:
  View<T, 2> S() { return {both_.data(), {K_, V_}, {V_ + 1, 1}}; }
  View<T, 1> z() { return {both_.data() + V_, {K_}, {V_ + 1}}; }

  std::int64_t K_, V_;
  Tensor<T, 2> both_;
};

template <typename T>
linear::Head<T> head_of(const LinearAttentionArguments<T>& a, const TokenRange& range, std::int64_t h, const View<T, 2>& state) {
  const std::int64_t key_head = h / (a.q.extent(2) / a.k.extent(2));
  return {.q = head_rows(a.q, range, h),
          .k = head_rows(a.k, range, key_head),
          .v = head_rows(a.v, range, key_head),
          .gates = head_gates(a.g, a.g_key, range, h),
          .mask = sequence_scalars(a.key_mask, range),
          .feature = a.feature,
          .eps = a.eps,
          .normalize = a.normalize,
          .causal = a.causal,
          .state = state,
          .o = head_rows(a.o, range, h)};
}

// One head of one sequence, from checkpoint to checkpoint; the first goes to row `row` of the checkpoints.
template <typename T>
void run_sequence(const LinearAttentionArguments<T>& a, const TokenRange& range, std::int64_t h, std::int64_t row, HeadState<T>& state,
                  const std::optional<Rounding<T>>& rounding) {
  const std::int64_t every = a.checkpoint_every;
  for (TokenRange part = range; part.begin < range.end; part.begin = part.end) {
    part.end = every > 0 ? std::min(part.begin + every, range.end) : range.end;
    linear::Head<T> head = head_of(a, part, h, state.both());
    head.rounding = rounding;
    run_head(head, a);
    if (part.end - part.begin == every) state.store(a.checkpoints, a.checkpoints_z, row++, h);
  }
}

template <typename T>
void run_all(const LinearAttentionArguments<T>& a, std::int64_t N) {
  const auto rounding = a.state_type ? rounding_to<T>(*a.state_type) : std::nullopt;
  std::int64_t row = 0;
  for (std::int64_t n = 0; n < N; ++n) {
    const TokenRange range = sequence_range(a.cu_seqlens, a.q.extent(1), n);
    for (std::int64_t h = 0; h < a.q.extent(2); ++h) {
      HeadState<T> state(a.q.extent(3), a.v.extent(3));
      state.load(a, n, h);
      if (rounding) state.round(*rounding);
      run_sequence(a, range, h, row, state, rounding);
      state.store(a.final_state, a.final_z, n, h);
    }
    if (a.checkpoint_every > 0) row += (range.end - range.begin) / a.checkpoint_every;
  }
}

// The definition is float64: widen what comes in, narrow what goes out.
void run_reference_widened(const LinearAttentionArguments<float>& a, std::int64_t N) {
  const Widened<4> q(a.q), k(a.k), v(a.v), g_key(a.g_key), state(a.state);
  const Widened<3> g(a.g), z(a.z);
  Narrowing<4> o(a.o), final_state(a.final_state), checkpoints(a.checkpoints);
  Narrowing<3> final_z(a.final_z), checkpoints_z(a.checkpoints_z);
  run_all<double>({.q = q.view(), .k = k.view(), .v = v.view(), .g = g.view(), .g_key = g_key.view(), .state = state.view(), .z = z.view(),
                   .key_mask = a.key_mask, .cu_seqlens = a.cu_seqlens, .feature = a.feature, .eps = a.eps, .normalize = a.normalize,
                   .causal = a.causal, .form = Form::reference, .state_type = a.state_type, .checkpoint_every = a.checkpoint_every,
                   .o = o.view(), .final_state = final_state.view(), .final_z = final_z.view(), .checkpoints = checkpoints.view(),
                   .checkpoints_z = checkpoints_z.view()}, N);
  for (auto* narrowing : {&o, &final_state, &checkpoints}) narrowing->narrow();
  for (auto* narrowing : {&final_z, &checkpoints_z}) narrowing->narrow();
}

template <typename T>
Status enter(const LinearAttentionArguments<T>& a) {
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

Status linear_attention(const LinearAttentionArguments<float>& arguments) { return enter(arguments); }
Status linear_attention(const LinearAttentionArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
