// The Mamba-2 layer.
//   z, xBC, dt = x W (+ b); x, B, C = silu(conv(xBC)); dt = clamp(softplus(dt + dt_bias)), A = -exp(A_log)
//   y = ssd(x, dt, A, B, C) + D x;  out = (u / sqrt(mean(u^2) + eps) w) Wo (+ b), u = y silu(z): the gate comes before the norm
// The recurrent state is [H,N,P], the transpose of the checkpoint's own caches in each head.
// Source: Dao & Gu 2024, "Transformers are SSMs"; names, order and limits: Hugging Face Transformers, models/mamba2.
#include <algorithm>
#include <cmath>

#include "foundation/activation.hpp"
#include "layers/kinds.hpp"
#include "layers/norms.hpp"
#include "layers/weights.hpp"
#include "linearmem/causal_conv.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem::layers {
namespace {

std::int64_t inner(const Mamba2Sizes& s) { return s.heads * s.head_width; }
std::int64_t shared(const Mamba2Sizes& s) { return s.groups * s.state_width; }
std::int64_t channels(const Mamba2Sizes& s) { return inner(s) + 2 * shared(s); }

template <typename T>
class Mamba2 final : public PackedLayer<T> {
 public:
  Mamba2(const Mamba2Sizes& sizes, const Weights<T>& weights)
      : s_(sizes), in_(projection_of<T>(weights, "in_proj", sizes.model_width, inner(sizes) + channels(sizes) + sizes.heads)),
        out_(projection_of<T>(weights, "out_proj", inner(sizes), sizes.model_width)), conv_(weights("conv1d.weight")), conv_bias_(weights("conv1d.bias")),
        dt_bias_(weights("dt_bias")), A_(weights("A_log")), D_(weights("D")), norm_(weights("norm.weight")) {
    for (T& a : A_) a = -std::exp(a);
  }

  std::string_view kind() const override { return kMamba2; }
  std::int64_t width() const override { return s_.model_width; }

  LayerStateLayout state_layout() const override { return layout_of(s_, compute_dtype<T>()); }

 private:
  Rows<T> steps(const Call<T>& call, const Rows<T>& projected) const {
    const std::int64_t at = inner(s_) + channels(s_);
    Rows<T> dt(projected.tokens(), s_.heads);
    for (std::int64_t t = 0; t < projected.tokens(); ++t)
      for (std::int64_t h = 0; h < s_.heads; ++h) {
        const T step = std::max(softplus(projected.row(t)[at + h] + dt_bias_[static_cast<std::size_t>(h)]), static_cast<T>(s_.least_step));
        dt.row(t)[h] = s_.most_step > 0 ? std::min(step, static_cast<T>(s_.most_step)) : step;
      }
    call.show("dt", dt, 0, {s_.heads});
    return dt;
  }

  Result<Rows<T>> convolved(const Call<T>& call, Rows<T>& projected) const {
    const std::int64_t C = channels(s_), past = s_.conv_width - 1;
    GatheredState<T> state(call, 0, C * past);
    const View<T, 3> kept(state.data(), {call.requests(), C, past});
    Rows<T> y(projected.tokens(), C);
    CausalConvArguments<T> conv{.x = projected.columns(inner(s_), C), .weight = View<const T, 2>(conv_.data(), {C, s_.conv_width}), .state = kept,
                                .cu_seqlens = call.cu_seqlens(), .executor = call.executor(), .y = y.columns(0, C), .final_state = kept};
    if (s_.conv_bias) conv.bias = View<const T, 1>(conv_bias_.data(), {C});
    call.show("gate", projected, 0, {inner(s_)});
    call.show("hidden_states_B_C", projected, inner(s_), {C});
    if (Status status = causal_conv(conv); !status.ok()) return status;
    state.put_back();
    call.show("x", y, 0, {s_.heads, s_.head_width});
    call.show("B", y, inner(s_), {s_.groups, s_.state_width});
    call.show("C", y, inner(s_) + shared(s_), {s_.groups, s_.state_width});
    return y;
  }

