// The door: check, choose a form, call it sequence by sequence.
#include "linearmem/causal_conv.hpp"

#include <type_traits>

#include "causal_conv/sequence.hpp"
#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"
#include "foundation/work_split.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "causal_conv";

template <typename T>
Status check(const CausalConvArguments<T>& a, ShapeCheck& shapes) {
  shapes.required("x", a.x, "B T D").required("weight", a.weight, "D W").optional("bias", a.bias, "D").sequences(a.cu_seqlens);
  if (a.weight.given()) {
    shapes.require(a.weight.extent(1) > 0, "W is 0; a filter has at least one tap").define("W-1", "weight", a.weight.extent(1) - 1);
  }
  shapes.optional("state", a.state, "N D W-1").required("y", a.y, "B T D").optional("final_state", a.final_state, "N D W-1");
  if (!shapes.status().ok()) return shapes.status();
  return check_form(kDoor, a.form, 0, {Form::reference, Form::recurrent});
}

// Some channels of one sequence.
template <typename T>
void run_piece(const CausalConvArguments<T>& a, const Piece& piece) {
  const TokenRange range = sequence_range(a.cu_seqlens, a.x.extent(1), piece.sequence);
  const Range channels = piece.columns<T>(a.x.extent(2));
  Tensor<T, 2> kept({channels.count, a.weight.extent(1) - 1});
  if (a.state.given()) convert(rows_of(sequence_state(a.state, piece.sequence), channels), kept.view());
  const conv::Sequence<T> sequence{.x = columns_of(sequence_rows(a.x, range), channels),
                                   .weight = rows_of(a.weight, channels),
                                   .bias = entries_of(a.bias, channels),
                                   .activation = a.activation,
                                   .kept = kept.view(),
                                   .y = columns_of(sequence_rows(a.y, range), channels)};
  if (a.form != Form::reference) conv::recurrent(sequence);
  if constexpr (std::is_same_v<T, double>)
    if (a.form == Form::reference) conv::reference(sequence);
  if (a.final_state.given()) convert(View<const T, 2>(kept.view()), rows_of(sequence_state(a.final_state, piece.sequence), channels));
}

template <typename T>
void run_all(const CausalConvArguments<T>& a, std::int64_t N) {
  const std::int64_t D = a.x.extent(2), per_channel = a.weight.extent(1) + (a.activation == Activation::silu ? 10 : 0);
  const auto cost = [&](std::int64_t n) { return D * per_channel * sequence_tokens(a.cu_seqlens, a.x.extent(1), n); };
  each_piece({a.executor, N, 1, most_column_parts<T>(D)}, cost, [&](const Piece& piece) { run_piece(a, piece); });
}

// The definition is float64: widen what comes in, narrow what goes out.
void run_reference_widened(const CausalConvArguments<float>& a, std::int64_t N) {
  const Widened<3> x(a.x), state(a.state);
  const Widened<2> weight(a.weight);
  const Widened<1> bias(a.bias);
  Narrowing<3> y(a.y), final_state(a.final_state);
  run_all<double>({.x = x.view(), .weight = weight.view(), .bias = bias.view(), .state = state.view(), .cu_seqlens = a.cu_seqlens,
                   .activation = a.activation, .form = Form::reference, .executor = a.executor, .y = y.view(), .final_state = final_state.view()}, N);
  y.narrow();
  final_state.narrow();
}

template <typename T>
Status enter(const CausalConvArguments<T>& a) {
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

constexpr std::string_view kActivationNames[] = {"silu", "none"};  // in the order of Activation

}  // namespace

Status causal_conv(const CausalConvArguments<float>& arguments) { return enter(arguments); }
Status causal_conv(const CausalConvArguments<double>& arguments) { return enter(arguments); }

std::string_view activation_name(Activation activation) { return kActivationNames[static_cast<int>(activation)]; }

std::optional<Activation> activation_named(std::string_view name) {
  for (Activation activation : {Activation::silu, Activation::none})
    if (activation_name(activation) == name) return activation;
  return std::nullopt;
}

}  // namespace linearmem
