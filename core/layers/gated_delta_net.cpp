// The Gated DeltaNet layer of Qwen3-Next.
//   q, k, v = silu(conv([x Wq, x Wk, x Wv])), z = x Wz; beta = sigmoid(x Wb), g = -exp(A_log) softplus(x Wa + dt_bias)
//   o = gated delta rule, q and k L2-normalized;  out = (o / sqrt(mean(o^2) + eps) w silu(z)) Wo, the mean over one head
// in_proj_qkvz and in_proj_ba stand key head by key head: [q | k | v of its value heads | z of them] and [b of them | a of them]. Their
// rows are put into the order of the convolution, q, k, v, z, b, a, once, when the layer is made.
// Source: Yang, Kautz & Hatamizadeh 2024; names, order and epsilons: Hugging Face Transformers, models/qwen3_next.
#include <cmath>

#include "foundation/activation.hpp"
#include "layers/kinds.hpp"
#include "layers/norms.hpp"
#include "layers/projection.hpp"
#include "layers/weights.hpp"
#include "linearmem/causal_conv.hpp"
#include "linearmem/delta_rule.hpp"

namespace linearmem::layers {
namespace {

std::int64_t keys(const GatedDeltaNetSizes& s) { return s.key_heads * s.key_width; }
std::int64_t values(const GatedDeltaNetSizes& s) { return s.value_heads * s.value_width; }
std::int64_t channels(const GatedDeltaNetSizes& s) { return 2 * keys(s) + values(s); }

// Puts `count` rows of a matrix, from row `first`, at the projection's rows from `to` on.
template <typename T>
void move_rows(const std::vector<T>& matrix, std::int64_t first, std::int64_t count, std::int64_t to, Projection<T>& projection) {
  for (std::int64_t i = 0; i < count; ++i) projection.set_row(to + i, matrix.data() + (first + i) * projection.from());
}

template <typename T>
Projection<T> ungrouped(const GatedDeltaNetSizes& s, const Weights<T>& weights) {
  const std::vector<T> qkvz = weights("in_proj_qkvz.weight"), ba = weights("in_proj_ba.weight");
  const std::int64_t K = s.key_width, shared = s.value_heads / s.key_heads, width = shared * s.value_width;
  Projection<T> projection(s.model_width, channels(s) + values(s) + 2 * s.value_heads);
  for (std::int64_t h = 0; h < s.key_heads; ++h) {
    const std::int64_t group = h * (2 * K + 2 * width), after = channels(s) + values(s);
    move_rows(qkvz, group, K, h * K, projection);
    move_rows(qkvz, group + K, K, keys(s) + h * K, projection);
    move_rows(qkvz, group + 2 * K, width, 2 * keys(s) + h * width, projection);
    move_rows(qkvz, group + 2 * K + width, width, channels(s) + h * width, projection);
    move_rows(ba, h * 2 * shared, shared, after + h * shared, projection);
    move_rows(ba, h * 2 * shared + shared, shared, after + s.value_heads + h * shared, projection);
  }
  return projection;
}

template <typename T>
class GatedDeltaNet final : public PackedLayer<T> {
 public:
  GatedDeltaNet(const GatedDeltaNetSizes& sizes, const Weights<T>& weights)
      : s_(sizes), in_(ungrouped(sizes, weights)), out_(values(sizes), sizes.model_width), conv_(weights("conv1d.weight")),
        dt_bias_(weights("dt_bias")), rate_(weights("A_log")), norm_(weights("norm.weight")) {
    out_.set_rows(weights("out_proj.weight").data(), nullptr);
    for (T& rate : rate_) rate = std::exp(rate);
  }

  std::string_view kind() const override { return kGatedDeltaNet; }
  std::int64_t width() const override { return s_.model_width; }

  LayerStateLayout state_layout() const override { return layout_of(s_, compute_dtype<T>()); }

 private:
  struct Gates {
    Rows<T> beta, g;  // [tokens,Hv]
  };

  Gates gates(const Call<T>& call, const Rows<T>& projected) const {
    const std::int64_t Hv = s_.value_heads, at = channels(s_) + values(s_);
    Gates gates{Rows<T>(projected.tokens(), Hv), Rows<T>(projected.tokens(), Hv)};
    for (std::int64_t t = 0; t < projected.tokens(); ++t) {
      const T* b = projected.row(t) + at;
      const T* a = b + Hv;
      for (std::int64_t h = 0; h < Hv; ++h) {
        gates.beta.row(t)[h] = T{1} / (T{1} + std::exp(-b[h]));
        gates.g.row(t)[h] = -rate_[static_cast<std::size_t>(h)] * softplus(a[h] + dt_bias_[static_cast<std::size_t>(h)]);
      }
    }
    call.show("b", projected, at, {Hv});
    call.show("a", projected, at + Hv, {Hv});
    call.show("beta", gates.beta, 0, {Hv});
    call.show("g", gates.g, 0, {Hv});
    return gates;
  }

