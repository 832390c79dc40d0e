// mechanisms(), run(): every mechanism on the caller's own tensors.
#include "linearmem/mechanisms.hpp"

#include <emscripten/bind.h>

#include <cmath>

#include "boundary.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem::wasm {
namespace {

struct ArrayClass {
  DType dtype;
  const char* name;
};
constexpr ArrayClass kArrayClasses[] = {
    {DType::f64, "Float64Array"}, {DType::f32, "Float32Array"}, {DType::i64, "BigInt64Array"}, {DType::boolean, "Uint8Array"}};

const char* array_class(DType dtype) {
  for (const ArrayClass& entry : kArrayClasses)
    if (entry.dtype == dtype) return entry.name;
  return nullptr;
}

Result<std::int64_t> axis_size(const std::string& tensor, const val& size) {
  if (!size.isNumber()) return Status::invalid(tensor + ": shape has an entry that is not a number");
  const double value = size.as<double>();
  if (!(value >= 0) || value != std::floor(value) || value > 0x1p53)
    return Status::invalid(tensor + ": shape has " + std::to_string(value) + "; sizes are whole numbers from 0");
  return static_cast<std::int64_t>(value);
}

Result<NamedTensor> tensor_from_val(const std::string& name, const val& object) {
  if (!object["dtype"].isString() || !object["shape"].isArray())
    return Status::invalid(name + ": a tensor is {dtype, shape, data}");
  const auto dtype_text = object["dtype"].as<std::string>();
  const auto dtype = dtype_named(dtype_text);
  if (!dtype || !array_class(*dtype)) return Status::invalid(name + ": dtype " + dtype_text + " is not one of F64, F32, I64, BOOL");
  NamedTensor tensor;
  tensor.dtype = *dtype;
  const int axes = object["shape"]["length"].as<int>();
  for (int axis = 0; axis < axes; ++axis) {
    const auto size = axis_size(name, object["shape"][axis]);
    if (!size.ok()) return size.status();
    tensor.shape.push_back(size.value());
  }
  const val data = object["data"];
  const std::string given = data.isNull() || data.isUndefined() ? "nothing" : data["constructor"]["name"].as<std::string>();
  if (given != array_class(*dtype))
    return Status::invalid(name + ": " + dtype_text + " data is a " + array_class(*dtype) + ", given " + given);
  tensor.bytes = bytes_of(data);
  const auto needed = checked_bytes(name, tensor.shape.data(), axes, dtype_bytes(*dtype));
  if (!needed.ok()) return needed.status();
  if (needed.value() != static_cast<std::int64_t>(tensor.bytes.size()))
    return Status::invalid(name + ": shape needs " + std::to_string(needed.value()) + " bytes, data has " + std::to_string(tensor.bytes.size()));
  return tensor;
}

val tensor_to_val(const NamedTensor& tensor) {
  val object = val::object();
  object.set("dtype", text(dtype_name(tensor.dtype)));
  object.set("shape", to_array(tensor.shape, [](std::int64_t size) { return val(static_cast<double>(size)); }));
  object.set("data", typed_array(array_class(tensor.dtype), tensor.bytes.data(), tensor.bytes.size()));
  return object;
}

Result<RunSettings> settings_from_val(const val& object) {
  RunSettings settings;
  for (const std::string& key : keys_of(object)) {
    const val value = object[key];
    if (value.isUndefined()) continue;
    const auto words = val::global("String")(value).as<std::string>();
    if (key == "dtype") {
      if (words != "f32" && words != "f64") return Status::invalid("settings: dtype " + words + " is not one of f32, f64");
      settings.dtype = words == "f32" ? DType::f32 : DType::f64;
    } else if (key == "form") {
      const auto form = form_named(words);
      if (!form) return Status::invalid("settings: form " + words + " is not known");
      settings.form = *form;
    } else if (key == "chunk") {
      const auto size = axis_size("settings: chunk", value);
      if (!size.ok()) return size.status();
      settings.chunk = size.value();
    } else if (key == "options") {
      for (const std::string& option : keys_of(value)) settings.options[option] = val::global("String")(value[option]).as<std::string>();
    } else {
      return Status::invalid("settings: " + key + " is not one of dtype, form, chunk, options");
    }
  }
  return settings;
}

val run(const std::string& mechanism, const val& tensors, const val& options) {
  return guarded([&]() -> Result<val> {
    NamedTensors inputs;
    for (const std::string& name : keys_of(tensors)) {
      auto tensor = tensor_from_val(name, tensors[name]);
      if (!tensor.ok()) return tensor.status();
      inputs.emplace(name, std::move(tensor).value());
    }
    const auto settings = settings_from_val(options);
    if (!settings.ok()) return settings.status();
    const auto outputs = run_mechanism(mechanism, inputs, settings.value());
    if (!outputs.ok()) return outputs.status();
    val object = val::object();
    for (const auto& [name, tensor] : outputs.value()) object.set(name, tensor_to_val(tensor));
    return object;
  });
}

const char* kind_name(TensorKind kind) {
  return kind == TensorKind::floating ? "floating" : kind == TensorKind::integer ? "integer" : "boolean";
}

const char* kind_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::number: return "number";
    case OptionKind::integer: return "integer";
    case OptionKind::boolean: return "boolean";
    case OptionKind::choice: return "choice";
    case OptionKind::text: return "text";
  }
  return "";
}

val mechanism_to_val(const Mechanism& mechanism) {
  val object = val::object();
  object.set("name", text(mechanism.name));
  object.set("room", text(mechanism.room));
  object.set("equation", text(mechanism.equation));
  object.set("inputs", to_array(mechanism.inputs, [](const InputSpec& input) {
    val entry = val::object();
    entry.set("name", text(input.name));
    entry.set("axes", text(input.axes));
    entry.set("kind", text(kind_name(input.kind)));
    entry.set("required", input.required);
    return entry;
  }));
  object.set("options", to_array(mechanism.options, [](const OptionSpec& option) {
    val entry = val::object();
    entry.set("name", text(option.name));
    entry.set("kind", text(kind_name(option.kind)));
    entry.set("default", text(option.default_text));
    entry.set("meaning", text(option.meaning));
    entry.set("choices", text_array(option.choices));
    return entry;
  }));
  object.set("outputs", text_array(mechanism.outputs));
  object.set("forms", to_array(mechanism.forms, [](Form form) { return text(form_name(form)); }));
  return object;
}

val all_mechanisms() { return to_array(mechanisms(), mechanism_to_val); }

EMSCRIPTEN_BINDINGS(linearmem_mechanisms) {
  emscripten::function("mechanisms", &all_mechanisms);
  emscripten::function("run", &run);
}

}  // namespace
}  // namespace linearmem::wasm
