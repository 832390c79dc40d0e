#include "host/device_backend.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/form_check.hpp"
#include "foundation/sequences.hpp"
#include "foundation/state_check.hpp"
#include "host/attention.hpp"
#include "host/chunked.hpp"
#include "host/knn.hpp"
#include "host/matrix_state.hpp"
#include "host/scan.hpp"
#include "host/transfer.hpp"

namespace linearmem::cuda {
namespace {

constexpr std::string_view kMechanisms[] = {"softmax-attention", "linear-attention", "delta-rule", "gated-delta-rule",
                                            "selective-scan",    "mamba-scan",       "ssd",        "knn"};

Status check_form_here(const char* door, Form form, Form only) {
  if (form == Form::automatic || form == only) return {};
  return Status::unavailable(std::string(door) + ": backend cuda has no form " + std::string(form_name(form)) + "; it has automatic, " +
                             std::string(form_name(only)));
}

// Of a matrix state: recurrent, and in bfloat16 chunked too, where what else is asked goes with it.
template <typename Arguments>
Status check_form_of_state(const char* door, const Arguments& a, MatrixPrecision precision) {
  if (a.form != Form::chunked && precision == MatrixPrecision::float32) return check_form_here(door, a.form, Form::recurrent);
  if (a.form == Form::chunked && precision == MatrixPrecision::float32)
    return Status::unavailable(std::string(door) + ": backend cuda has form chunked in matrix precision bf16 only, this one has f32; in f32 it has "
                                                   "automatic, recurrent");
  if (a.form == Form::chunked) return check_chunked(a);
  if (a.form == Form::automatic || a.form == Form::recurrent) return {};
  return Status::unavailable(std::string(door) + ": backend cuda has no form " + std::string(form_name(a.form)) +
                             "; in matrix precision bf16 it has automatic, recurrent, chunked");
}

// What `prepared` says, on the device; its scratch is the transfer's.
void launch_prepared(Device& device, Transfer& transfer, const Result<ChunkedCall>& prepared) {
  transfer.keep(prepared.ok() ? launch_chunked(device, prepared.value()) : prepared.status());
}

Status check_state(const char* door, const std::optional<StateType>& type) {
  if (!type || *type == StateType::float32) return {};
  return Status::unavailable(std::string(door) + ": state_type is " + std::string(state_type_name(*type)) + "; backend cuda keeps states in f32");
}

// Sequences of a call whose cu_seqlens is the host's.
std::int64_t sequences_of(const View<const std::int64_t, 1>& cu_seqlens, std::int64_t B) {
  return cu_seqlens.given() ? cu_seqlens.extent(0) - 1 : B;
}

std::vector<std::int64_t> checkpoint_rows_of(const View<const std::int64_t, 1>& cu_seqlens, std::int64_t T, std::int64_t every, std::int64_t N) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(N));
  for (std::size_t n = 1; n < rows.size(); ++n) rows[n] = rows[n - 1] + sequence_tokens(cu_seqlens, T, static_cast<std::int64_t>(n) - 1) / every;
  return rows;
}

// The first row of each sequence's checkpoints, on the device; absent where there are none.
View<const std::int64_t, 1> upload_checkpoint_rows(Transfer& transfer, const View<const std::int64_t, 1>& cu_seqlens, std::int64_t T,
                                                   std::int64_t every, std::int64_t N) {
  if (every == 0) return {};
  const std::vector<std::int64_t> rows = checkpoint_rows_of(cu_seqlens, T, every, N);
  return transfer.up(View<const std::int64_t, 1>(rows.data(), {N}));
}

Status launch_matrix_state(Device& device, const char* door, std::int64_t N, bool corrects, MatrixStateArguments a) {
  const auto plan = plan_matrix_state(door, N, corrects, a.gate_by_key.given(), device.limits(), a);
  if (!plan.ok()) return plan.status();
  const MatrixStatePlan& p = plan.value();
  return p.blocks == 0 ? Status() : device.launch({p.kernel, p.blocks, p.threads, p.shared_bytes, &a});
}

}  // namespace

bool DeviceBackend::computes(std::string_view mechanism) const {
  return std::find(std::begin(kMechanisms), std::end(kMechanisms), mechanism) != std::end(kMechanisms);
}

