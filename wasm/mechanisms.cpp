// mechanisms(), run(): every mechanism on the caller's own tensors, in any convention.
#include "mechanisms.hpp"

#include <emscripten/bind.h>

#include <cmath>

#include "boundary.hpp"
#include "linearmem/tensor.hpp"

// A tensor crosses the border in three calls: a property that is asked for from this side costs about as much as a small mechanism.
// head: what index of kArrayClasses, bytes, number of axes, sizes. 0 where anything is not as it should be.
EM_JS(int, linearmem_tensor_head, (emscripten::EM_VAL handle, double* head, int most_axes), {
  const { dtype, shape, data } = Object(Emval.toValue(handle));
  const index = ["F64", "F32", "I64", "BOOL"].indexOf(dtype);
  const arrays = ["Float64Array", "Float32Array", "BigInt64Array", "Uint8Array"];
  if (index < 0 || !Array.isArray(shape) || shape.length > most_axes || !data || data.constructor.name !== arrays[index]) return 0;
  for (const size of shape)
    if (!Number.isSafeInteger(size) || size < 0) return 0;
  HEAPF64.set([index, data.byteLength, shape.length, ...shape], head >> 3);
  return 1;
});

EM_JS(void, linearmem_tensor_bytes, (emscripten::EM_VAL handle, void* to), {
  const { data } = Emval.toValue(handle);
  HEAPU8.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), to);
});

EM_JS(void, linearmem_set_tensor,
      (emscripten::EM_VAL object, const char* name, int index, const double* sizes, int axes, const void* bytes, int count), {
  const classes = [Float64Array, Float32Array, BigInt64Array, Uint8Array];
  Emval.toValue(object)[UTF8ToString(name)] = {
    dtype: ["F64", "F32", "I64", "BOOL"][index],
    shape: Array.from(HEAPF64.subarray(sizes >> 3, (sizes >> 3) + axes)),
    data: new classes[index](HEAPU8.slice(bytes, bytes + count).buffer),
  };
});

namespace linearmem::wasm {
namespace {

constexpr int kMostAxes = 8;

struct ArrayClass {
  DType dtype;
  const char* name;
};
constexpr ArrayClass kArrayClasses[] = {  // the order of the three functions above
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

// The whole of a tensor that is as it should be; false otherwise.
bool read_tensor(const val& object, NamedTensor& tensor) {
  double head[3 + kMostAxes];
  if (!linearmem_tensor_head(object.as_handle(), head, kMostAxes)) return false;
  tensor.dtype = kArrayClasses[static_cast<int>(head[0])].dtype;
  const int axes = static_cast<int>(head[2]);
  for (int axis = 0; axis < axes; ++axis) tensor.shape.push_back(static_cast<std::int64_t>(head[3 + axis]));
  tensor.bytes.resize(static_cast<std::size_t>(head[1]));
  linearmem_tensor_bytes(object.as_handle(), tensor.bytes.data());
  return true;
}

// Property by property, to say which one is wrong.
Status what_is_wrong(const std::string& name, const val& object) {
  if (object.isNull() || object.isUndefined() || !object["dtype"].isString() || !object["shape"].isArray())
    return Status::invalid(name + ": a tensor is {dtype, shape, data}");
  const auto dtype_text = object["dtype"].as<std::string>();
  const auto dtype = dtype_named(dtype_text);
  if (!dtype || !array_class(*dtype)) return Status::invalid(name + ": dtype " + dtype_text + " is not one of F64, F32, I64, BOOL");
  const int axes = object["shape"]["length"].as<int>();
  if (axes > kMostAxes) return Status::invalid(name + ": shape has " + std::to_string(axes) + " axes, at most " + std::to_string(kMostAxes));
  for (int axis = 0; axis < axes; ++axis)
    if (const auto size = axis_size(name, object["shape"][axis]); !size.ok()) return size.status();
  const val data = object["data"];
  const std::string given = data.isNull() || data.isUndefined() ? "nothing" : data["constructor"]["name"].as<std::string>();
  return Status::invalid(name + ": " + dtype_text + " data is a " + array_class(*dtype) + ", given " + given);
}

Result<NamedTensor> tensor_from_val(const std::string& name, const val& object) {
  NamedTensor tensor;
  if (!read_tensor(object, tensor)) return what_is_wrong(name, object);
  const auto needed = checked_bytes(name, tensor.shape.data(), static_cast<int>(tensor.shape.size()), dtype_bytes(tensor.dtype));
  if (!needed.ok()) return needed.status();
  if (needed.value() != static_cast<std::int64_t>(tensor.bytes.size()))
    return Status::invalid(name + ": shape needs " + std::to_string(needed.value()) + " bytes, data has " + std::to_string(tensor.bytes.size()));
  return tensor;
}

void set_tensor(const val& object, const std::string& name, const NamedTensor& tensor) {
  int index = 0;
  while (kArrayClasses[index].dtype != tensor.dtype) ++index;
  double sizes[kMostAxes];
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) sizes[axis] = static_cast<double>(tensor.shape[axis]);
  linearmem_set_tensor(object.as_handle(), name.c_str(), index, sizes, static_cast<int>(tensor.shape.size()), tensor.bytes.data(),
                       static_cast<int>(tensor.bytes.size()));
}

struct CallSettings {
  RunSettings settings;
  std::string convention = "linearmem";
};

Result<CallSettings> settings_from_val(const val& object) {
  CallSettings call;
  RunSettings& settings = call.settings;
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
    } else if (key == "convention") {
      call.convention = words;
    } else {
      return Status::invalid("settings: " + key + " is not one of dtype, form, chunk, options, convention");
    }
  }
  return call;
}

val run(const std::string& mechanism, const val& tensors, const val& options) {
  return guarded([&]() -> Result<val> {
    NamedTensors inputs;
    for (const std::string& name : keys_of(tensors)) {
      auto tensor = tensor_from_val(name, tensors[name]);
      if (!tensor.ok()) return tensor.status();
      inputs.emplace(name, std::move(tensor).value());
    }
    const auto call = settings_from_val(options);
    if (!call.ok()) return call.status();
    const auto convention = find_convention(call.value().convention);
    if (!convention.ok()) return convention.status();
    const auto there = find_mechanism(*convention.value(), mechanism);
    if (!there.ok()) return there.status();
    const auto outputs = run_mechanism(*there.value(), inputs, call.value().settings);
    if (!outputs.ok()) return outputs.status();
    val object = val::object();
    for (const auto& [name, tensor] : outputs.value()) set_tensor(object, name, tensor);
    return object;
  });
}

const char* option_kind_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::number: return "number";
    case OptionKind::integer: return "integer";
    case OptionKind::boolean: return "boolean";
    case OptionKind::choice: return "choice";
    case OptionKind::text: return "text";
  }
  return "";
}

}  // namespace

const char* kind_name(TensorKind kind) {
  return kind == TensorKind::floating ? "floating" : kind == TensorKind::integer ? "integer" : "boolean";
}

val options_to_val(const std::vector<OptionSpec>& options) {
  return to_array(options, [](const OptionSpec& option) {
    val entry = val::object();
    entry.set("name", text(option.name));
    entry.set("kind", text(option_kind_name(option.kind)));
    entry.set("default", text(option.default_text));
    entry.set("meaning", text(option.meaning));
    entry.set("choices", text_array(option.choices));
    return entry;
  });
}

namespace {

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
  object.set("options", options_to_val(mechanism.options));
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
