// The doors of a write: the outer product, least squares, and the delta rule item by item.
#include <cmath>
#include <type_traits>
#include <utility>

#include "associative_memory/checks.hpp"
#include "associative_memory/forms.hpp"
#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"

namespace linearmem {
namespace {

constexpr const char* kWrite = "associative_write";

using Input = View<const double, 2>;
using State = View<double, 2>;

// S += strength k_i^T (v_i - keep k_i S): keep 0 is the outer product, 1 the delta rule.
void write_items(const Input& keys, const Input& values, double strength, bool correct, const State& S) {
  const std::int64_t K = keys.extent(1), V = values.extent(1);
  Tensor<double, 1> error({V});
  for (std::int64_t m = 0; m < keys.extent(0); ++m) {
    for (std::int64_t j = 0; j < V; ++j) {
      double read = 0;
      for (std::int64_t i = 0; correct && i < K; ++i) read += keys(m, i) * S(i, j);
      error(j) = strength * (values(m, j) - read);
    }
    for (std::int64_t i = 0; i < K; ++i)
      for (std::int64_t j = 0; j < V; ++j) S(i, j) += keys(m, i) * error(j);
  }
}

double residual(const Input& keys, const Input& values, const Input& S) {
  double squares = 0;
  for (std::int64_t m = 0; m < keys.extent(0); ++m)
    for (std::int64_t j = 0; j < values.extent(1); ++j) {
      double gap = -values(m, j);
      for (std::int64_t i = 0; i < keys.extent(1); ++i) gap += keys(m, i) * S(i, j);
      squares += gap * gap;
    }
  return std::sqrt(squares);
}

template <typename T>
Status run(const AssociativeWriteArguments<T>& a, const Input& keys, const Input& values) {
  Tensor<double, 2> S(a.S.extents());
  WriteReport report;
  if (a.rule == WriteRule::least_squares)
    report = associative::least_squares(keys, values, S.view());
  else
    write_items(keys, values, a.rule == WriteRule::delta ? a.beta : 1, a.rule == WriteRule::delta, S.view());
  if (a.report && a.rule != WriteRule::least_squares) {  // rank and condition are those of the keys, whatever was written
    Tensor<double, 2> nothing({keys.extent(0), 0}), unused({keys.extent(1), 0});
    report = associative::least_squares(keys, std::as_const(nothing).view(), unused.view());
  }
  if (a.report) report.residual = residual(keys, values, std::as_const(S).view());
  Status status = associative::deliver(kWrite, "S", std::as_const(S).view(), a.S);
  if (status.ok() && a.report) *a.report = report;
  return status;
}

template <typename T>
Status enter(const AssociativeWriteArguments<T>& a) {
  ShapeCheck shapes(kWrite);
  shapes.required("keys", a.keys, "M K").required("values", a.values, "M V").required("S", a.S, "K V");
  shapes.require(a.rule != WriteRule::delta || std::isfinite(a.beta), "beta is " + number_text(a.beta) + ", must be finite");
  if (shapes.status().ok()) check_finite(shapes, "keys", a.keys);
  if (shapes.status().ok()) check_finite(shapes, "values", a.values);
  if (!shapes.status().ok()) return shapes.status();
  if (Status status = check_form(kWrite, a.form, 0, {Form::reference}); !status.ok()) return status;
  if constexpr (std::is_same_v<T, double>) {
    return run(a, a.keys, a.values);
  } else {
    const Widened<2> keys(a.keys), values(a.values);
    return run(a, keys.view(), values.view());
  }
}

constexpr std::pair<WriteRule, std::string_view> kNames[] = {
    {WriteRule::outer_product, "outer-product"}, {WriteRule::least_squares, "least-squares"}, {WriteRule::delta, "delta"}};

}  // namespace

std::string_view write_rule_name(WriteRule rule) {
  for (const auto& [known, name] : kNames)
    if (known == rule) return name;
  return "";
}

std::optional<WriteRule> write_rule_named(std::string_view name) {
  for (const auto& [rule, known] : kNames)
    if (known == name) return rule;
  return std::nullopt;
}

Status associative_write(const AssociativeWriteArguments<float>& arguments) { return enter(arguments); }
Status associative_write(const AssociativeWriteArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