Status launch_delta_rule(Device& device, const DeltaRuleArguments<float>& on_device, std::int64_t sequences,
                         const View<const std::int64_t, 1>& checkpoint_rows) {
  return launch_matrix_state(device, "delta_rule", sequences, true, matrix_state_arguments(on_device, checkpoint_rows));
}

Status launch_linear_attention(Device& device, const LinearAttentionArguments<float>& on_device, std::int64_t sequences,
                               const View<float, 4>& denominators, const View<const std::int64_t, 1>& checkpoint_rows) {
  if (denominators.given()) {
    const auto count = count_arguments(on_device, checkpoint_rows, denominators);
    if (Status status = launch_matrix_state(device, "linear_attention", sequences, false, count); !status.ok()) return status;
  }
  MatrixStateArguments a = matrix_state_arguments(on_device, checkpoint_rows);
  if (on_device.normalize)
    a.denominators = {denominators.data(), {denominators.stride(0), denominators.stride(1), denominators.stride(2)}};
  return launch_matrix_state(device, "linear_attention", sequences, false, a);
}

Status DeviceBackend::run(const DeltaRuleArguments<float>& a) const {
  Status status = check_form_of_state("delta_rule", a, precision_);
  if (status.ok()) status = check_state("delta_rule", a.state_type);
  if (!status.ok()) return status;
  const std::int64_t N = sequences_of(a.cu_seqlens, a.q.extent(0));
  Transfer transfer(*device_);
  DeltaRuleArguments<float> there = a;
  there.q = transfer.up(a.q), there.k = transfer.up(a.k), there.v = transfer.up(a.v), there.beta = transfer.up(a.beta);
  there.g = transfer.up(a.g), there.g_key = transfer.up(a.g_key), there.state = transfer.up(a.state);
  const auto rows = upload_checkpoint_rows(transfer, a.cu_seqlens, a.q.extent(1), a.checkpoint_every, N);
  there.cu_seqlens = transfer.up(a.cu_seqlens);
  there.o = transfer.out(a.o), there.reads = transfer.out(a.reads);
  there.final_state = transfer.out(a.final_state), there.checkpoints = transfer.out(a.checkpoints);
  if (transfer.status().ok() && a.form == Form::chunked)
    launch_prepared(*device_, transfer, prepare_chunked(*device_, transfer, there, chunks_of(a.cu_seqlens, a.q.extent(1), N), rows));
  else if (transfer.status().ok())
    transfer.keep(launch_delta_rule(*device_, there, N, rows));
  return transfer.down();
}

Status DeviceBackend::run(const LinearAttentionArguments<float>& a) const {
  Status status = check_form_of_state("linear_attention", a, precision_);
  if (status.ok()) status = check_state("linear_attention", a.state_type);
  if (!status.ok()) return status;
  const std::int64_t B = a.q.extent(0), T = a.q.extent(1), H = a.q.extent(2), N = sequences_of(a.cu_seqlens, B);
  Transfer transfer(*device_);
  LinearAttentionArguments<float> there = a;
  there.q = transfer.up(a.q), there.k = transfer.up(a.k), there.v = transfer.up(a.v);
  there.g = transfer.up(a.g), there.g_key = transfer.up(a.g_key), there.state = transfer.up(a.state), there.z = transfer.up(a.z);
  there.key_mask = transfer.up(a.key_mask);
  const auto rows = upload_checkpoint_rows(transfer, a.cu_seqlens, T, a.checkpoint_every, N);
  there.cu_seqlens = transfer.up(a.cu_seqlens);
  there.o = transfer.out(a.o), there.final_state = transfer.out(a.final_state), there.final_z = transfer.out(a.final_z);
  there.checkpoints = transfer.out(a.checkpoints), there.checkpoints_z = transfer.out(a.checkpoints_z);
  if (a.form == Form::chunked) {
    if (transfer.status().ok())
      launch_prepared(*device_, transfer, prepare_chunked(*device_, transfer, there, chunks_of(a.cu_seqlens, T, N), rows));
    return transfer.down();
  }
  View<float, 4> denominators;
  if (a.normalize || a.final_z.given() || a.checkpoints_z.given())
    denominators = {transfer.room<float>(B * T * H), {B, T, H, 1}};
  if (transfer.status().ok()) transfer.keep(launch_linear_attention(*device_, there, N, denominators, rows));
  return transfer.down();
}

