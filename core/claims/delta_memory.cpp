#include <algorithm>
#include <cmath>

#include "claims/memories.hpp"
#include "linearmem/delta_rule.hpp"

namespace linearmem {
namespace {

View<const double, 4> one_head(const Matrix& m) { return {m.data(), {1, m.extents()[0], 1, m.extents()[1]}}; }

// The rule with one step out of order, for the reader to see what falls. Everything else is as in delta_rule.hpp.
DeltaMemory out_of_order(const NotesInputs& in, const DeltaSettings& settings, const Mistakes& mistakes) {
  const std::int64_t T = in.k.extents()[0], K = in.k.extents()[1], V = in.v.extents()[1];
  DeltaMemory memory{Matrix({T, V}), Matrix({T, V}), settings.S0.value_or(Matrix({K, V}))};
  for (std::int64_t t = 0; t < T; ++t) {
    const Matrix q = slice(in.q, t, t + 1), k = slice(in.k, t, t + 1), undecayed = memory.S;
    if (!settings.alpha.empty())
      for (double& s : memory.S.values()) s *= settings.alpha[t];
    if (mistakes.count(Mistake::read_before_write)) std::copy_n(times(q, memory.S).data(), V, &memory.o(t, 0));
    const Matrix read = times(k, mistakes.count(Mistake::error_before_decay) ? undecayed : memory.S);
    for (std::int64_t j = 0; j < V; ++j) {
      memory.reads(t, j) = read(0, j);
      for (std::int64_t i = 0; i < K; ++i) memory.S(i, j) += settings.beta[t] * k(0, i) * (in.v(t, j) - read(0, j));
    }
    if (!mistakes.count(Mistake::read_before_write)) std::copy_n(times(q, memory.S).data(), V, &memory.o(t, 0));
  }
  return memory;
}

template <typename T>
std::vector<T> log_decay(const std::vector<double>& alpha) {
  std::vector<T> g;
  for (double factor : alpha) g.push_back(static_cast<T>(std::log(factor)));
  return g;
}

DeltaMemory through_the_door(const NotesInputs& in, const DeltaSettings& settings) {
  const std::int64_t T = in.k.extents()[0], K = in.k.extents()[1], V = in.v.extents()[1];
  const auto N = settings.cu_seqlens.empty() ? std::int64_t{1} : static_cast<std::int64_t>(settings.cu_seqlens.size()) - 1;
  const auto g = log_decay<double>(settings.alpha);
  DeltaMemory memory{missing(T, V), missing(T, V), missing(N * K, V)};
  DeltaRuleArguments<double> call{.q = one_head(in.q), .k = one_head(in.k), .v = one_head(in.v), .beta = {settings.beta.data(), {1, T, 1}},
                                  .scale = 1.0, .form = settings.form, .chunk = settings.chunk,
                                  .o = {memory.o.data(), {1, T, 1, V}}, .reads = {memory.reads.data(), {1, T, 1, V}},
                                  .final_state = {memory.S.data(), {N, 1, K, V}}};
  if (!g.empty()) call.g = {g.data(), {1, T, 1}};
  if (settings.S0) call.state = {settings.S0->data(), {1, 1, K, V}};
  if (!settings.cu_seqlens.empty()) call.cu_seqlens = {settings.cu_seqlens.data(), {N + 1}};
  if (!delta_rule(call).ok()) return {missing(T, V), missing(T, V), missing(N * K, V)};
  return memory;
}

std::vector<float> to_float(const std::vector<double>& values) { return {values.begin(), values.end()}; }
void from_float(const std::vector<float>& values, Matrix& to) { to.values().assign(values.begin(), values.end()); }

DeltaMemory in_float32(const NotesInputs& in, const DeltaSettings& settings) {
  const std::int64_t T = in.k.extents()[0], K = in.k.extents()[1], V = in.v.extents()[1];
  const auto q = to_float(in.q.values()), k = to_float(in.k.values()), v = to_float(in.v.values()), beta = to_float(settings.beta);
  const auto g = log_decay<float>(settings.alpha), S0 = settings.S0 ? to_float(settings.S0->values()) : std::vector<float>{};
  std::vector<float> o(T * V), reads(T * V), S(K * V);
  DeltaRuleArguments<float> call{.q = {q.data(), {1, T, 1, K}}, .k = {k.data(), {1, T, 1, K}}, .v = {v.data(), {1, T, 1, V}},
                                 .beta = {beta.data(), {1, T, 1}}, .scale = 1.0, .form = settings.form, .chunk = settings.chunk, .o = {o.data(), {1, T, 1, V}},
                                 .reads = {reads.data(), {1, T, 1, V}}, .final_state = {S.data(), {1, 1, K, V}}};
  if (!g.empty()) call.g = {g.data(), {1, T, 1}};
  if (settings.S0) call.state = {S0.data(), {1, 1, K, V}};
  DeltaMemory memory{missing(T, V), missing(T, V), missing(K, V)};
  if (!delta_rule(call).ok()) return memory;
  from_float(o, memory.o);
  from_float(reads, memory.reads);
  from_float(S, memory.S);
  return memory;
}

}  // namespace

DeltaMemory delta_memory(const NotesInputs& in, const DeltaSettings& settings, const Mistakes& mistakes) {
  if (mistakes.count(Mistake::single_precision)) return in_float32(in, settings);
  if (mistakes.count(Mistake::read_before_write) || mistakes.count(Mistake::error_before_decay)) return out_of_order(in, settings, mistakes);
  return through_the_door(in, settings);
}

}  // namespace linearmem