  Result<Rows<T>> convolved(const Call<T>& call, Rows<T>& projected) const {
    const std::int64_t C = channels(s_), past = s_.conv_width - 1, N = call.requests();
    GatheredState<T> state(call, 0, C * past);
    const View<T, 3> kept(state.data(), {N, C, past});
    Rows<T> y(projected.tokens(), C);
    call.show("mixed_qkv", projected, 0, {C});
    call.show("z", projected, C, {s_.value_heads, s_.value_width});
    const Status status = causal_conv(CausalConvArguments<T>{.x = projected.columns(0, C), .weight = View<const T, 2>(conv_.data(), {C, s_.conv_width}),
                                                             .state = kept, .cu_seqlens = call.cu_seqlens(), .executor = call.executor(),
                                                             .y = y.columns(0, C), .final_state = kept});
    if (!status.ok()) return status;
    state.put_back();
    call.show("query", y, 0, {s_.key_heads, s_.key_width});
    call.show("key", y, keys(s_), {s_.key_heads, s_.key_width});
    call.show("value", y, 2 * keys(s_), {s_.value_heads, s_.value_width});
    return y;
  }

  Result<Rows<T>> remembered(const Call<T>& call, Rows<T>& qkv, Gates& gates) const {
    const std::int64_t H = s_.key_heads, Hv = s_.value_heads, K = s_.key_width, V = s_.value_width;
    GatheredState<T> state(call, 1, Hv * K * V);
    const View<T, 4> S(state.data(), {call.requests(), Hv, K, V});
    Rows<T> o(qkv.tokens(), Hv * V);
    const Status status = delta_rule(DeltaRuleArguments<T>{.q = qkv.heads(0, H, K), .k = qkv.heads(keys(s_), H, K), .v = qkv.heads(2 * keys(s_), Hv, V),
                                                           .beta = gates.beta.columns(0, Hv), .g = gates.g.columns(0, Hv), .state = S,
                                                           .cu_seqlens = call.cu_seqlens(), .allow_growth = true,  // g is at most 0 as it is made
                                                           .l2norm = true, .executor = call.executor(), .o = o.heads(0, Hv, V), .final_state = S});
    if (!status.ok()) return status;
    state.put_back();
    call.show("core_attn_out", o, 0, {Hv, V});
    return o;
  }

  Result<Rows<T>> run(Call<T>& call) const override {
    Rows<T> projected = in_(call.executor(), call.x);
    Gates strengths = gates(call, projected);
    auto qkv = convolved(call, projected);
    if (!qkv.ok()) return qkv.status();
    auto o = remembered(call, qkv.value(), strengths);
    if (!o.ok()) return o.status();
    for (std::int64_t t = 0; t < o.value().tokens(); ++t)
      for (std::int64_t h = 0; h < s_.value_heads; ++h) {
        T* row = o.value().row(t) + h * s_.value_width;
        rms_norm(row, s_.value_width, norm_.data(), s_.norm_eps);
        multiply_silu(row, projected.row(t) + channels(s_) + h * s_.value_width, s_.value_width);
      }
    call.show("norm", o.value(), 0, {s_.value_heads, s_.value_width});
    Rows<T> y = out_(call.executor(), o.value());
    call.show("out", y, 0, {s_.model_width});
    return y;
  }

  GatedDeltaNetSizes s_;
  Projection<T> in_, out_;
  std::vector<T> conv_, dt_bias_, rate_, norm_;
};

}  // namespace

LayerStateLayout layout_of(const GatedDeltaNetSizes& s, DType dtype) {
  return {.layer = kGatedDeltaNet,
          .parts = {{"conv_state", {channels(s), s.conv_width - 1}, dtype},
                    {"recurrent_state", {s.value_heads, s.key_width, s.value_width}, dtype}},
          .ledger = {.shape = {.kind = LayerKind::gated_delta_rule, .heads = s.value_heads, .key_heads = s.key_heads,
                               .key_width = s.key_width, .value_width = s.value_width, .conv_channels = channels(s), .conv_width = s.conv_width}}};
}

std::vector<LayerWeight> weights_of(const GatedDeltaNetSizes& s) {
  return {{"in_proj_qkvz.weight", {2 * keys(s) + 2 * values(s), s.model_width}},
          {"in_proj_ba.weight", {2 * s.value_heads, s.model_width}},
          {"conv1d.weight", {channels(s), 1, s.conv_width}},
          {"dt_bias", {s.value_heads}},
          {"A_log", {s.value_heads}},
          {"norm.weight", {s.value_width}},
          {"out_proj.weight", {s.model_width, values(s)}}};
}

template <typename T>
std::unique_ptr<Layer<T>> make_kind(const GatedDeltaNetSizes& sizes, const NamedTensors& weights) {
  return std::make_unique<GatedDeltaNet<T>>(sizes, Weights<T>(weights));
}
template std::unique_ptr<Layer<float>> make_kind<float>(const GatedDeltaNetSizes&, const NamedTensors&);
template std::unique_ptr<Layer<double>> make_kind<double>(const GatedDeltaNetSizes&, const NamedTensors&);

}  // namespace linearmem::layers
