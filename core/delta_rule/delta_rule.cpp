// The door: check, choose a form, call it head by head.
#include "linearmem/delta_rule.hpp"

#include <span>
#include <type_traits>

#include "delta_rule/arguments.hpp"
#include "foundation/backend_call.hpp"
#include "foundation/form_check.hpp"
#include "foundation/piece_states.hpp"
#include "foundation/plain_list.hpp"
#include "foundation/state_check.hpp"
#include "foundation/work_split.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

template <typename T>
Status check(const DeltaRuleArguments<T>& a, ShapeCheck& shapes) {
  const char* door = delta::door_name(a);
  delta::check_inputs(a, shapes);
  shapes.required("o", a.o, "B T Hv V").optional("reads", a.reads, "B T Hv V").optional("final_state", a.final_state, "N Hv K V");
  check_checkpoints(shapes, a.cu_seqlens, a.checkpoint_every, a.checkpoints.given());
  shapes.optional("checkpoints", a.checkpoints, "M Hv K V");
  if (!shapes.status().ok()) return shapes.status();
  Status status = check_form(door, a.form, a.chunk, {Form::reference, Form::recurrent, Form::chunked, Form::explicit_});
  if (status.ok()) status = check_state_type(door, a.state_type, a.form, std::is_same_v<T, double> || a.form == Form::reference);
  return status.ok() ? check_gates(door, a.g, a.g_key, a.allow_growth) : status;
}

template <typename T>
void run_heads(std::span<const delta::Head<T>> heads, const DeltaRuleArguments<T>& a) {
  if (a.form == Form::automatic || a.form == Form::recurrent) return delta::recurrent(heads);
  const std::int64_t chunk = a.chunk > 0 ? a.chunk : a.g_key.given() ? 16 : 64;
  for (const delta::Head<T>& head : heads) {
    if (a.form == Form::chunked) delta::chunked(head, chunk);
    if (a.form == Form::explicit_) delta::explicit_sum(head);
    if constexpr (std::is_same_v<T, double>)
      if (a.form == Form::reference) delta::reference(head);
  }
}

template <typename T>
void make_heads(const DeltaRuleArguments<T>& a, const Piece& piece, const TokenRange& range, PieceStates<T>& states,
                const std::optional<Rounding<T>>& rounding, PlainList<delta::Head<T>>& heads) {
  heads.clear();
  for (std::int64_t h = 0; h < piece.heads; ++h)
    heads.add(delta::head_of(a, range, piece.head + h, states.columns(), states.S(h), rounding));
}

// Some heads of one sequence, or some columns of one, from checkpoint to checkpoint.
template <typename T>
void run_piece(const DeltaRuleArguments<T>& a, const Piece& piece, const std::optional<Rounding<T>>& rounding) {
  const bool recurrent = a.form == Form::automatic || a.form == Form::recurrent;
  PieceStates<T> states(a.state, a.final_state, piece, a.q.extent(3), a.v.extent(3), recurrent);
  states.load(rounding);
  PlainList<delta::Head<T>> heads(piece.heads);
  const std::int64_t every = a.checkpoint_every;
  const TokenRange range = sequence_range(a.cu_seqlens, a.q.extent(1), piece.sequence);
  std::int64_t row = first_checkpoint(a.cu_seqlens, a.q.extent(1), every, piece.sequence);
  for (TokenRange part = range; part.begin < range.end; part.begin = part.end) {
    part.end = every > 0 && every < range.end - part.begin ? part.begin + every : range.end;
    make_heads(a, piece, part, states, rounding, heads);
    run_heads(heads.items(), a);
    if (part.end - part.begin == every) states.store(a.checkpoints, row++);
  }
  states.store();
}

template <typename T>
void run_all(const DeltaRuleArguments<T>& a, std::int64_t N) {
  const std::int64_t K = a.q.extent(3), V = a.v.extent(3);
  const auto rounding = a.state_type ? rounding_to<T>(*a.state_type) : std::nullopt;
  const auto cost = [&](std::int64_t n) { return 3.0 * static_cast<double>(K * V * sequence_tokens(a.cu_seqlens, a.q.extent(1), n)); };
  each_piece({a.executor, N, a.v.extent(2), most_column_parts<T>(V), heads_near<T>(K * V)}, cost,
             [&](const Piece& piece) { run_piece(a, piece, rounding); });
}

// The definition is float64: widen what comes in, narrow what goes out.
void run_reference_widened(const DeltaRuleArguments<float>& a, std::int64_t N) {
  const delta::WidenedInputs inputs(a);
  Narrowing<4> o(a.o), reads(a.reads), final_state(a.final_state), checkpoints(a.checkpoints);
  DeltaRuleArguments<double> wide = inputs.arguments();
  wide.o = o.view();
  wide.reads = reads.view();
  wide.final_state = final_state.view();
  wide.checkpoints = checkpoints.view();
  run_all(wide, N);
  o.narrow();
  reads.narrow();
  final_state.narrow();
  checkpoints.narrow();
}

template <typename T>
Status enter(const DeltaRuleArguments<T>& a) {
  ShapeCheck shapes(delta::door_name(a));
  if (Status status = check(a, shapes); !status.ok()) return status;
  if (a.backend) return run_on_backend(delta::door_name(a), a);
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
