// The door: check, choose a form, call it head by head.
#include "linearmem/linear_attention.hpp"

#include <cmath>
#include <span>
#include <string>
#include <type_traits>

#include "foundation/backend_call.hpp"
#include "foundation/form_check.hpp"
#include "foundation/number_text.hpp"
#include "foundation/piece_states.hpp"
#include "foundation/plain_list.hpp"
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
  if (a.normalize && a.state.given() != a.z.given())
    shapes.require(false, std::string(a.state.given() ? "state is given without z" : "z is given without state") + "; a normalized read needs both");
  shapes.require(std::isfinite(a.eps) && a.eps >= 0, [&] { return "eps is " + number_text(a.eps) + ", must be finite and at least 0"; });
  shapes.require(a.causal || !(a.g.given() || a.g_key.given()), [&] {
    return std::string(a.g.given() ? "g" : "g_key") + " is given, but causal is false; a decay needs an order";
  });
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
bool is_recurrent(const LinearAttentionArguments<T>& a) {
  return a.form == Form::automatic || a.form == Form::recurrent;
}

template <typename T>
void run_heads(std::span<const linear::Head<T>> heads, const LinearAttentionArguments<T>& a) {
  if (is_recurrent(a)) return linear::recurrent(heads);
  const std::int64_t chunk = a.chunk > 0 ? a.chunk : a.g_key.given() ? 16 : 64;
  for (const linear::Head<T>& head : heads) {
    if (a.form == Form::chunked) linear::chunked(head, chunk);
    if (a.form == Form::explicit_) linear::explicit_sum(head);
    if constexpr (std::is_same_v<T, double>)
      if (a.form == Form::reference) linear::reference(head);
  }
}

// S and z of a piece's heads. Every part of a head counts z for itself, to the same bits, and the first one hands it over.
// Forms that are not recurrent find z behind the last column of S.
template <typename T>
class SAndZ {
 public:
  SAndZ(const LinearAttentionArguments<T>& a, const Piece& piece)
      : a_(a), piece_(piece), K_(a.q.extent(3)), S_(a.state, a.final_state, piece, K_, a.v.extent(3), is_recurrent(a), is_recurrent(a) ? 0 : 1),
        z_(is_recurrent(a) ? piece.heads * K_ : 0) {}

  const Range& columns() const { return S_.columns(); }
  View<T, 2> S(std::int64_t h) { return S_.S(h); }
  View<T, 1> z(std::int64_t h) {
    if (is_recurrent(a_)) return {z_.data() + h * K_, {K_}};
    const View<T, 2> S = S_.S(h);
    return {S.data() + S.extent(1), {K_}, {S.stride(0)}};
  }

  void load(const std::optional<Rounding<T>>& rounding) {
    S_.load(rounding);
    for (std::int64_t h = 0; a_.z.given() && h < piece_.heads; ++h)
      for (std::int64_t i = 0; i < K_; ++i) {
        const T from = a_.z(piece_.sequence, piece_.head + h, i);
        z(h)(i) = rounding ? rounded(*rounding, from) : from;
      }
  }

  void store_checkpoint(std::int64_t row) {
    S_.store(a_.checkpoints, row);
    store_z(a_.checkpoints_z, row);
  }
  void store_final() {
    S_.store();
    store_z(a_.final_z, piece_.sequence);
  }

 private:
  void store_z(const View<T, 3>& to, std::int64_t n) {
    if (!to.given() || piece_.part > 0) return;
    for (std::int64_t h = 0; h < piece_.heads; ++h) convert(z(h), head_vector(to, n, piece_.head + h));
  }

  const LinearAttentionArguments<T>& a_;
  const Piece& piece_;
  std::int64_t K_;
  PieceStates<T> S_;
  AlignedBuffer<T> z_;
};

template <typename T>
void make_heads(const LinearAttentionArguments<T>& a, const Piece& piece, const TokenRange& range, SAndZ<T>& state,
                const std::optional<Rounding<T>>& rounding, PlainList<linear::Head<T>>& heads) {
  heads.clear();
  for (std::int64_t n = 0; n < piece.heads; ++n) {
    const std::int64_t h = piece.head + n, key_head = h / (a.q.extent(2) / a.k.extent(2));
    heads.add({.q = head_rows(a.q, range, h),
               .k = head_rows(a.k, range, key_head),
               .v = columns_of(head_rows(a.v, range, key_head), state.columns()),
               .gates = head_gates(a.g, a.g_key, range, h),
               .mask = sequence_scalars(a.key_mask, range),
               .feature = a.feature,
               .eps = a.eps,
               .normalize = a.normalize,
               .causal = a.causal,
               .S = state.S(n),
               .z = state.z(n),
               .o = columns_of(head_rows(a.o, range, h), state.columns()),
               .counted = a.normalize || a.final_z.given() || a.checkpoints_z.given(),
               .rounding = rounding});
  }
}

// Some heads of one sequence, or some columns of one, from checkpoint to checkpoint.
template <typename T>
void run_piece(const LinearAttentionArguments<T>& a, const Piece& piece, const std::optional<Rounding<T>>& rounding) {
  SAndZ<T> state(a, piece);
  state.load(rounding);
  PlainList<linear::Head<T>> heads(piece.heads);
  const std::int64_t every = a.checkpoint_every;
  const TokenRange range = sequence_range(a.cu_seqlens, a.q.extent(1), piece.sequence);
  std::int64_t row = first_checkpoint(a.cu_seqlens, a.q.extent(1), every, piece.sequence);
  for (TokenRange part = range; part.begin < range.end; part.begin = part.end) {
    part.end = every > 0 && every < range.end - part.begin ? part.begin + every : range.end;
    make_heads(a, piece, part, state, rounding, heads);
    run_heads(heads.items(), a);
    if (part.end - part.begin == every) state.store_checkpoint(row++);
  }
  state.store_final();
}

template <typename T>
void run_all(const LinearAttentionArguments<T>& a, std::int64_t N) {
  const std::int64_t K = a.q.extent(3), V = a.v.extent(3);
  const auto rounding = a.state_type ? rounding_to<T>(*a.state_type) : std::nullopt;
  const auto cost = [&](std::int64_t n) { return 2.0 * static_cast<double>(K * V * sequence_tokens(a.cu_seqlens, a.q.extent(1), n)); };
  each_piece({a.executor, N, a.q.extent(2), most_column_parts<T>(V), heads_near<T>(K * V)}, cost,
             [&](const Piece& piece) { run_piece(a, piece, rounding); });
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

Status linear_attention(const LinearAttentionArguments<float>& arguments) { return enter(arguments); }
Status linear_attention(const LinearAttentionArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
