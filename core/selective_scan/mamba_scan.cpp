// The door of the Mamba scan: check, choose a form, call it sequence by sequence.
#include <algorithm>
#include <string>
#include <type_traits>

#include "foundation/backend_call.hpp"
#include "foundation/form_check.hpp"
#include "foundation/number_text.hpp"
#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"
#include "foundation/work_split.hpp"
#include "linearmem/selective_scan.hpp"
#include "linearmem/tensor.hpp"
#include "selective_scan/mamba_sequence.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "mamba_scan";

// Some channels of one sequence.
template <typename T>
scan::MambaSequence<T> part_of(const MambaScanArguments<T>& a, const TokenRange& range, const Range& channels) {
  return {.u = columns_of(sequence_rows(a.u, range), channels),
          .delta = columns_of(sequence_rows(a.delta, range), channels),
          .A = rows_of(a.A, channels),
          .B = sequence_rows(a.B, range),
          .C = sequence_rows(a.C, range),
          .D = entries_of(a.D, channels),
          .z = columns_of(sequence_rows(a.z, range), channels),
          .delta_bias = entries_of(a.delta_bias, channels),
          .with_softplus = a.softplus,
          .h = {},
          .y = columns_of(sequence_rows(a.y, range), channels)};
}

template <typename T>
bool any_above_zero(const View<const T, 2>& A, std::int64_t d) {
  const T* row = A.data() + d * A.stride(0);
  bool above = false;
  for (std::int64_t n = 0; n < A.extent(1); ++n) above |= row[n * A.stride(1)] > T{0};
  return above;
}

// A step times A above 0 makes the state grow: as a rule a forgotten minus sign, or raw steps without softplus.
template <typename T>
Status check_decays(const MambaScanArguments<T>& a) {
  const std::int64_t B = a.u.extent(0), tokens = a.u.extent(1), D = a.u.extent(2), N = a.A.extent(1);
  for (std::int64_t d = 0; d < D; ++d) {
    T low = 0, high = 0;
    if (a.softplus && !any_above_zero(a.A, d)) continue;  // a softplus is never below 0
    for (std::int64_t n = 0; n < N; ++n) {
      low = std::min(low, a.A(d, n));
      high = std::max(high, a.A(d, n));
    }
    for (std::int64_t b = 0; b < B; ++b) {
      const scan::MambaSequence<T> row = part_of(a, {b, 0, tokens}, {0, D});
      for (std::int64_t t = 0; t < tokens; ++t) {
        const T step = row.step(t, d), growth = std::max(step * low, step * high);
        if (growth > T{0})
          return Status::invalid(std::string(kDoor) + ": delta A is " + number_text(static_cast<double>(growth)) + " at batch " + std::to_string(b) +
                                 ", token " + std::to_string(t) + ", channel " + std::to_string(d) +
                                 "; a log decay is at most 0 unless growth is allowed");
      }
    }
  }
  return {};
}

template <typename T>
Status check(const MambaScanArguments<T>& a, ShapeCheck& shapes) {
  shapes.required("u", a.u, "B T D").required("delta", a.delta, "B T D").required("A", a.A, "D N").required("B", a.B, "B T N");
  shapes.required("C", a.C, "B T N").optional("D", a.D, "D").optional("z", a.z, "B T D").optional("delta_bias", a.delta_bias, "D");
  shapes.sequences(a.cu_seqlens, "Seq").optional("state", a.state, "Seq D N").required("y", a.y, "B T D");
  shapes.optional("final_state", a.final_state, "Seq D N");
  if (!shapes.status().ok()) return shapes.status();
  const Status form =
      check_form(kDoor, a.form, a.chunk, {Form::reference, Form::recurrent, Form::chunked, Form::explicit_, Form::parallel_scan});
  if (!form.ok()) return form;
  if (a.form == Form::parallel_scan) {
    const std::int64_t pairs[] = {2, shapes.size("T"), shapes.size("N")};
    const auto bytes = checked_bytes("mamba_scan: working memory of form parallel-scan", pairs, 3, sizeof(T));
    if (!bytes.ok()) return bytes.status();
  }
  return a.allow_growth ? Status() : check_decays(a);
}

