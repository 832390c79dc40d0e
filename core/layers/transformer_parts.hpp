// What a Linear Transformer layer and a Universal Transformer round have in common, around their attention:
//   q, k, v = x Wq + bq, ...;  h = norm1(x + o Wo + bo);  out = norm2(h + act(h W1 + b1) W2 + b2)
#pragma once

#include <vector>

#include "depth_recurrence/block.hpp"
#include "layers/norms.hpp"
#include "layers/weights.hpp"

namespace linearmem::layers {

template <typename T>
class TransformerParts {
 public:
  template <typename Sizes>
  TransformerParts(const Sizes& s, const Weights<T>& weights)
      : q(projection_of<T>(weights, "attention.query_projection", s.model_width, s.heads * s.key_width)),
        k(projection_of<T>(weights, "attention.key_projection", s.model_width, s.heads * s.key_width)),
        v(projection_of<T>(weights, "attention.value_projection", s.model_width, s.heads * s.value_width)),
        out_(projection_of<T>(weights, "attention.out_projection", s.heads * s.value_width, s.model_width)),
        first_(projection_of<T>(weights, "linear1", s.model_width, s.inner_width)),
        second_(projection_of<T>(weights, "linear2", s.inner_width, s.model_width)), activation_(s.activation), eps_(s.norm_eps),
        norm1_(weights("norm1.weight")), norm1_bias_(weights("norm1.bias")), norm2_(weights("norm2.weight")), norm2_bias_(weights("norm2.bias")) {}

  Projection<T> q, k, v;

  // From the attention's answers o [tokens, H V] to what the layer, or the round, gives.
  Rows<T> finish(const Call<T>& call, const Rows<T>& x, const Rows<T>& o) const {
    Rows<T> h = out_(call.executor(), o);
    add(x, h);
    layer_norm(h, norm1_.data(), norm1_bias_.data(), eps_);
    call.show("norm1", h, 0, {h.width()});
    Rows<T> inner = first_(call.executor(), h);
    for (std::int64_t t = 0; t < inner.tokens(); ++t)
      for (std::int64_t i = 0; i < inner.width(); ++i) inner.row(t)[i] = depth::activate(activation_, inner.row(t)[i]);
    Rows<T> y = second_(call.executor(), inner);
    add(h, y);
    layer_norm(y, norm2_.data(), norm2_bias_.data(), eps_);
    call.show("norm2", y, 0, {y.width()});
    return y;
  }

 private:
  static void add(const Rows<T>& x, Rows<T>& sum) {
    for (std::int64_t t = 0; t < sum.tokens(); ++t)
      for (std::int64_t i = 0; i < sum.width(); ++i) sum.row(t)[i] += x.row(t)[i];
  }

  Projection<T> out_, first_, second_;
  BlockActivation activation_;
  double eps_;
  std::vector<T> norm1_, norm1_bias_, norm2_, norm2_bias_;
};

template <typename Sizes>
std::vector<LayerWeight> transformer_weights(const Sizes& s) {
  std::vector<LayerWeight> weights;
  const auto linear = [&](const std::string& name, std::int64_t from, std::int64_t to) {
    weights.push_back({name + ".weight", {to, from}});
    weights.push_back({name + ".bias", {to}});
  };
  linear("attention.query_projection", s.model_width, s.heads * s.key_width);
  linear("attention.key_projection", s.model_width, s.heads * s.key_width);
  linear("attention.value_projection", s.model_width, s.heads * s.value_width);
  linear("attention.out_projection", s.heads * s.value_width, s.model_width);
  linear("linear1", s.model_width, s.inner_width);
  linear("linear2", s.inner_width, s.model_width);
  for (const char* name : {"norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"}) weights.push_back({name, {s.model_width}});
  return weights;
}

}  // namespace linearmem::layers
