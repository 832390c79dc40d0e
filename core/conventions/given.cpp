#include <algorithm>

#include "conventions/steps.hpp"
#include "foundation/shape_check.hpp"
#include "linearmem/tensor.hpp"
#include "mechanisms/option_text.hpp"

namespace linearmem {
namespace {

const char* kind_text(TensorKind kind) { return kind == TensorKind::integer ? "integer (I64, I32)" : "floating (F64, F32, BF16, F16)"; }

std::string names_of(const std::vector<ConventionTensor>& entries, bool ours) {
  std::vector<std::string> names;
  std::string text;
  for (const ConventionTensor& entry : entries) {
    const std::string name = ours ? entry.ours : entry.name;
    if (name.empty() || std::count(names.begin(), names.end(), name)) continue;
    names.push_back(name);
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

Status check_tensor(const ConventionMechanism& mechanism, const std::string& name, TensorKind kind, const NamedTensor& tensor) {
  const bool fits = kind == TensorKind::integer ? tensor.dtype == DType::i64 || tensor.dtype == DType::i32 : is_floating(tensor.dtype);
  if (!fits) return refuse(mechanism, name + " must be " + kind_text(kind) + "; the tensor is " + std::string(dtype_name(tensor.dtype)));
  const auto bytes = checked_bytes(name, tensor.shape.data(), static_cast<int>(tensor.shape.size()), dtype_bytes(tensor.dtype));
  if (!bytes.ok()) return Status(bytes.status().code(), door_of(mechanism) + ": " + bytes.status().message());
  if (static_cast<std::uint64_t>(bytes.value()) != tensor.bytes.size())
    return refuse(mechanism, name + " needs " + std::to_string(bytes.value()) + " bytes for its shape; the tensor has " +
                                 std::to_string(tensor.bytes.size()));
  return {};
}

}  // namespace

Status check_given(const ConventionMechanism& mechanism, const std::vector<ConventionTensor>& entries, const NamedTensors& given, bool ours) {
  for (const auto& [name, tensor] : given) {
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&name = name, ours](const ConventionTensor& e) { return name == (ours ? e.ours : e.name); });
    if (entry == entries.end())
      return refuse(mechanism, "unknown tensor \"" + name + "\"; it takes " + names_of(entries, ours));
    if (Status status = check_tensor(mechanism, name, entry->kind, tensor); !status.ok()) return status;
  }
  return {};
}

Status check_ours(const ConventionMechanism& mechanism, const std::vector<ConventionTensor>& entries, const NamedTensors& ours) {
  for (const ConventionTensor& entry : entries)
    if (const auto given = ours.find(entry.ours); given != ours.end())
      if (Status status = check_tensor(mechanism, entry.ours, entry.kind, given->second); !status.ok()) return status;
  return {};
}

Status check_required(const ConventionMechanism& mechanism, const NamedTensors& inputs) {
  for (const ConventionTensor& entry : mechanism.inputs)
    if (entry.required && !inputs.count(entry.name))
      return refuse(mechanism, std::string(entry.name) + " is missing; it is " + bracketed_axes(entry.axes));
  return {};
}

bool passes_through(const ConventionMechanism& mechanism, const std::string& option) {
  if (option != "allow_growth" && option != "state_dtype") return false;
  const auto native = find_mechanism(mechanism.mechanism);
  if (!native.ok()) return false;
  const auto& options = native.value()->options;
  return std::any_of(options.begin(), options.end(), [&](const OptionSpec& spec) { return option == spec.name; });
}

Result<RunSettings> with_all_options(const ConventionMechanism& mechanism, RunSettings settings) {
  std::string known;
  for (const OptionSpec& spec : mechanism.options) known += (known.empty() ? "" : ", ") + std::string(spec.name);
  for (const auto& [name, text] : settings.options) {
    if (passes_through(mechanism, name)) continue;
    const auto spec = std::find_if(mechanism.options.begin(), mechanism.options.end(),
                                   [&name = name](const OptionSpec& s) { return name == s.name; });
    if (spec == mechanism.options.end())
      return refuse(mechanism, "unknown option \"" + name + "\"; it has " + (known.empty() ? "none" : known));
    if (Status status = check_option(*spec, text); !status.ok()) return refuse(mechanism, "option " + name + " " + status.message());
  }
  for (const OptionSpec& spec : mechanism.options) settings.options.try_emplace(spec.name, spec.default_text);
  return settings;
}

}  // namespace linearmem
