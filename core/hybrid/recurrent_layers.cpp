// Layers with a fixed state: their rooms carry it, packed sequences and all.
#include <cmath>

#include "hybrid/layer.hpp"
#include "hybrid/projection.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/linear_attention.hpp"

namespace linearmem::stack {
namespace {

// Both are written so that exp never overflows.
template <typename T>
T sigmoid(T s) {
  const T small = std::exp(-std::abs(s));
  return (s < T{0} ? small : T{1}) / (T{1} + small);
}
template <typename T>
T log_sigmoid(T s) {
  return (s < T{0} ? s : T{0}) - std::log1p(std::exp(-std::abs(s)));
}

}  // namespace

template <typename T>
Status delta_layer(Layer<T>& layer) {
  const auto& a = layer.a;
  Tensor<T, 3> beta({a.hidden.extent(0), a.hidden.extent(1), a.wq.extent(2)}, T{1}), g;
  if (a.wbeta.given()) {
    beta = project(a.executor, layer.x, entry(a.wbeta, layer.index));
    for (T& value : beta.values()) value = sigmoid(value);
  }
  if (a.wg.given()) {
    g = project(a.executor, layer.x, entry(a.wg, layer.index));
    for (T& value : g.values()) value = log_sigmoid(value);
  }
  DeltaRuleArguments<T> call{.q = layer.q.view(), .k = layer.k.view(), .v = layer.v.view(), .beta = beta.view(),
                             .state = entry(a.delta_state, layer.index), .cu_seqlens = a.cu_seqlens, .l2norm = true, .form = a.form,
                             .chunk = a.chunk, .executor = a.executor, .o = layer.o.view(),
                             .final_state = entry(a.final_delta_state, layer.index)};
  if (a.wg.given()) call.g = g.view();
  return delta_rule(call);
}

template <typename T>
Status linear_layer(Layer<T>& layer) {
  const auto& a = layer.a;
  return linear_attention(LinearAttentionArguments<T>{
      .q = layer.q.view(), .k = layer.k.view(), .v = layer.v.view(), .state = entry(a.linear_state, layer.index),
      .z = entry(a.linear_z, layer.index), .cu_seqlens = a.cu_seqlens, .form = a.form, .chunk = a.chunk, .executor = a.executor,
      .o = layer.o.view(), .final_state = entry(a.final_linear_state, layer.index), .final_z = entry(a.final_linear_z, layer.index)});
}

template Status delta_layer(Layer<float>&);
template Status delta_layer(Layer<double>&);
template Status linear_layer(Layer<float>&);
template Status linear_layer(Layer<double>&);

}  // namespace linearmem::stack
