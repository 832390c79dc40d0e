#include "linearmem/selective_scan.hpp"

#include "mechanisms/declarations.hpp"
#include "mechanisms/option_text.hpp"
#include "mechanisms/typed_tensors.hpp"

namespace linearmem {
namespace {

template <typename T>
Result<NamedTensors> run_selective_scan(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  SelectiveScanArguments<T> arguments{
      .x = inputs.template floating<3>("x"),
      .a = inputs.template floating<3>("a"),
      .b = inputs.template floating<3>("b"),
      .c = inputs.template floating<3>("c"),
      .state = inputs.template floating<2>("state"),
      .cu_seqlens = inputs.template integers<1>("cu_seqlens"),
      .form = settings.form,
      .chunk = settings.chunk,
      .executor = settings.executor,
      .backend = settings.backend,
      .y = {},
  };
  arguments.y = outputs.template make<3>("y", arguments.x.extents());
  arguments.final_state = outputs.template make<2>("state", {sequence_count(arguments.cu_seqlens, arguments.x), arguments.x.extent(2)});
  return through_door(inputs, outputs, [](const SelectiveScanArguments<T>& a) { return selective_scan(a); }, arguments);
}

template <typename T>
Result<NamedTensors> run_mamba_scan(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  MambaScanArguments<T> arguments{
      .u = inputs.template floating<3>("u"),
      .delta = inputs.template floating<3>("delta"),
      .A = inputs.template floating<2>("A"),
      .B = inputs.template floating<3>("B"),
      .C = inputs.template floating<3>("C"),
      .D = inputs.template floating<1>("D"),
      .z = inputs.template floating<3>("z"),
      .delta_bias = inputs.template floating<1>("delta_bias"),
      .state = inputs.template floating<3>("state"),
      .cu_seqlens = inputs.template integers<1>("cu_seqlens"),
      .softplus = option_boolean(settings, "softplus"),
      .allow_growth = option_boolean(settings, "allow_growth"),
      .form = settings.form,
      .chunk = settings.chunk,
      .executor = settings.executor,
      .backend = settings.backend,
      .y = {},
  };
  arguments.y = outputs.template make<3>("y", arguments.u.extents());
  arguments.final_state =
      outputs.template make<3>("state", {sequence_count(arguments.cu_seqlens, arguments.u), arguments.A.extent(0), arguments.A.extent(1)});
  return through_door(inputs, outputs, [](const MambaScanArguments<T>& a) { return mamba_scan(a); }, arguments);
}

template <typename T>
Result<NamedTensors> run_ssd(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  SsdArguments<T> arguments{
      .x = inputs.template floating<4>("x"),
      .dt = inputs.template floating<3>("dt"),
      .A = inputs.template floating<1>("A"),
      .B = inputs.template floating<4>("B"),
      .C = inputs.template floating<4>("C"),
      .D = inputs.template floating<1>("D"),
      .state = inputs.template floating<4>("state"),
      .cu_seqlens = inputs.template integers<1>("cu_seqlens"),
      .allow_growth = option_boolean(settings, "allow_growth"),
      .form = settings.form,
      .chunk = settings.chunk,
      .executor = settings.executor,
      .backend = settings.backend,
      .y = {},
  };
  const Extents<4> x = arguments.x.extents();
  arguments.y = outputs.template make<4>("y", x);
  arguments.final_state =
      outputs.template make<4>("state", {sequence_count(arguments.cu_seqlens, arguments.x), x[2], arguments.B.extent(3), x[3]});
  return through_door(inputs, outputs, [](const SsdArguments<T>& a) { return ssd(a); }, arguments);
}

const OptionSpec kAllowGrowth = {"allow_growth", OptionKind::boolean, "false", "accept log decays above 0"};

}  // namespace

Mechanism declare_selective_scan() {
  return {
      .name = "selective-scan",
      .room = "selective_scan",
      .equation = "h_t = a_t h_{t-1} + b_t x_t;  y_t = c_t h_t",
      .inputs = {{"x", "B T D"}, {"a", "B T D"}, {"b", "B T D"}, {"c", "B T D"}, {"state", "N D", TensorKind::floating, false},
                 {"cu_seqlens", "N+1", TensorKind::integer, false}},
      .options = {},
      .outputs = {"y", "state"},
      .forms = {Form::reference, Form::recurrent, Form::chunked, Form::explicit_, Form::parallel_scan},
      .stream = {.carried = {"state"}},
      .run = [](const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
        return dtype == DType::f32 ? run_selective_scan<float>(tensors, settings) : run_selective_scan<double>(tensors, settings);
      },
  };
}

Mechanism declare_mamba_scan() {
  return {
      .name = "mamba-scan",
      .room = "selective_scan",
      .equation = "s_t = softplus(delta_t + bias);  h_t = exp(s_t A) h_{t-1} + s_t B_t u_t;  y_t = (C_t h_t + D u_t) silu(z_t)",
      .inputs = {{"u", "B T D"},
                 {"delta", "B T D"},
                 {"A", "D N"},
                 {"B", "B T N"},
                 {"C", "B T N"},
                 {"D", "D", TensorKind::floating, false},
                 {"z", "B T D", TensorKind::floating, false},
                 {"delta_bias", "D", TensorKind::floating, false},
                 {"state", "Seq D N", TensorKind::floating, false},
                 {"cu_seqlens", "Seq+1", TensorKind::integer, false}},
      .options = {{"softplus", OptionKind::boolean, "true", "the step is softplus(delta + delta_bias); false: the sum itself"},
                  kAllowGrowth},
      .outputs = {"y", "state"},
      .forms = {Form::reference, Form::recurrent, Form::chunked, Form::explicit_, Form::parallel_scan},
      .stream = {.carried = {"state"}},
      .run =
          [](const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
            return dtype == DType::f32 ? run_mamba_scan<float>(tensors, settings) : run_mamba_scan<double>(tensors, settings);
          },
  };
}

Mechanism declare_ssd() {
  return {
      .name = "ssd",
      .room = "selective_scan",
      .equation = "S_t = exp(dt_t A) S_{t-1} + dt_t B_t^T x_t;  y_t = C_t S_t + D x_t",
      .inputs = {{"x", "B T H P"}, {"dt", "B T H"}, {"A", "H"}, {"B", "B T G N"}, {"C", "B T G N"}, {"D", "H", TensorKind::floating, false},
                 {"state", "Seq H N P", TensorKind::floating, false}, {"cu_seqlens", "Seq+1", TensorKind::integer, false}},
      .options = {kAllowGrowth},
      .outputs = {"y", "state"},
      .forms = {Form::reference, Form::recurrent, Form::chunked, Form::explicit_},
      .stream = {.carried = {"state"}},
      .run = [](const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
        return dtype == DType::f32 ? run_ssd<float>(tensors, settings) : run_ssd<double>(tensors, settings);
      },
  };
}

}  // namespace linearmem
