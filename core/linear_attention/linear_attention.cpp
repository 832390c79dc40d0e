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
#include "foundation/work_split.hpp"
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

// Some columns of S and all of z of one head, side by side, and their way in and out. Every part of a head counts z for itself, to the
// same bits, and the first one hands it over.
template <typename T>
class HeadState {
 public:
  HeadState(const Piece& piece, std::int64_t K, std::int64_t V)
      : piece_(piece), columns_(piece.columns<T>(V)), K_(K), both_({K, columns_.count + 1}) {}

  View<T, 2> both() { return both_.view(); }
  const Range& columns() const { return columns_; }
  void load(const LinearAttentionArguments<T>& a) {
    if (a.state.given()) convert(columns_of(head_state(a.state, piece_.sequence, piece_.head), columns_), S());
    if (a.z.given()) convert(head_vector(a.z, piece_.sequence, piece_.head), z());
  }
  void round(const Rounding<T>& rounding) {
    for (T& s : both_.values()) s = rounded(rounding, s);
  }
  // To row n of each.
  void store(const View<T, 4>& S_to, const View<T, 3>& z_to, std::int64_t n) {
    if (S_to.given()) convert(S(), columns_of(head_state(S_to, n, piece_.head), columns_));
    if (z_to.given() && piece_.part == 0) convert(z(), head_vector(z_to, n, piece_.head));
  }

 private:
  View<T, 2> S() { return {both_.data(), {K_, columns_.count}, {columns_.count + 1, 1}}; }
  View<T, 1> z() { return {both_.data() + columns_.count, {K_}, {columns_.count + 1}}; }

  Piece piece_;
  Range columns_;
  std::int64_t K_;
  Tensor<T, 2> both_;
};

template <typename T>
linear::Head<T> head_of(const LinearAttentionArguments<T>& a, const TokenRange& range, std::int64_t h, HeadState<T>& state) {
  const std::int64_t key_head = h / (a.q.extent(2) / a.k.extent(2));
  return {.q = head_rows(a.q, range, h),
          .k = head_rows(a.k, range, key_head),
          .v = columns_of(head_rows(a.v, range, key_head), state.columns()),
          .gates = head_gates(a.g, a.g_key, range, h),
          .mask = sequence_scalars(a.key_mask, range),
          .feature = a.feature,
          .eps = a.eps,
          .normalize = a.normalize,
          .causal = a.causal,
          .state = state.both(),
          .o = columns_of(head_rows(a.o, range, h), state.columns())};
}

// Some columns of one head of one sequence, from checkpoint to checkpoint.
template <typename T>
void run_piece(const LinearAttentionArguments<T>& a, const Piece& piece, const std::optional<Rounding<T>>& rounding) {
  HeadState<T> state(piece, a.q.extent(3), a.v.extent(3));
  state.load(a);
  if (rounding) state.round(*rounding);
  const std::int64_t every = a.checkpoint_every;
  const TokenRange range = sequence_range(a.cu_seqlens, a.q.extent(1), piece.sequence);
  std::int64_t row = first_checkpoint(a.cu_seqlens, a.q.extent(1), every, piece.sequence);
  for (TokenRange part = range; part.begin < range.end; part.begin = part.end) {
    part.end = every > 0 ? std::min(part.begin + every, range.end) : range.end;
    linear::Head<T> head = head_of(a, part, piece.head, state);
    head.rounding = rounding;
    run_head(head, a);
    if (part.end - part.begin == every) state.store(a.checkpoints, a.checkpoints_z, row++);
  }
  state.store(a.final_state, a.final_z, piece.sequence);
}

template <typename T>
void run_all(const LinearAttentionArguments<T>& a, std::int64_t N) {
  const std::int64_t K = a.q.extent(3), V = a.v.extent(3);
  const auto rounding = a.state_type ? rounding_to<T>(*a.state_type) : std::nullopt;
  const auto cost = [&](std::int64_t n) { return 2.0 * static_cast<double>(K * V * sequence_tokens(a.cu_seqlens, a.q.extent(1), n)); };
  each_piece({a.executor, N, a.q.extent(2), most_column_parts<T>(V)}, cost, [&](const Piece& piece) { run_piece(a, piece, rounding); });
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
                   .executor = a.executor, .o = o.view(), .final_state = final_state.view(), .final_z = final_z.view(), .checkpoints = checkpoints.view(),
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
