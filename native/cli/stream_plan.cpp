#include "stream_plan.hpp"

#include <algorithm>

#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"

namespace linearmem::cli {
namespace {

Status refuse(const Mechanism& mechanism, const std::string& sentence) {
  return Status::invalid(std::string(mechanism.name) + ": " + sentence);
}

std::string option_of(const Mechanism& mechanism, const RunSettings& settings, const std::string& name) {
  if (const auto set = settings.options.find(name); set != settings.options.end()) return set->second;
  for (const OptionSpec& option : mechanism.options)
    if (option.name == name) return option.default_text;
  return "";
}

Status check_streams(const Mechanism& mechanism, const RunSettings& settings) {
  const StreamSpec& stream = mechanism.stream;
  if (stream.carried.empty()) return refuse(mechanism, std::string("cannot be streamed: ") + stream.impossible);
  if (settings.form != Form::automatic && settings.form != Form::recurrent)
    return refuse(mechanism, "form " + std::string(form_name(settings.form)) + " cannot be streamed; automatic and recurrent go token by token");
  if (stream.needs && option_of(mechanism, settings, stream.needs) == "false")
    return refuse(mechanism, std::string("cannot be streamed where ") + stream.needs + " is false: a token would need those after it");
  if (stream.bounded_by && option_of(mechanism, settings, stream.bounded_by) == "none")
    return refuse(mechanism, std::string("cannot be streamed where ") + stream.bounded_by + " is none: what is kept would grow with the sequence");
  return {};
}

bool is_over_tokens(const InputSpec& spec) {
  const std::vector<std::string> letters = axis_letters(spec.axes);
  return letters.size() > 1 && letters[0] == "B" && letters[1] == "T";
}

// Sorts the inputs by how they are read, and compares their axes.
Status sort_inputs(const Mechanism& mechanism, const SafetensorsFile& input, ShapeCheck& shapes, StreamPlan& plan) {
  for (const HeaderEntry& entry : input.entries()) {
    const auto spec = std::find_if(mechanism.inputs.begin(), mechanism.inputs.end(), [&](const InputSpec& s) { return s.name == entry.name; });
    const std::vector<std::string> letters = spec == mechanism.inputs.end() ? std::vector<std::string>{} : axis_letters(spec->axes);
    const bool fits = letters.size() == entry.shape.size();
    for (std::size_t axis = 0; fits && axis < letters.size(); ++axis) shapes.define(letters[axis], spec->name, entry.shape[axis]);
    if (fits && is_over_tokens(*spec)) {
      plan.over_tokens.push_back(&entry);
      plan.bytes_per_token += bytes_below(entry, 2);
    } else if (fits && is_carried(mechanism, entry.name)) {
      plan.first_states.push_back(&entry);
    } else if (!fits) {
      plan.constant[entry.name] = {.dtype = entry.dtype, .shape = entry.shape, .bytes = {}};  // to be refused, so not read
    } else {
      auto tensor = input.read(entry);
      if (!tensor.ok()) return tensor.status();
      plan.constant.emplace(entry.name, std::move(tensor).value());
    }
  }
  plan.tokens = shapes.size("T");
  return shapes.status();
}

// The letter that counts sequences: what cu_seqlens [N+1] has one more of; B where nothing can be packed.
std::string sequences_axis(const Mechanism& mechanism) {
  for (const InputSpec& spec : mechanism.inputs)
    if (spec.name == std::string("cu_seqlens")) return std::string(spec.axes, std::string(spec.axes).find('+'));
  return "B";
}

// The sequences are the batch's rows or, in their place, those that cu_seqlens packs.
Status find_sequences(const Mechanism& mechanism, ShapeCheck& shapes, StreamPlan& plan) {
  std::vector<std::int64_t> bounds;
  View<const std::int64_t, 1> cu_seqlens;
  if (const auto found = plan.constant.find("cu_seqlens"); found != plan.constant.end()) {
    auto values = integer_values("cu_seqlens", found->second);
    if (!values.ok()) return values.status();
    bounds = std::move(values).value();
    cu_seqlens = View<const std::int64_t, 1>(bounds.data(), {static_cast<std::int64_t>(bounds.size())});
    plan.constant.erase(found);
  }
  const std::string axis = sequences_axis(mechanism);
  if (Status status = shapes.sequences(cu_seqlens, axis).status(); !status.ok()) return status;
  for (std::int64_t n = 0; n < shapes.size(axis); ++n) {
    const TokenRange range = sequence_range(cu_seqlens, plan.tokens, n);
    plan.sequences.push_back({range.row, range.begin, range.end, n});
  }
  return {};
}

NamedTensor zeros(const HeaderEntry& entry, std::int64_t rows, std::int64_t tokens) {
  NamedTensor tensor{.dtype = entry.dtype, .shape = entry.shape, .bytes = {}};
  tensor.shape[0] = rows;
  if (tokens >= 0) tensor.shape[1] = tokens;
  tensor.bytes.resize(static_cast<std::size_t>(tensor.size() * dtype_bytes(tensor.dtype)));
  return tensor;
}

// Runs the mechanism over no tokens (over zeros, as many as are kept, where that sets a size) and takes the outputs' sizes from it; in
// passing it refuses whatever it would refuse later.
Status find_outputs(const Mechanism& mechanism, const RunSettings& settings, StreamPlan& plan) {
  std::int64_t tokens = 0;
  if (mechanism.stream.bounded_by) {
    const std::string limit = option_of(mechanism, settings, mechanism.stream.bounded_by);
    const bool number = !limit.empty() && limit.size() < 18 && limit.find_first_not_of("0123456789") == std::string::npos;
    if (number) tokens = std::min<std::int64_t>(plan.tokens, std::stoll(limit));
  }
  NamedTensors inputs = plan.constant;
  for (const HeaderEntry* entry : plan.over_tokens) inputs.emplace(entry->name, zeros(*entry, 1, tokens));
  for (const HeaderEntry* entry : plan.first_states) inputs.emplace(entry->name, zeros(*entry, 1, -1));
  const auto outputs = run_mechanism(mechanism.name, inputs, settings);
  if (!outputs.ok()) return outputs.status();
  for (const auto& [name, tensor] : outputs.value()) {
    const auto known = std::find(mechanism.outputs.begin(), mechanism.outputs.end(), name);
    if (known == mechanism.outputs.end()) return refuse(mechanism, "output " + name + " cannot be streamed; leave out the option that asks for it");
    TensorShape shape{tensor.dtype, tensor.shape};
    if (is_carried(mechanism, name)) {
      shape.shape[0] = static_cast<std::int64_t>(plan.sequences.size());
    } else {
      shape.shape[0] = plan.over_tokens[0]->shape[0];
      shape.shape[1] = plan.tokens;
    }
    plan.outputs.emplace(name, std::move(shape));
  }
  return {};
}

}  // namespace

bool is_carried(const Mechanism& mechanism, const std::string& name) {
  const auto& carried = mechanism.stream.carried;
  return std::find(carried.begin(), carried.end(), name) != carried.end();
}

std::int64_t bytes_below(const TensorShape& tensor, std::size_t axes) {
  std::int64_t bytes = dtype_bytes(tensor.dtype);
  for (std::size_t axis = axes; axis < tensor.shape.size(); ++axis) bytes *= tensor.shape[axis];
  return bytes;
}

Result<StreamPlan> plan_stream(const Mechanism& mechanism, const RunSettings& settings, const SafetensorsFile& input) {
  if (Status status = check_streams(mechanism, settings); !status.ok()) return status;
  StreamPlan plan;
  ShapeCheck shapes(mechanism.name);
  Status status = sort_inputs(mechanism, input, shapes, plan);
  if (status.ok()) status = find_sequences(mechanism, shapes, plan);
  if (status.ok()) status = find_outputs(mechanism, settings, plan);
  if (!status.ok()) return status;
  return plan;
}

}  // namespace linearmem::cli
