#include "linearmem/depth_recurrence.hpp"

#include <algorithm>

#include "mechanisms/declarations.hpp"
#include "mechanisms/option_text.hpp"
#include "mechanisms/typed_tensors.hpp"

namespace linearmem {
namespace {

template <typename T>
Result<NamedTensors> run_halting(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  AdaptiveComputationTimeArguments<T> arguments{
      .p = inputs.template floating<3>("p"),
      .x = inputs.template floating<4>("x"),
      .mask = inputs.template booleans<2>("mask"),
      .halting = *halting_named(option_choice(settings, "halting")),
      .eps = *option_number(settings, "eps"),
      .form = settings.form,
      .o = {},
  };
  const std::int64_t B = arguments.p.extent(0), time = arguments.p.extent(1);
  arguments.o = outputs.template make<3>("o", {B, time, arguments.x.extent(3)});
  arguments.weights = outputs.template make<3>("weights", arguments.p.extents());
  arguments.remainder = outputs.template make<2>("remainder", {B, time});
  arguments.n = outputs.template make_integers<2>("n", {B, time});
  return through_door(
      inputs, outputs, [](const AdaptiveComputationTimeArguments<T>& a) { return adaptive_computation_time(a); }, arguments);
}

template <typename T>
Result<NamedTensors> run_shared(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  DepthWork work;
  SharedDepthArguments<T> arguments{
      .x = inputs.template floating<3>("x"),
      .w1 = inputs.template floating<2>("w1"),
      .b1 = inputs.template floating<1>("b1"),
      .w2 = inputs.template floating<2>("w2"),
      .b2 = inputs.template floating<1>("b2"),
      .rounds = *option_integer(settings, "rounds"),
      .activation = *block_activation_named(option_choice(settings, "activation")),
      .form = settings.form,
      .y = {},
      .work = &work,
  };
  const Extents<3> x = arguments.x.extents();
  arguments.y = outputs.template make<3>("y", x);
  arguments.states = outputs.template make<4>("states", {std::max(arguments.rounds, std::int64_t{0}), x[0], x[1], x[2]});
  const auto counts = outputs.template make_integers<1>("work", {2});
  return through_door(
      inputs, outputs,
      [&](const SharedDepthArguments<T>& a) {
        const Status status = shared_depth(a);
        counts(0) = work.parameters;
        counts(1) = work.operations;
        return status;
      },
      arguments);
}

}  // namespace

Mechanism declare_adaptive_computation_time() {
  return {
      .name = "adaptive-computation-time",
      .room = "depth_recurrence",
      .equation = "n = the first round with p_1 + ... + p_n >= 1 - eps, at most R;  w_r = p_r, w_n = 1 - (p_1 + ... + p_{n-1});  o = sum_r w_r x_r",
      .inputs = {{"p", "B T R"}, {"x", "R B T D"}, {"mask", "B T", TensorKind::boolean, false}},
      .options = {{"halting", OptionKind::choice, "graves", "the last round's weight where the cap R stops a token: what is left of 1, or its own p",
                   {"graves", "cap-without-remainder"}},
                  {"eps", OptionKind::number, "0.01", "a token halts when its probabilities reach 1 - eps"}},
      .outputs = {"o", "weights", "remainder", "n"},
      .forms = {Form::reference, Form::recurrent},
      .run = [](const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
        return dtype == DType::f32 ? run_halting<float>(tensors, settings) : run_halting<double>(tensors, settings);
      },
  };
}

Mechanism declare_shared_depth() {
  return {
      .name = "shared-depth",
      .room = "depth_recurrence",
      .equation = "x_{r+1} = x_r + act(x_r W1 + b1) W2 + b2, r < rounds;  work = [parameters, multiply-adds]",
      .inputs = {{"x", "B T D"}, {"w1", "D F"}, {"w2", "F D"}, {"b1", "F", TensorKind::floating, false}, {"b2", "D", TensorKind::floating, false}},
      .options = {{"rounds", OptionKind::integer, "1", "how often the block is applied"},
                  {"activation", OptionKind::choice, "gelu", "act, between the two matrices", {"relu", "gelu", "tanh", "none"}}},
      .outputs = {"y", "states", "work"},
      .forms = {Form::reference, Form::recurrent, Form::explicit_},
      .run = [](const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
        return dtype == DType::f32 ? run_shared<float>(tensors, settings) : run_shared<double>(tensors, settings);
      },
  };
}

}  // namespace linearmem
