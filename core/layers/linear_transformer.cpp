// The Linear Transformer layer: an encoder layer whose causal attention is linear, with feature elu + 1.
//   h = norm1(x + linear attention(x)), out = norm2(h + act(h W1 + b1) W2 + b2)
// Source: Katharopoulos, Vyas, Pappas & Fleuret 2020; names and the order of norms: idiap/fast-transformers, TransformerEncoderLayer.
#include "layers/kinds.hpp"
#include "layers/transformer_parts.hpp"
#include "linearmem/linear_attention.hpp"

namespace linearmem::layers {
namespace {

template <typename T>
class LinearTransformer final : public PackedLayer<T> {
 public:
  LinearTransformer(const LinearTransformerSizes& sizes, const Weights<T>& weights) : s_(sizes), parts_(sizes, weights) {}

  std::string_view kind() const override { return kLinearTransformer; }
  std::int64_t width() const override { return s_.model_width; }

  LayerStateLayout state_layout() const override { return layout_of(s_, compute_dtype<T>()); }

 private:
  Result<Rows<T>> run(Call<T>& call) const override {
    const std::int64_t H = s_.heads, K = s_.key_width, V = s_.value_width, N = call.requests();
    Rows<T> q = parts_.q(call.executor(), call.x), k = parts_.k(call.executor(), call.x), v = parts_.v(call.executor(), call.x);
    call.show("queries", q, 0, {H, K});
    call.show("keys", k, 0, {H, K});
    call.show("values", v, 0, {H, V});
    GatheredState<T> state(call, 0, H * K * V), normalizer(call, 1, H * K);
    const View<T, 4> S(state.data(), {N, H, K, V});
    const View<T, 3> z(normalizer.data(), {N, H, K});
    Rows<T> o(q.tokens(), H * V);
    const Status status = linear_attention(LinearAttentionArguments<T>{.q = q.heads(0, H, K), .k = k.heads(0, H, K), .v = v.heads(0, H, V), .state = S,
                                                                       .z = z, .cu_seqlens = call.cu_seqlens(), .eps = s_.eps,
                                                                       .executor = call.executor(), .o = o.heads(0, H, V), .final_state = S, .final_z = z});
    if (!status.ok()) return status;
    state.put_back();
    normalizer.put_back();
    call.show("attention", o, 0, {H, V});
    return parts_.finish(call, call.x, o);
  }

  LinearTransformerSizes s_;
  TransformerParts<T> parts_;
};

}  // namespace

LayerStateLayout layout_of(const LinearTransformerSizes& s, DType dtype) {
  return {.layer = kLinearTransformer,
          .parts = {{"recurrent_state", {s.heads, s.key_width, s.value_width}, dtype}, {"normalizer", {s.heads, s.key_width}, dtype}},
          .ledger = {.shape = {.kind = LayerKind::linear_attention, .heads = s.heads, .key_width = s.key_width,
                               .value_width = s.value_width, .normalizer = true}}};
}

std::vector<LayerWeight> weights_of(const LinearTransformerSizes& sizes) { return transformer_weights(sizes); }

template <typename T>
std::unique_ptr<Layer<T>> make_kind(const LinearTransformerSizes& sizes, const NamedTensors& weights) {
  return std::make_unique<LinearTransformer<T>>(sizes, Weights<T>(weights));
}
template std::unique_ptr<Layer<float>> make_kind<float>(const LinearTransformerSizes&, const NamedTensors&);
template std::unique_ptr<Layer<double>> make_kind<double>(const LinearTransformerSizes&, const NamedTensors&);

}  // namespace linearmem::layers
