// What every mechanism shares: names, kinds, axes and options are checked here, once, before it runs.
#include <algorithm>

#include "foundation/shape_check.hpp"
#include "linearmem/mechanisms.hpp"
#include "linearmem/tensor.hpp"
#include "mechanisms/option_text.hpp"

namespace linearmem {
namespace {

template <typename Entries, typename Name>
std::string list_of(const Entries& entries, Name name) {
  std::string text;
  for (const auto& entry : entries) text += (text.empty() ? "" : ", ") + std::string(name(entry));
  return text.empty() ? "none" : text;
}

Status refuse(const Mechanism& mechanism, const std::string& sentence) {
  return Status::invalid(std::string(mechanism.name) + ": " + sentence);
}

bool has_kind(TensorKind kind, DType dtype) {
  switch (kind) {
    case TensorKind::floating: return is_floating(dtype);
    case TensorKind::integer: return dtype == DType::i64 || dtype == DType::i32;
    case TensorKind::boolean: return dtype == DType::boolean;
  }
  return false;
}

const char* kind_text(TensorKind kind) {
  switch (kind) {
    case TensorKind::floating: return "floating (F64, F32, BF16, F16)";
    case TensorKind::integer: return "integer (I64, I32)";
    case TensorKind::boolean: return "boolean (BOOL)";
  }
  return "";
}

Status check_names(const Mechanism& mechanism, const NamedTensors& inputs) {
  const auto spec_name = [](const InputSpec& spec) { return spec.name; };
  for (const auto& [name, tensor] : inputs) {
    const bool known =
        std::any_of(mechanism.inputs.begin(), mechanism.inputs.end(), [&name = name](const InputSpec& spec) { return name == spec.name; });
    if (!known) return refuse(mechanism, "unknown tensor \"" + name + "\"; it takes " + list_of(mechanism.inputs, spec_name));
  }
  for (const InputSpec& spec : mechanism.inputs)
    if (spec.required && !inputs.count(spec.name))
      return refuse(mechanism, std::string(spec.name) + " is missing; it is " + bracketed_axes(spec.axes));
  return {};
}

Status check_tensor(const Mechanism& mechanism, const InputSpec& spec, const NamedTensor& tensor) {
  const std::size_t rank = axis_letters(spec.axes).size();
  if (!has_kind(spec.kind, tensor.dtype))
    return refuse(mechanism,
                  std::string(spec.name) + " must be " + kind_text(spec.kind) + "; the tensor is " + std::string(dtype_name(tensor.dtype)));
  if (tensor.shape.size() != rank)
    return refuse(mechanism, std::string(spec.name) + " is " + bracketed_axes(spec.axes) + ", " + std::to_string(rank) +
                                 (rank == 1 ? " axis" : " axes") + "; the tensor has " + std::to_string(tensor.shape.size()));
  const auto bytes = checked_bytes(spec.name, tensor.shape.data(), static_cast<int>(rank), dtype_bytes(tensor.dtype));
  if (!bytes.ok()) return Status(bytes.status().code(), std::string(mechanism.name) + ": " + bytes.status().message());
  if (static_cast<std::uint64_t>(bytes.value()) != tensor.bytes.size())
    return refuse(mechanism, std::string(spec.name) + " needs " + std::to_string(bytes.value()) + " bytes for its shape; the tensor has " +
                                 std::to_string(tensor.bytes.size()));
  return {};
}

// Kind, rank and bytes of each tensor, then every axis letter against every other.
Status check_tensors(const Mechanism& mechanism, const NamedTensors& inputs) {
  ShapeCheck axes(mechanism.name);
  for (const InputSpec& spec : mechanism.inputs) {
    const auto found = inputs.find(spec.name);
    if (found == inputs.end()) continue;
    if (Status status = check_tensor(mechanism, spec, found->second); !status.ok()) return status;
    const std::vector<std::string> letters = axis_letters(spec.axes);
    for (std::size_t axis = 0; axis < letters.size(); ++axis) axes.define(letters[axis], spec.name, found->second.shape[axis]);
  }
  return axes.status();
}

Result<RunSettings> with_all_options(const Mechanism& mechanism, RunSettings settings) {
  for (const auto& [name, text] : settings.options) {
    const auto spec =
        std::find_if(mechanism.options.begin(), mechanism.options.end(), [&name = name](const OptionSpec& s) { return name == s.name; });
    if (spec == mechanism.options.end())
      return refuse(mechanism,
                    "unknown option \"" + name + "\"; it has " + list_of(mechanism.options, [](const OptionSpec& s) { return s.name; }));
    if (Status status = check_option(*spec, text); !status.ok()) return refuse(mechanism, "option " + name + " " + status.message());
  }
  for (const OptionSpec& spec : mechanism.options) settings.options.try_emplace(spec.name, spec.default_text);
  return settings;
}

Status check_form(const Mechanism& mechanism, const RunSettings& settings) {
  if (auto form = find_form(mechanism, form_name(settings.form)); !form.ok()) return form.status();
  if (settings.chunk < 0) return refuse(mechanism, "chunk is " + std::to_string(settings.chunk) + "; it counts tokens, 1 or more");
  if (settings.chunk > 0 && settings.form != Form::chunked)
    return refuse(mechanism, "chunk is " + std::to_string(settings.chunk) + " but the form is " + std::string(form_name(settings.form)) +
                                 "; only form chunked has chunks");
  return {};
}

Status check_backend(const Mechanism& mechanism, const RunSettings& settings) {
  if (!settings.backend || settings.backend->computes(mechanism.name)) return {};
  std::string known;
  for (const Mechanism& other : mechanisms())
    if (settings.backend->computes(other.name)) known += (known.empty() ? "" : ", ") + std::string(other.name);
  return Status::unavailable(std::string(mechanism.name) + ": backend " + std::string(settings.backend->name()) + " does not compute it; it has " +
                             known);
}

Result<DType> compute_dtype(const Mechanism& mechanism, const NamedTensors& inputs, const RunSettings& settings) {
  if (settings.dtype) {
    if (*settings.dtype == DType::f32 || *settings.dtype == DType::f64) return *settings.dtype;
    return refuse(mechanism, "cannot compute in " + std::string(dtype_name(*settings.dtype)) + "; dtype is f32 or f64");
  }
  const std::pair<const std::string, NamedTensor>* first = nullptr;
  for (const auto& entry : inputs) {
    if (!is_floating(entry.second.dtype)) continue;
    if (!first) first = &entry;
    if (entry.second.dtype != first->second.dtype)
      return refuse(mechanism, first->first + " is " + std::string(dtype_name(first->second.dtype)) + " and " + entry.first + " is " +
                                   std::string(dtype_name(entry.second.dtype)) + "; set dtype to f32 or f64");
  }
  if (first && (first->second.dtype == DType::f32 || first->second.dtype == DType::f64)) return first->second.dtype;
  return refuse(mechanism,
                (first ? "the inputs are " + std::string(dtype_name(first->second.dtype)) : std::string("no input is floating")) +
                    "; set dtype to f32 or f64");
}

}  // namespace

Result<Form> find_form(const Mechanism& mechanism, std::string_view name) {
  const std::optional<Form> form = form_named(name);
  const bool has = form && (*form == Form::automatic || std::count(mechanism.forms.begin(), mechanism.forms.end(), *form) > 0);
  if (has) return *form;
  return refuse(mechanism, (form ? "has no form " : "unknown form \"") + std::string(name) + (form ? "" : "\"") + "; it has automatic, " +
                               list_of(mechanism.forms, form_name));
}

Result<DType> find_compute_dtype(std::string_view name) {
  if (name == "f32") return DType::f32;
  if (name == "f64") return DType::f64;
  return Status::invalid("unknown dtype \"" + std::string(name) + "\"; known are f32, f64");
}

Result<NamedTensors> run_mechanism(const Mechanism& mechanism, const NamedTensors& inputs, const RunSettings& settings) {
  if (Status status = check_names(mechanism, inputs); !status.ok()) return status;
  if (Status status = check_tensors(mechanism, inputs); !status.ok()) return status;
  if (Status status = check_form(mechanism, settings); !status.ok()) return status;
  auto complete = with_all_options(mechanism, settings);
  if (!complete.ok()) return complete.status();
  const auto dtype = compute_dtype(mechanism, inputs, settings);
  if (!dtype.ok()) return dtype.status();
  if (Status status = check_backend(mechanism, settings); !status.ok()) return status;
  return mechanism.run(inputs, complete.value(), dtype.value());
}

}  // namespace linearmem