  Result<Rows<T>> scanned(const Call<T>& call, Rows<T>& xbc, Rows<T>& dt) const {
    const std::int64_t H = s_.heads, P = s_.head_width, G = s_.groups, N = s_.state_width;
    GatheredState<T> state(call, 1, H * N * P);
    const View<T, 4> S(state.data(), {call.requests(), H, N, P});
    Rows<T> y(xbc.tokens(), inner(s_));
    const Status status = ssd(SsdArguments<T>{.x = xbc.heads(0, H, P), .dt = dt.columns(0, H), .A = View<const T, 1>(A_.data(), {H}),
                                              .B = xbc.heads(inner(s_), G, N), .C = xbc.heads(inner(s_) + shared(s_), G, N),
                                              .D = View<const T, 1>(D_.data(), {H}), .state = S, .cu_seqlens = call.cu_seqlens(),
                                              .allow_growth = true,  // A is below 0 and dt at least 0 as they are made
                                              .executor = call.executor(), .y = y.heads(0, H, P), .final_state = S});
    if (!status.ok()) return status;
    state.put_back();
    call.show("scan_output", y, 0, {H, P});
    return y;
  }

  Result<Rows<T>> run(Call<T>& call) const override {
    Rows<T> projected = in_(call.executor(), call.x);
    Rows<T> dt = steps(call, projected);
    auto xbc = convolved(call, projected);
    if (!xbc.ok()) return xbc.status();
    auto y = scanned(call, xbc.value(), dt);
    if (!y.ok()) return y.status();
    const std::int64_t part = inner(s_) / s_.norm_groups;
    for (std::int64_t t = 0; t < y.value().tokens(); ++t) {
      multiply_silu(y.value().row(t), projected.row(t), inner(s_));
      for (std::int64_t at = 0; at < inner(s_); at += part) rms_norm(y.value().row(t) + at, part, norm_.data() + at, s_.norm_eps);
    }
    call.show("norm", y.value(), 0, {inner(s_)});
    Rows<T> out = out_(call.executor(), y.value());
    call.show("out", out, 0, {s_.model_width});
    return out;
  }

  Mamba2Sizes s_;
  Projection<T> in_, out_;
  std::vector<T> conv_, conv_bias_, dt_bias_, A_, D_, norm_;
};

}  // namespace

LayerStateLayout layout_of(const Mamba2Sizes& s, DType dtype) {
  return {.layer = kMamba2,
          .parts = {{"conv_state", {channels(s), s.conv_width - 1}, dtype}, {"recurrent_state", {s.heads, s.state_width, s.head_width}, dtype}},
          .ledger = {.shape = {.kind = LayerKind::ssd, .heads = s.heads, .key_heads = s.groups, .key_width = s.state_width,
                               .value_width = s.head_width, .conv_channels = channels(s), .conv_width = s.conv_width}}};
}

std::vector<LayerWeight> weights_of(const Mamba2Sizes& s) {
  std::vector<LayerWeight> weights = {{"in_proj.weight", {inner(s) + channels(s) + s.heads, s.model_width}},
                                      {"conv1d.weight", {channels(s), 1, s.conv_width}},
                                      {"dt_bias", {s.heads}},
                                      {"A_log", {s.heads}},
                                      {"D", {s.heads}},
                                      {"norm.weight", {inner(s)}},
                                      {"out_proj.weight", {s.model_width, inner(s)}}};
  if (s.conv_bias) weights.push_back({"conv1d.bias", {channels(s)}});
  if (s.bias) {
    weights.push_back({"in_proj.bias", {inner(s) + channels(s) + s.heads}});
    weights.push_back({"out_proj.bias", {s.model_width}});
  }
  return weights;
}

template <typename T>
std::unique_ptr<Layer<T>> make_kind(const Mamba2Sizes& sizes, const NamedTensors& weights) {
  return std::make_unique<Mamba2<T>>(sizes, Weights<T>(weights));
}
template std::unique_ptr<Layer<float>> make_kind<float>(const Mamba2Sizes&, const NamedTensors&);
template std::unique_ptr<Layer<double>> make_kind<double>(const Mamba2Sizes&, const NamedTensors&);

}  // namespace linearmem::layers
