// The doors of a read: check, choose a form, call it, hand over what is finite.
#include "linearmem/associative_memory.hpp"

#include <type_traits>

#include "associative_memory/checks.hpp"
#include "associative_memory/forms.hpp"
#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"

namespace linearmem {
namespace {

constexpr const char* kRead = "associative_read";

template <typename T>
Status check(const AssociativeReadArguments<T>& a) {
  ShapeCheck shapes(kRead);
  shapes.required("keys", a.keys, "M K")
      .required("values", a.values, "M V")
      .required("queries", a.queries, "Q K")
      .required("o", a.o, "Q V");
  associative::check_rule(shapes, a.rule);
  if (!shapes.status().ok()) return shapes.status();
  check_finite(shapes, "keys", a.keys);
  check_finite(shapes, "values", a.values);
  check_finite(shapes, "queries", a.queries);
  if (!shapes.status().ok()) return shapes.status();
  return check_form(kRead, a.form, 0, {Form::reference, Form::explicit_, Form::streaming});
}

// Every form but streaming, which alone takes the arguments as they came.
void run(const associative::Read& read, Form form) {
  if (read.rule.response != Response::least_squares) return form == Form::reference ? reference(read) : two_layers(read);
  if (form == Form::reference) return two_layers(read);
  Tensor<double, 2> S({read.keys.extent(1), read.values.extent(1)});
  associative::least_squares(read.keys, read.values, S.view());
  associative::read_state(read.queries, S.view(), read.o);
}

template <typename T>
Status enter(const AssociativeReadArguments<T>& a) {
  if (Status status = check(a); !status.ok()) return status;
  Tensor<double, 2> o(a.o.extents());
  const bool streams = a.rule.response != Response::least_squares && (a.form == Form::streaming || a.form == Form::automatic);
  if (streams) {
    associative::streaming(a.keys, a.values, a.queries, a.rule, o.view());
  } else if constexpr (std::is_same_v<T, float>) {
    const Widened<2> keys(a.keys), values(a.values), queries(a.queries);
    run({keys.view(), values.view(), queries.view(), a.rule, o.view()}, a.form);
  } else {
    run({a.keys, a.values, a.queries, a.rule, o.view()}, a.form);
  }
  return associative::deliver(kRead, "o", View<const double, 2>(o.view()), a.o);
}

}  // namespace

Status associative_read(const AssociativeReadArguments<float>& arguments) { return enter(arguments); }
Status associative_read(const AssociativeReadArguments<double>& arguments) { return enter(arguments); }

Status associative_weights(const AssociativeWeightsArguments& a) {
  ShapeCheck shapes("associative_weights");
  shapes.required("keys", a.keys, "M K").required("queries", a.queries, "Q K").required("weights", a.weights, "Q M");
  associative::check_rule(shapes, a.rule);
  if (shapes.status().ok()) check_finite(shapes, "keys", a.keys);
  if (shapes.status().ok()) check_finite(shapes, "queries", a.queries);
  if (!shapes.status().ok()) return shapes.status();
  Tensor<double, 2> weights(a.weights.extents());
  associative::weights_of(a.keys, a.queries, a.rule, weights.view());
  return associative::deliver("associative_weights", "weights", View<const double, 2>(weights.view()), a.weights);
}

}  // namespace linearmem
