#include <algorithm>
#include <cmath>

#include "claims/memories.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/softmax_attention.hpp"

namespace linearmem {
namespace {

View<const double, 4> one_head(const Matrix& m) { return {m.data(), {1, m.extents()[0], 1, m.extents()[1]}}; }

double elu1(double x) { return x > 0 ? x + 1 : std::exp(x); }

}  // namespace

LinearMemory linear_memory_read_first(const NotesInputs& in, double eps) {
  const std::int64_t T = in.q.extents()[0], K = in.q.extents()[1], V = in.v.extents()[1];
  LinearMemory memory{Matrix({T, V}), Matrix({K, V}), std::vector<double>(K)};
  for (std::int64_t t = 0; t < T; ++t) {
    double weight = eps;
    for (std::int64_t i = 0; i < K; ++i) weight += elu1(in.q(t, i)) * memory.z[i];
    for (std::int64_t i = 0; i < K; ++i)
      for (std::int64_t j = 0; j < V; ++j) memory.o(t, j) += elu1(in.q(t, i)) * memory.S(i, j) / weight;
    for (std::int64_t i = 0; i < K; ++i) {
      memory.z[i] += elu1(in.k(t, i));
      for (std::int64_t j = 0; j < V; ++j) memory.S(i, j) += elu1(in.k(t, i)) * in.v(t, j);
    }
  }
  return memory;
}

Matrix linear_memory_float32(const NotesInputs& in, Form form, double eps) {
  const std::int64_t T = in.q.extents()[0], K = in.q.extents()[1], V = in.v.extents()[1];
  const std::vector<float> q(in.q.values().begin(), in.q.values().end()), k(in.k.values().begin(), in.k.values().end()),
      v(in.v.values().begin(), in.v.values().end());
  std::vector<float> o(T * V);
  const Status status = linear_attention({.q = {q.data(), {1, T, 1, K}}, .k = {k.data(), {1, T, 1, K}}, .v = {v.data(), {1, T, 1, V}}, .eps = eps, .form = form,
                                          .o = View<float, 4>{o.data(), {1, T, 1, V}}});
  return status.ok() ? Matrix({T, V}, std::vector<double>(o.begin(), o.end())) : missing(T, V);
}

LinearMemory linear_memory(const NotesInputs& in, const LinearSettings& settings, const Mistakes& mistakes) {
  const std::int64_t T = in.q.extents()[0], K = in.q.extents()[1], V = in.v.extents()[1];
  if (mistakes.count(Mistake::read_before_write)) return linear_memory_read_first(in, settings.eps);
  LinearMemory memory{missing(T, V), missing(K, V), std::vector<double>(K, std::nan(""))};
  if (mistakes.count(Mistake::single_precision)) {
    memory.o = linear_memory_float32(in, settings.form, settings.eps);
    return memory;
  }
  LinearAttentionArguments<double> call{.q = one_head(in.q), .k = one_head(in.k), .v = one_head(in.v),
                                        .feature = settings.feature_map ? Feature::elu1 : Feature::identity, .eps = settings.eps,
                                        .normalize = settings.normalize, .causal = settings.causal && !mistakes.count(Mistake::no_causal_mask),
                                        .form = settings.form, .o = {memory.o.data(), {1, T, 1, V}},
                                        .final_state = {memory.S.data(), {1, 1, K, V}}, .final_z = {memory.z.data(), {1, 1, K}}};
  if (!settings.key_mask.empty()) call.key_mask = {settings.key_mask.data(), {1, T}};
  if (!linear_attention(call).ok()) return {missing(T, V), missing(K, V), std::vector<double>(K, std::nan(""))};
  return memory;
}

Matrix softmax_memory(const NotesInputs& in) {
  const std::int64_t T = in.q.extents()[0], V = in.v.extents()[1];
  Matrix o = missing(T, V);
  const Status status = softmax_attention(SoftmaxAttentionArguments<double>{
      .q = one_head(in.q), .k = one_head(in.k), .v = one_head(in.v), .o = {o.data(), {1, T, 1, V}}});
  return status.ok() ? o : missing(T, V);
}

}  // namespace linearmem
