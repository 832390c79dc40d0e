#include <algorithm>
#include <cmath>

#include "conventions/rules.hpp"
#include "foundation/activation.hpp"

namespace linearmem {
namespace {

// Ours, by the same means: every mechanism as it is.
Convention declare_linearmem() {
  Convention ours{"linearmem", "this library's own", {}};
  for (const Mechanism& mechanism : mechanisms()) {
    ConventionMechanism m{"linearmem", mechanism.name, mechanism.name, mechanism.room, {}, {}, mechanism.options, {}, nullptr};
    for (const InputSpec& input : mechanism.inputs)
      m.inputs.push_back({input.name, input.axes, input.name, input.axes, NumberForm::same, input.required, input.kind});
    for (const char* output : mechanism.outputs) m.outputs.push_back({output, "", output, ""});
    ours.mechanisms.push_back(std::move(m));
  }
  return ours;
}

}  // namespace

const std::vector<Convention>& conventions() {
  static const std::vector<Convention> all = {declare_linearmem(), declare_fla(), declare_onnx(),       declare_onnxruntime(),
                                              declare_ggml(),      declare_mlx(), declare_flashinfer(), declare_flashinfer_decode()};
  return all;
}

Result<const Convention*> find_convention(std::string_view name) {
  for (const Convention& convention : conventions())
    if (name == convention.name) return &convention;
  std::string known;
  for (const Convention& convention : conventions()) known += (known.empty() ? "" : ", ") + std::string(convention.name);
  return Status::invalid("unknown convention \"" + std::string(name) + "\"; known are " + known);
}

Result<const ConventionMechanism*> find_mechanism(const Convention& convention, std::string_view mechanism) {
  const auto ours = find_mechanism(mechanism);
  if (!ours.ok()) return ours.status();
  const std::string_view name = ours.value()->name;
  for (const ConventionMechanism& m : convention.mechanisms)
    if (name == m.mechanism) return &m;
  std::string known;
  for (const ConventionMechanism& m : convention.mechanisms) known += (known.empty() ? "" : ", ") + std::string(m.mechanism);
  return Status::invalid("convention " + std::string(convention.name) + " has no " + ours.value()->name + "; it has " + known);
}

Result<NamedTensor> log_decay_of(const Exchange& exchange, const NamedTensor& a, const NamedTensor& A_log, const NamedTensor& dt_bias) {
  auto values = doubles_of("a", a);
  const auto rates = doubles_of("A_log", A_log), biases = doubles_of("dt_bias", dt_bias);
  for (const auto* read : {&std::as_const(values), &rates, &biases})
    if (!read->ok()) return read->status();
  const std::size_t H = rates.value().size();
  for (std::size_t i = 0; i < values.value().size(); ++i) {
    double& x = values.value()[i];
    x = -std::exp(rates.value()[i % H]) * softplus(x + biases.value()[i % H]);
  }
  return tensor_of(values.value(), a.shape, computed_dtype(a.dtype, exchange.settings.dtype));
}

NamedTensor filled(double value, std::vector<std::int64_t> shape, DType dtype) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  return tensor_of(std::vector<double>(static_cast<std::size_t>(count), value), std::move(shape), dtype);
}

}  // namespace linearmem
