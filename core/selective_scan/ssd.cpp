// The door of ssd: check, choose a form, call it head by head.
#include <algorithm>
#include <optional>
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
#include "foundation/work_split.hpp"
#include "linearmem/selective_scan.hpp"
#include "linearmem/tensor.hpp"
#include "selective_scan/ssd_head.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "ssd";

// dt A above 0 makes the state grow: as a rule a forgotten minus sign, or a dt that did not pass through softplus.
template <typename T>
Status check_decays(const SsdArguments<T>& a) {
  for (std::int64_t b = 0; b < a.dt.extent(0); ++b)
    for (std::int64_t t = 0; t < a.dt.extent(1); ++t) {
      const T* row = a.dt.data() + b * a.dt.stride(0) + t * a.dt.stride(1);
      for (std::int64_t h = 0; h < a.dt.extent(2); ++h)
        if (const T growth = row[h * a.dt.stride(2)] * a.A(h); growth > T{0})
          return Status::invalid(std::string(kDoor) + ": dt A is " + number_text(static_cast<double>(growth)) + " at batch " + std::to_string(b) +
                                 ", token " + std::to_string(t) + ", head " + std::to_string(h) +
                                 "; a log decay is at most 0 unless growth is allowed");
    }
  return {};
}

template <typename T>
Status check(const SsdArguments<T>& a, ShapeCheck& shapes) {
  shapes.required("x", a.x, "B T H P").required("dt", a.dt, "B T H").required("A", a.A, "H").required("B", a.B, "B T G N");
  shapes.required("C", a.C, "B T G N").optional("D", a.D, "H").multiple("H", "G").sequences(a.cu_seqlens, "Seq");
  shapes.optional("state", a.state, "Seq H N P").required("y", a.y, "B T H P").optional("final_state", a.final_state, "Seq H N P");
  if (!shapes.status().ok()) return shapes.status();
  const Status form = check_form(kDoor, a.form, a.chunk, {Form::reference, Form::recurrent, Form::chunked, Form::explicit_});
  if (!form.ok() || a.allow_growth) return form;
  return check_decays(a);
}

template <typename T>
bool is_recurrent(const SsdArguments<T>& a) {
  return a.form == Form::automatic || a.form == Form::recurrent;
}

template <typename T>
void run_heads(std::span<const scan::SsdHead<T>> heads, const SsdArguments<T>& a) {
  if (is_recurrent(a)) return scan::recurrent(heads);
  for (const scan::SsdHead<T>& head : heads) {
    if (a.form == Form::chunked) scan::chunked(head, a.chunk > 0 ? a.chunk : 64);
    if (a.form == Form::explicit_) scan::explicit_sum(head);
    if constexpr (std::is_same_v<T, double>)
      if (a.form == Form::reference) scan::reference(head);
  }
}

// Some heads of one sequence, or some columns of one.
template <typename T>
void run_piece(const SsdArguments<T>& a, const Piece& piece) {
  const std::int64_t group = a.x.extent(2) / a.B.extent(2);
  const TokenRange range = sequence_range(a.cu_seqlens, a.x.extent(1), piece.sequence);
  PieceStates<T> states(a.state, a.final_state, piece, a.B.extent(3), a.x.extent(3), is_recurrent(a));
  states.load(std::nullopt);
  PlainList<scan::SsdHead<T>> heads(piece.heads);
  for (std::int64_t n = 0; n < piece.heads; ++n) {
    const std::int64_t h = piece.head + n;
    heads.add({.x = columns_of(head_rows(a.x, range, h), states.columns()),
               .dt = head_scalars(a.dt, range, h),
               .A = a.A(h),
               .B = head_rows(a.B, range, h / group),
               .C = head_rows(a.C, range, h / group),
               .D = a.D.given() ? a.D(h) : T{0},
               .skip = a.D.given(),
               .S = states.S(n),
               .y = columns_of(head_rows(a.y, range, h), states.columns())});
  }
  run_heads(heads.items(), a);
  states.store();
}

template <typename T>
void run_all(const SsdArguments<T>& a, std::int64_t sequences) {
  const std::int64_t N = a.B.extent(3), P = a.x.extent(3);
  const auto cost = [&](std::int64_t n) { return 3.0 * static_cast<double>(N * P * sequence_tokens(a.cu_seqlens, a.x.extent(1), n)); };
  each_piece({a.executor, sequences, a.x.extent(2), most_column_parts<T>(P), heads_near<T>(N * P)}, cost,
             [&](const Piece& piece) { run_piece(a, piece); });
}

// The definition is float64: widen what comes in, narrow what goes out.
void run_reference_widened(const SsdArguments<float>& a, std::int64_t sequences) {
  const Widened<4> x(a.x), B(a.B), C(a.C), state(a.state);
  const Widened<3> dt(a.dt);
  const Widened<1> A(a.A), D(a.D);
  Narrowing<4> y(a.y), final_state(a.final_state);
  run_all<double>({.x = x.view(), .dt = dt.view(), .A = A.view(), .B = B.view(), .C = C.view(), .D = D.view(), .state = state.view(),
                   .cu_seqlens = a.cu_seqlens, .form = Form::reference, .executor = a.executor, .y = y.view(), .final_state = final_state.view()},
                  sequences);
  y.narrow();
  final_state.narrow();
}

template <typename T>
Status enter(const SsdArguments<T>& a) {
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

Status ssd(const SsdArguments<float>& arguments) { return enter(arguments); }
Status ssd(const SsdArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
