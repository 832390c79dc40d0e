#include "host/matrix_state.hpp"

#include <cmath>
#include <string>

#include "host/transfer.hpp"
#include "kernels/kernels.hpp"

namespace linearmem::cuda {
namespace {

// The kernels of one kind, by the rows that their threads hold.
struct Variant {
  int padded_rows, parts, kernel;
};

template <bool kCorrects, bool kByKey>
constexpr Variant kVariants[] = {{16, 4, kernel_number<MatrixState<4, 4, kCorrects, kByKey>>()},
                                 {64, 4, kernel_number<MatrixState<4, 16, kCorrects, kByKey>>()},
                                 {128, 4, kernel_number<MatrixState<4, 32, kCorrects, kByKey>>()},
                                 {256, 8, kernel_number<MatrixState<8, 32, kCorrects, kByKey>>()}};

const Variant* variant_for(std::int64_t K, bool corrects, bool by_key) {
  const Variant* added = by_key ? kVariants<false, true> : kVariants<false, false>;
  const Variant* corrected = by_key ? kVariants<true, true> : kVariants<true, false>;
  const Variant* variants = corrects ? corrected : added;
  for (int i = 0; i < 4; ++i)
    if (K <= variants[i].padded_rows) return variants + i;
  return nullptr;
}

constexpr int kLeastColumns = 8, kMostColumns = 32;  // of a block: whole warps of four threads a column at least

// Wide blocks share more of a staged row; narrow ones are more, which counts while processors have less than two blocks each.
int columns_for(std::int64_t heads, std::int64_t V, std::int64_t processors) {
  int columns = kMostColumns;
  while (columns > kLeastColumns && (columns / 2 >= V || heads * ((V + columns - 1) / columns) < 2 * processors)) columns /= 2;
  return columns;
}

template <typename T>
View<T, 4> with_axis(const View<T, 3>& view) {
  if (!view.given()) return {};
  return {view.data(), {view.extent(0), view.extent(1), view.extent(2), 1}, {view.stride(0), view.stride(1), view.stride(2), 1}};
}

float scale_of(const std::optional<double>& scale, std::int64_t K) {
  return static_cast<float>(scale.value_or(1.0 / std::sqrt(static_cast<double>(K))));
}

// What linear attention's S and z have in common.
MatrixStateArguments linear_arguments(const LinearAttentionArguments<float>& a, const View<const std::int64_t, 1>& checkpoint_rows) {
  MatrixStateArguments m{};
  m.q = array_of(a.q);
  m.k = array_of(a.k);
  m.gate = array_of(a.g);
  m.gate_by_key = array_of(a.g_key);
  m.mask = array_of(a.key_mask);
  m.cu_seqlens = array_of(a.cu_seqlens);
  m.checkpoint_rows = array_of(checkpoint_rows);
  m.T = a.q.extent(1), m.H = a.q.extent(2), m.K = a.q.extent(3);
  m.q_group = 1, m.k_group = m.v_group = a.q.extent(2) / a.k.extent(2);
  m.checkpoint_every = a.checkpoint_every;
  m.scale = 1;
  m.feature = a.feature == Feature::elu1 ? KeyFeature::elu1 : a.feature == Feature::relu ? KeyFeature::relu : KeyFeature::identity;
  m.causal = a.causal;
  return m;
}

}  // namespace

Result<MatrixStatePlan> plan_matrix_state(const char* door, std::int64_t N, bool corrects, bool by_key, const Limits& limits,
                                          MatrixStateArguments& a) {
  const Variant* variant = variant_for(a.K, corrects, by_key);
  if (!variant)
    return Status::unavailable(std::string(door) + ": K is " + std::to_string(a.K) + ", backend cuda keeps keys of at most " +
                               std::to_string(kMostKeyWidth) + " components");
  a.columns = columns_for(N * a.H, a.V, limits.processors);
  a.tiles = static_cast<int>((a.V + a.columns - 1) / a.columns);
  MatrixStatePlan plan{variant->kernel, N * a.H * a.tiles, a.columns * variant->parts, 0};
  plan.shared_bytes = 4 * matrix_state_shared_floats(variant->padded_rows, by_key, a.columns);
  if (plan.shared_bytes > limits.shared_bytes_per_block)
    return Status::unavailable(std::string(door) + ": K is " + std::to_string(a.K) + ", which needs " + std::to_string(plan.shared_bytes) +
                               " bytes of shared memory; a block of this device has " + std::to_string(limits.shared_bytes_per_block));
  return plan;
}

MatrixStateArguments matrix_state_arguments(const DeltaRuleArguments<float>& a, const View<const std::int64_t, 1>& checkpoint_rows) {
  MatrixStateArguments m{};
  m.q = array_of(a.q);
  m.k = array_of(a.k);
  m.v = array_of(a.v);
  m.strength = array_of(a.beta);
  m.gate = array_of(a.g);
  m.gate_by_key = array_of(a.g_key);
  m.cu_seqlens = array_of(a.cu_seqlens);
  m.checkpoint_rows = array_of(checkpoint_rows);
  m.state = array_of(a.state);
  m.o = array_of(a.o);
  m.reads = array_of(a.reads);
  m.final_state = array_of(a.final_state);
  m.checkpoints = array_of(a.checkpoints);
  m.T = a.q.extent(1), m.H = a.v.extent(2), m.K = a.q.extent(3), m.V = a.v.extent(3);
  m.q_group = m.k_group = a.v.extent(2) / a.q.extent(2), m.v_group = 1;
  m.checkpoint_every = a.checkpoint_every;
  m.scale = scale_of(a.scale, m.K);
  m.feature = KeyFeature::identity;
  m.l2norm = a.l2norm;
  m.causal = true;
  return m;
}

MatrixStateArguments matrix_state_arguments(const LinearAttentionArguments<float>& a, const View<const std::int64_t, 1>& checkpoint_rows) {
  MatrixStateArguments m = linear_arguments(a, checkpoint_rows);
  m.v = array_of(a.v);
  m.state = array_of(a.state);
  m.o = array_of(a.o);
  m.final_state = array_of(a.final_state);
  m.checkpoints = array_of(a.checkpoints);
  m.V = a.v.extent(3);
  m.eps = static_cast<float>(a.eps);
  return m;
}

MatrixStateArguments count_arguments(const LinearAttentionArguments<float>& a, const View<const std::int64_t, 1>& checkpoint_rows,
                                     const View<float, 4>& denominators) {
  MatrixStateArguments m = linear_arguments(a, checkpoint_rows);
  m.state = array_of(with_axis(a.z));
  m.o = array_of(denominators);
  m.final_state = array_of(with_axis(a.final_z));
  m.checkpoints = array_of(with_axis(a.checkpoints_z));
  m.V = 1;
  return m;
}

MatrixStateArguments matrix_state_arguments(const SsdArguments<float>& a) {
  MatrixStateArguments m{};
  m.q = array_of(a.C);
  m.k = array_of(a.B);
  m.v = array_of(a.x);
  m.strength = m.gate = array_of(a.dt);
  m.rate = array_of(a.A);
  m.skip = array_of(a.D);
  m.cu_seqlens = array_of(a.cu_seqlens);
  m.state = array_of(a.state);
  m.o = array_of(a.y);
  m.final_state = array_of(a.final_state);
  m.T = a.x.extent(1), m.H = a.x.extent(2), m.K = a.B.extent(3), m.V = a.x.extent(3);
  m.q_group = m.k_group = a.x.extent(2) / a.B.extent(2), m.v_group = 1;
  m.scale = 1;
  m.feature = KeyFeature::identity;
  m.causal = true;
  return m;
}

}  // namespace linearmem::cuda