Status DeviceBackend::run(const SsdArguments<float>& a) const {
  if (Status status = check_form_of_state("ssd", a, precision_); !status.ok()) return status;
  Transfer transfer(*device_);
  SsdArguments<float> there = a;
  there.x = transfer.up(a.x), there.dt = transfer.up(a.dt), there.A = transfer.up(a.A), there.B = transfer.up(a.B), there.C = transfer.up(a.C);
  there.D = transfer.up(a.D), there.state = transfer.up(a.state), there.cu_seqlens = transfer.up(a.cu_seqlens);
  there.y = transfer.out(a.y), there.final_state = transfer.out(a.final_state);
  const std::int64_t N = sequences_of(a.cu_seqlens, a.x.extent(0));
  if (transfer.status().ok() && a.form == Form::chunked)
    launch_prepared(*device_, transfer, prepare_chunked(*device_, transfer, there, chunks_of(a.cu_seqlens, a.x.extent(1), N)));
  else if (transfer.status().ok())
    transfer.keep(launch_matrix_state(*device_, "ssd", N, false, matrix_state_arguments(there)));
  return transfer.down();
}

Status DeviceBackend::run(const SelectiveScanArguments<float>& a) const {
  if (Status status = check_form_here("selective_scan", a.form, Form::recurrent); !status.ok()) return status;
  Transfer transfer(*device_);
  SelectiveScanArguments<float> there = a;
  there.x = transfer.up(a.x), there.a = transfer.up(a.a), there.b = transfer.up(a.b), there.c = transfer.up(a.c);
  there.state = transfer.up(a.state), there.cu_seqlens = transfer.up(a.cu_seqlens);
  there.y = transfer.out(a.y), there.final_state = transfer.out(a.final_state);
  const ScanPlan plan = plan_scan(there, sequences_of(a.cu_seqlens, a.x.extent(0)));
  if (transfer.status().ok() && plan.blocks > 0) transfer.keep(device_->launch({plan.kernel, plan.blocks, plan.threads, 0, &plan.arguments}));
  return transfer.down();
}

Status DeviceBackend::run(const MambaScanArguments<float>& a) const {
  if (Status status = check_form_here("mamba_scan", a.form, Form::recurrent); !status.ok()) return status;
  Transfer transfer(*device_);
  MambaScanArguments<float> there = a;
  there.u = transfer.up(a.u), there.delta = transfer.up(a.delta), there.A = transfer.up(a.A), there.B = transfer.up(a.B), there.C = transfer.up(a.C);
  there.D = transfer.up(a.D), there.z = transfer.up(a.z), there.delta_bias = transfer.up(a.delta_bias);
  there.state = transfer.up(a.state), there.cu_seqlens = transfer.up(a.cu_seqlens);
  there.y = transfer.out(a.y), there.final_state = transfer.out(a.final_state);
  const auto plan = plan_mamba(there, sequences_of(a.cu_seqlens, a.u.extent(0)));
  if (!plan.ok()) return plan.status();
  const MambaPlan& p = plan.value();
  if (transfer.status().ok() && p.blocks > 0) transfer.keep(device_->launch({p.kernel, p.blocks, p.threads, 0, &p.arguments}));
  return transfer.down();
}

Status DeviceBackend::run(const SoftmaxAttentionArguments<float>& a) const {
  if (Status status = check_form_here("softmax_attention", a.form, Form::streaming); !status.ok()) return status;
  const std::int64_t T = a.q.extent(1), N = sequences_of(a.cu_seqlens, a.q.extent(0));
  std::int64_t longest = 0;
  for (std::int64_t n = 0; n < N; ++n) longest = std::max(longest, sequence_tokens(a.cu_seqlens, T, n));
  Transfer transfer(*device_);
  SoftmaxAttentionArguments<float> there = a;
  there.q = transfer.up(a.q), there.k = transfer.up(a.k), there.v = transfer.up(a.v);
  there.key_mask = transfer.up(a.key_mask), there.cu_seqlens = transfer.up(a.cu_seqlens);
  there.o = transfer.out(a.o);
  const auto plan = plan_attention(there, N, longest, device_->limits());
  if (!plan.ok()) return plan.status();
  const AttentionPlan& p = plan.value();
  if (transfer.status().ok() && p.blocks > 0) transfer.keep(device_->launch({p.kernel, p.blocks, p.threads, p.shared_bytes, &p.arguments}));
  return transfer.down();
}

}  // namespace linearmem::cuda
