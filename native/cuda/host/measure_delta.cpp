// The gated delta rule, as a prefill and as one token for many requests.
#include <cmath>
#include <optional>
#include <string>

#include "host/chunked.hpp"
#include "host/device_backend.hpp"
#include "host/measure.hpp"
#include "host/transfer.hpp"
#include "linearmem/delta_rule.hpp"

namespace linearmem::cuda {
namespace {

// The gated delta rule over B sequences of T tokens, K = V, with a state before the first token.
class DeltaCase {
 public:
  DeltaCase(Device& device, Form form, std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t K)
      : device_(device), there_(device), q_(drawn<4>({B, T, H, K}, 1, -1, 1)),
        k_(drawn<4>({B, T, H, K}, 2, -1 / std::sqrt(static_cast<float>(K)), 1 / std::sqrt(static_cast<float>(K)))),
        v_(drawn<4>({B, T, H, K}, 3, -1, 1)), state_(drawn<4>({B, H, K, K}, 4, -1, 1)), o_({B, T, H, K}), final_state_({B, H, K, K}),
        beta_(drawn<3>({B, T, H}, 5, 0, 1)), g_(drawn<3>({B, T, H}, 6, -1, 0)) {
    on_device_.q = there_.up(q_.view()), on_device_.k = there_.up(k_.view()), on_device_.v = there_.up(v_.view());
    on_device_.beta = there_.up(beta_.view()), on_device_.g = there_.up(g_.view()), on_device_.state = there_.up(state_.view());
    on_device_.o = there_.out(o_.view()), on_device_.final_state = there_.out(final_state_.view());
    if (form != Form::chunked || !there_.status().ok()) return;
    const auto chunked = prepare_chunked(device, there_, on_device_, chunks_of({}, T, B));
    there_.keep(chunked.status());
    if (chunked.ok()) chunked_ = chunked.value();
  }

  Status launch() const { return chunked_ ? launch_chunked(device_, *chunked_) : launch_delta_rule(device_, on_device_, q_.extents()[0]); }

  // Once, and the outputs fetched.
  Status run() {
    if (there_.status().ok()) there_.keep(launch());
    return there_.down();
  }

  // Of the last head of the last sequence, against the definition.
  Result<double> error() const {
    const std::int64_t T = q_.extents()[1], K = q_.extents()[3];
    const Widened<4> q(last(q_)), k(last(k_)), v(last(v_)), state(last(state_));
    const Widened<3> beta(last(beta_)), g(last(g_));
    Tensor<double, 4> o({1, T, 1, K}), final_state({1, 1, K, K});
    const Status status = delta_rule(DeltaRuleArguments<double>{.q = q.view(), .k = k.view(), .v = v.view(), .beta = beta.view(), .g = g.view(),
                                                                .state = state.view(), .form = Form::reference, .o = o.view(),
                                                                .final_state = final_state.view()});
    if (!status.ok()) return status;
    return difference<4>(last(o_), o.view()) + difference<4>(last(final_state_), final_state.view());
  }

 private:
  // [1,T,1,K] out of [B,T,H,K], [1,1,K,V] out of [B,H,K,V], [1,T,1] out of [B,T,H].
  View<const float, 4> last(const Tensor<float, 4>& tensor) const {
    const Extents<4>& extents = tensor.extents();
    if (&tensor == &state_ || &tensor == &final_state_)
      return {&tensor(extents[0] - 1, extents[1] - 1, 0, 0), {1, 1, extents[2], extents[3]}, tensor.view().strides()};
    return {&tensor(extents[0] - 1, 0, extents[2] - 1, 0), {1, extents[1], 1, extents[3]}, tensor.view().strides()};
  }
  View<const float, 3> last(const Tensor<float, 3>& tensor) const {
    const Extents<3>& extents = tensor.extents();
    return {&tensor(extents[0] - 1, 0, extents[2] - 1), {1, extents[1], 1}, tensor.view().strides()};
  }

  Device& device_;
  Transfer there_;
  const Tensor<float, 4> q_, k_, v_, state_;
  Tensor<float, 4> o_, final_state_;
  const Tensor<float, 3> beta_, g_;
  DeltaRuleArguments<float> on_device_;
  std::optional<ChunkedCall> chunked_;  // in bfloat16; none: recurrent, in float32
};

struct Setting {
  const char* name;
  Form form;
  std::int64_t B, T, H;
};

std::string shape_of(const Setting& s, std::int64_t K) {
  const auto text = [](const char* axis, std::int64_t size) { return axis + std::to_string(size); };
  return text("B ", s.B) + text(", T ", s.T) + text(", H ", s.H) + text(", K = V = ", K) + (s.form == Form::chunked ? ", bf16" : ", f32");
}

Result<CudaMeasurement> measure_delta(const MeasureRun& run, const Setting& setting, double tolerance, const CudaLimit& limit) {
  const std::int64_t K = run.sizes.width;
  const std::string name = std::string("gated-delta-rule, ") + setting.name;
  DeltaCase subject(run.device, setting.form, setting.B, setting.T, setting.H, K);
  if (Status status = subject.run(); !status.ok()) return status;
  const auto error = subject.error();
  if (!error.ok()) return error.status();
  if (!(error.value() <= tolerance)) return not_the_definition(name, error.value());
  const auto seconds = median_seconds(run.device, run.rounds, [&] { return subject.launch(); });
  if (!seconds.ok()) return seconds.status();
  const auto tokens = static_cast<double>(setting.B * setting.T * setting.H), square = static_cast<double>(K * K);
  return CudaMeasurement{name, shape_of(setting, K), error.value(), seconds.value(), 7 * tokens * square,
                         4 * (tokens * static_cast<double>(4 * K + 2) + 2 * static_cast<double>(setting.B * setting.H) * square), limit};
}

}  // namespace

Result<CudaMeasurement> measure_delta_prefill(const MeasureRun& run) {
  return measure_delta(run, {"prefill", Form::recurrent, 1, run.sizes.tokens, run.sizes.heads}, kMeasureTolerance, run.limits.multiply_add);
}

Result<CudaMeasurement> measure_delta_decode(const MeasureRun& run) {
  return measure_delta(run, {"decode", Form::recurrent, run.sizes.requests, 1, run.sizes.decode_heads}, kMeasureTolerance, run.limits.copy);
}

// The recurrent form's nominal operations, so that both rows count the same work; what chunks compute is more.
Result<CudaMeasurement> measure_delta_chunked(const MeasureRun& run) {
  const Setting setting = {"prefill in chunks", Form::chunked, 1, run.sizes.tokens, run.sizes.heads};
  if (run.device.limits().capability >= kTensorCapability) return measure_delta(run, setting, kBFloatTolerance, run.limits.matrix_bfloat16);
  CudaMeasurement without{};
  without.name = std::string("gated-delta-rule, ") + setting.name, without.shape = shape_of(setting, run.sizes.width);
  without.missing = "needs tensor cores for bf16, compute capability 8.0";
  return without;
}

}  // namespace linearmem::cuda