template <typename T>
void run_sequence(const scan::MambaSequence<T>& sequence, const MambaScanArguments<T>& a) {
  switch (a.form) {
    case Form::reference:
      if constexpr (std::is_same_v<T, double>) scan::reference(sequence);
      return;
    case Form::chunked:
      return scan::chunked(sequence, a.chunk > 0 ? a.chunk : 64);
    case Form::explicit_:
      return scan::explicit_sum(sequence);
    case Form::parallel_scan:
      return scan::parallel_scan(sequence);
    default:
      return scan::recurrent(sequence);
  }
}

template <typename T>
void run_piece(const MambaScanArguments<T>& a, const Piece& piece) {
  const Range channels = piece.columns<T>(a.u.extent(2));
  const View<T, 2> last = rows_of(sequence_state(a.final_state, piece.sequence), channels);
  const bool in_place = last.given() && last.packed();
  Tensor<T, 2> own({in_place ? 0 : channels.count, a.A.extent(1)});
  const View<T, 2> h = in_place ? last : own.view();
  if (a.state.given()) copy_matrix(rows_of(sequence_state(a.state, piece.sequence), channels), h);
  if (!a.state.given()) std::fill_n(h.data(), h.size(), T{0});
  scan::MambaSequence<T> sequence = part_of(a, sequence_range(a.cu_seqlens, a.u.extent(1), piece.sequence), channels);
  sequence.h = h;
  run_sequence(sequence, a);
  if (last.given()) copy_matrix(View<const T, 2>(h), last);
}

constexpr double kExponential = 10;  // what one takes, in multiply-adds

template <typename T>
void run_all(const MambaScanArguments<T>& a, std::int64_t sequences) {
  const std::int64_t D = a.u.extent(2), N = a.A.extent(1);
  const auto cost = [&](std::int64_t n) {
    return kExponential * static_cast<double>(D * N * sequence_tokens(a.cu_seqlens, a.u.extent(1), n));
  };
  each_piece({a.executor, sequences, 1, most_column_parts<T>(D)}, cost, [&](const Piece& piece) { run_piece(a, piece); });
}

// The definition is float64: widen what comes in, narrow what goes out.
void run_reference_widened(const MambaScanArguments<float>& a, std::int64_t sequences) {
  const Widened<3> u(a.u), delta(a.delta), B(a.B), C(a.C), z(a.z), state(a.state);
  const Widened<2> A(a.A);
  const Widened<1> D(a.D), delta_bias(a.delta_bias);
  Narrowing<3> y(a.y), final_state(a.final_state);
  run_all<double>({.u = u.view(), .delta = delta.view(), .A = A.view(), .B = B.view(), .C = C.view(), .D = D.view(), .z = z.view(),
                   .delta_bias = delta_bias.view(), .state = state.view(), .cu_seqlens = a.cu_seqlens, .softplus = a.softplus,
                   .form = Form::reference, .executor = a.executor, .y = y.view(), .final_state = final_state.view()}, sequences);
  y.narrow();
  final_state.narrow();
}

template <typename T>
Status enter(const MambaScanArguments<T>& a) {
  ShapeCheck shapes(kDoor);
  if (Status status = check(a, shapes); !status.ok()) return status;
  if (a.backend) return run_on_backend(kDoor, a);
  if constexpr (std::is_same_v<T, float>)
    if (a.form == Form::reference) {
      run_reference_widened(a, shapes.size("Seq"));
      return {};
    }
  run_all(a, shapes.size("Seq"));
  return {};
}

}  // namespace

Status mamba_scan(const MambaScanArguments<float>& arguments) { return enter(arguments); }
Status mamba_scan(const MambaScanArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
