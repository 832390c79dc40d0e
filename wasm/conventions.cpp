// conventions(): the mechanisms as other libraries have them, and what differs; run() takes a convention's name.
#include "linearmem/conventions.hpp"

#include <emscripten/bind.h>

#include "mechanisms.hpp"

namespace linearmem::wasm {
namespace {

const char* form_name(NumberForm form) {
  switch (form) {
    case NumberForm::same: return "same";
    case NumberForm::factor: return "factor";
    case NumberForm::log_of_negative: return "log of negative";
    case NumberForm::before_softplus: return "before softplus";
    case NumberForm::before_sigmoid: return "before sigmoid";
  }
  return "";
}

val tensor_to_val(const ConventionTensor& tensor) {
  val object = val::object();
  object.set("name", text(tensor.name));
  object.set("axes", text(tensor.axes));
  object.set("ours", text(tensor.ours));
  object.set("ourAxes", text(tensor.our_axes));
  object.set("form", text(form_name(tensor.form)));
  object.set("kind", text(kind_name(tensor.kind)));
  object.set("required", tensor.required);
  return object;
}

val difference_to_val(const Difference& difference) {
  val object = val::object();
  object.set("what", text(difference.what));
  object.set("ours", text(difference.ours));
  object.set("theirs", text(difference.theirs));
  return object;
}

val mechanism_to_val(const ConventionMechanism& mechanism) {
  val object = val::object();
  object.set("mechanism", text(mechanism.mechanism));
  object.set("function", text(mechanism.function));
  object.set("source", text(mechanism.source));
  object.set("inputs", to_array(mechanism.inputs, tensor_to_val));
  object.set("outputs", to_array(mechanism.outputs, tensor_to_val));
  object.set("options", options_to_val(mechanism.options));
  object.set("differences", to_array(mechanism.differences, difference_to_val));
  return object;
}

val all_conventions() {
  return to_array(conventions(), [](const Convention& convention) {
    val object = val::object();
    object.set("name", text(convention.name));
    object.set("meaning", text(convention.meaning));
    object.set("mechanisms", to_array(convention.mechanisms, mechanism_to_val));
    return object;
  });
}

EMSCRIPTEN_BINDINGS(linearmem_conventions) { emscripten::function("conventions", &all_conventions); }

}  // namespace
}  // namespace linearmem::wasm
