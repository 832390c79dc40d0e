#include "linearmem/segment_memory.hpp"

#include "mechanisms/declarations.hpp"
#include "mechanisms/option_text.hpp"
#include "mechanisms/typed_tensors.hpp"

namespace linearmem {
namespace {

template <typename T>
Result<NamedTensors> run_in(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  SegmentMemoryArguments<T> arguments{
      .hidden = inputs.template floating<3>("hidden"),
      .memory = inputs.template floating<3>("memory"),
      .limit = option_integer(settings, "limit"),
      .form = settings.form,
      .executor = settings.executor,
      .new_memory = {},
  };
  const Extents<3> hidden = arguments.hidden.extents();
  arguments.new_memory = outputs.template make<3>(
      "memory", {hidden[0], segment_memory_rows(arguments.memory.extent(1), hidden[1], arguments.limit), hidden[2]});
  return through_door(inputs, outputs, [](const SegmentMemoryArguments<T>& a) { return segment_memory(a); }, arguments);
}

Result<NamedTensors> run(const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
  return dtype == DType::f32 ? run_in<float>(tensors, settings) : run_in<double>(tensors, settings);
}

}  // namespace

Mechanism declare_segment_memory() {
  return {
      .name = "segment-memory",
      .room = "segment_memory",
      .equation = "memory' = the newest `limit` rows of [memory; hidden]",
      .inputs = {{"hidden", "B T D"}, {"memory", "B M D", TensorKind::floating, false}},
      .options = {{"limit", OptionKind::integer, "none", "rows kept, the newest; none: all of them"}},
      .outputs = {"memory"},
      .forms = {Form::reference},
      .stream = {.carried = {"memory"}, .bounded_by = "limit"},
      .run = run,
  };
}

}  // namespace linearmem
