// The door of the elementwise scan: check, choose a form, call it sequence by sequence.
#include "linearmem/selective_scan.hpp"

#include <type_traits>

#include "foundation/backend_call.hpp"
#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"
#include "foundation/work_split.hpp"
#include "linearmem/tensor.hpp"
#include "selective_scan/sequence.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "selective_scan";

template <typename T>
Status check(const SelectiveScanArguments<T>& a, ShapeCheck& shapes) {
  shapes.required("x", a.x, "B T D").required("a", a.a, "B T D").required("b", a.b, "B T D").required("c", a.c, "B T D");
  shapes.sequences(a.cu_seqlens)
      .optional("state", a.state, "N D")
      .required("y", a.y, "B T D")
      .optional("final_state", a.final_state, "N D");
  if (!shapes.status().ok()) return shapes.status();
  const Status form =
      check_form(kDoor, a.form, a.chunk, {Form::reference, Form::recurrent, Form::chunked, Form::explicit_, Form::parallel_scan});
  if (!form.ok() || a.form != Form::parallel_scan) return form;
  const std::int64_t pairs[] = {2, shapes.size("T"), shapes.size("D")};
  return checked_bytes("selective_scan: working memory of form parallel-scan", pairs, 3, sizeof(T)).status();
}

template <typename T>
void run_sequence(const scan::Sequence<T>& sequence, const SelectiveScanArguments<T>& a) {
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

// Some channels of one sequence.
template <typename T>
void run_piece(const SelectiveScanArguments<T>& a, const Piece& piece) {
  const TokenRange range = sequence_range(a.cu_seqlens, a.x.extent(1), piece.sequence);
  const Range channels = piece.columns<T>(a.x.extent(2));
  Tensor<T, 1> h({channels.count});
  if (a.state.given()) convert(entries_of(sequence_vector(a.state, piece.sequence), channels), h.view());
  run_sequence<T>({.x = columns_of(sequence_rows(a.x, range), channels),
                   .a = columns_of(sequence_rows(a.a, range), channels),
                   .b = columns_of(sequence_rows(a.b, range), channels),
                   .c = columns_of(sequence_rows(a.c, range), channels),
                   .h = h.view(),
                   .y = columns_of(sequence_rows(a.y, range), channels)},
                  a);
  if (a.final_state.given()) convert(View<const T, 1>(h.view()), entries_of(sequence_vector(a.final_state, piece.sequence), channels));
}

constexpr double kStreams = 5;  // of memory, each about as slow as a multiply-add

template <typename T>
void run_all(const SelectiveScanArguments<T>& a, std::int64_t N) {
  const std::int64_t D = a.x.extent(2);
  const auto cost = [&](std::int64_t n) { return kStreams * static_cast<double>(D * sequence_tokens(a.cu_seqlens, a.x.extent(1), n)); };
  each_piece({a.executor, N, 1, most_column_parts<T>(D)}, cost, [&](const Piece& piece) { run_piece(a, piece); });
}

// The definition is float64: widen what comes in, narrow what goes out.
void run_reference_widened(const SelectiveScanArguments<float>& arguments, std::int64_t N) {
  const Widened<3> x(arguments.x), a(arguments.a), b(arguments.b), c(arguments.c);
  const Widened<2> state(arguments.state);
  Narrowing<3> y(arguments.y);
  Narrowing<2> final_state(arguments.final_state);
  run_all<double>({.x = x.view(), .a = a.view(), .b = b.view(), .c = c.view(), .state = state.view(), .cu_seqlens = arguments.cu_seqlens,
                   .form = Form::reference, .executor = arguments.executor, .y = y.view(), .final_state = final_state.view()}, N);
  y.narrow();
  final_state.narrow();
}

template <typename T>
Status enter(const SelectiveScanArguments<T>& a) {
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

Status selective_scan(const SelectiveScanArguments<float>& arguments) { return enter(arguments); }
Status selective_scan(const SelectiveScanArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
