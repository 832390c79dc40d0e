// The door: check, choose a form, call it head by head.
#include "linearmem/linear_attention.hpp"

#include <cmath>
#include <string>
#include <type_traits>

#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"
#include "linear_attention/head.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "linear_attention";

template <typename T>
Status check(const LinearAttentionArguments<T>& a, ShapeCheck& shapes) {
  shapes.required("q", a.q, "B T H K").required("k", a.k, "B T Hk K").required("v", a.v, "B T Hk V").multiple("H", "Hk");
  shapes.sequences(a.cu_seqlens).require(shapes.size("K") > 0, "K is 0; a key needs at least one component");
  shapes.optional("state", a.state, "N H K V").optional("z", a.z, "N H K").optional("key_mask", a.key_mask, "B T");
  shapes.required("o", a.o, "B T H V").optional("final_state", a.final_state, "N H K V").optional("final_z", a.final_z, "N H K");
  if (a.normalize && a.state.given() != a.z.given()) {
    const std::string given = a.state.given() ? "state" : "z", missing = a.state.given() ? "z" : "state";
    shapes.require(false, given + " is given without " + missing + "; a normalized read needs both");
  }
  shapes.require(std::isfinite(a.eps) && a.eps >= 0, "eps is " + std::to_string(a.eps) + ", must be finite and at least 0");
  if (!shapes.status().ok()) return shapes.status();
  return check_form(kDoor, a.form, a.chunk, {Form::reference, Form::recurrent, Form::chunked, Form::explicit_});
}

template <typename T>
void run_head(const linear::Head<T>& head, const LinearAttentionArguments<T>& a) {
  switch (a.form) {
    case Form::reference:
      if constexpr (std::is_same_v<T, double>) linear::reference(head);
      return;
    case Form::chunked:
      return linear::chunked(head, a.chunk > 0 ? a.chunk : 64);
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
  void store(const LinearAttentionArguments<T>& a, std::int64_t n, std::int64_t h) {
    if (a.final_state.given()) convert(S(), head_state(a.final_state, n, h));
    if (a.final_z.given()) convert(z(), head_vector(a.final_z, n, h));
  }

 private:
  View<T, 2> S() { return {both_.data(), {K_, V_}, {V_ + 1, 1}}; }
  View<T, 1> z() { return {both_.data() + V_, {K_}, {V_ + 1}}; }

  std::int64_t K_, V_;
  Tensor<T, 2> both_;
};

template <typename T>
void run_all(const LinearAttentionArguments<T>& a, std::int64_t N) {
  const std::int64_t H = a.q.extent(2), group = a.k.extent(2) > 0 ? H / a.k.extent(2) : 1;
  for (std::int64_t n = 0; n < N; ++n) {
    const TokenRange range = sequence_range(a.cu_seqlens, a.q.extent(1), n);
    for (std::int64_t h = 0; h < H; ++h) {
      HeadState<T> state(a.q.extent(3), a.v.extent(3));
      state.load(a, n, h);
      run_head<T>({.q = head_rows(a.q, range, h),
                   .k = head_rows(a.k, range, h / group),
                   .v = head_rows(a.v, range, h / group),
                   .mask = sequence_scalars(a.key_mask, range),
                   .feature = a.feature,
                   .eps = a.eps,
                   .normalize = a.normalize,
                   .causal = a.causal,
                   .state = state.both(),
                   .o = head_rows(a.o, range, h)},
                  a);
      state.store(a, n, h);
    }
  }
}

// The definition is float64: widen what comes in, narrow what goes out.
void run_reference_widened(const LinearAttentionArguments<float>& a, std::int64_t N) {
  const Widened<4> q(a.q), k(a.k), v(a.v), state(a.state);
  const Widened<3> z(a.z);
  Narrowing<4> o(a.o), final_state(a.final_state);
  Narrowing<3> final_z(a.final_z);
  run_all<double>({.q = q.view(), .k = k.view(), .v = v.view(), .state = state.view(), .z = z.view(), .key_mask = a.key_mask,
                   .cu_seqlens = a.cu_seqlens, .feature = a.feature, .eps = a.eps, .normalize = a.normalize, .causal = a.causal,
                   .form = Form::reference, .o = o.view(), .final_state = final_state.view(), .final_z = final_z.view()}, N);
  o.narrow();
  final_state.narrow();
  final_z.narrow();
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
