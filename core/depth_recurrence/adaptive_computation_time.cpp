// The door: check, choose a form, call it.
#include <string>
#include <type_traits>

#include "depth_recurrence/halting.hpp"
#include "foundation/form_check.hpp"
#include "foundation/number_text.hpp"
#include "foundation/precision.hpp"
#include "foundation/shape_check.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "adaptive_computation_time";

struct HaltingName {
  Halting halting;
  std::string_view name;
};
constexpr HaltingName kHaltingNames[] = {{Halting::graves, "graves"}, {Halting::cap_without_remainder, "cap-without-remainder"}};

// The first p that is no probability, in the rounds that a token takes.
template <typename T>
Status check_token(const AdaptiveComputationTimeArguments<T>& a, std::int64_t b, std::int64_t t) {
  double spent = 0;
  for (std::int64_t r = 0; r < a.p.extent(2) && spent < 1 - a.eps; ++r) {
    const auto p = static_cast<double>(a.p(b, t, r));
    if (!(p >= 0 && p <= 1))
      return Status::invalid(std::string(kDoor) + ": p is " + number_text(static_cast<double>(p)) + " at batch " + std::to_string(b) + ", token " + std::to_string(t) +
                             ", round " + std::to_string(r) + "; a halting probability is from 0 to 1");
    spent += p;
  }
  return {};
}

template <typename T>
Status check(const AdaptiveComputationTimeArguments<T>& a) {
  ShapeCheck shapes(kDoor);
  shapes.required("p", a.p, "B T R").required("x", a.x, "R B T D").optional("mask", a.mask, "B T");
  shapes.require(shapes.size("R") > 0, "R is 0; a token takes at least one round");
  shapes.require(a.eps >= 0 && a.eps < 1, [&] { return "eps is " + number_text(a.eps) + ", must be at least 0 and below 1"; });
  shapes.required("o", a.o, "B T D").optional("weights", a.weights, "B T R").optional("remainder", a.remainder, "B T").optional("n", a.n, "B T");
  if (!shapes.status().ok()) return shapes.status();
  if (Status form = check_form(kDoor, a.form, 0, {Form::reference, Form::recurrent}); !form.ok()) return form;
  for (std::int64_t b = 0; b < a.p.extent(0); ++b)
    for (std::int64_t t = 0; t < a.p.extent(1); ++t)
      if (depth::takes_part(a, b, t))
        if (Status status = check_token(a, b, t); !status.ok()) return status;
  return {};
}

// The definition is float64: widen what comes in, narrow what goes out.
void run_reference_widened(const AdaptiveComputationTimeArguments<float>& a) {
  const Widened<3> p(a.p);
  const Widened<4> x(a.x);
  Narrowing<3> o(a.o), weights(a.weights);
  Narrowing<2> remainder(a.remainder);
  depth::halting_reference({.p = p.view(), .x = x.view(), .mask = a.mask, .halting = a.halting, .eps = a.eps, .o = o.view(),
                            .weights = weights.view(), .remainder = remainder.view(), .n = a.n});
  o.narrow();
  weights.narrow();
  remainder.narrow();
}

template <typename T>
Status enter(const AdaptiveComputationTimeArguments<T>& a) {
  if (Status status = check(a); !status.ok()) return status;
  if (a.form != Form::reference) depth::halting_recurrent(a);
  else if constexpr (std::is_same_v<T, float>) run_reference_widened(a);
  else depth::halting_reference(a);
  return {};
}

}  // namespace

std::string_view halting_name(Halting halting) {
  for (const HaltingName& entry : kHaltingNames)
    if (entry.halting == halting) return entry.name;
  return "unknown";
}

std::optional<Halting> halting_named(std::string_view name) {
  for (const HaltingName& entry : kHaltingNames)
    if (entry.name == name) return entry.halting;
  return std::nullopt;
}

Status adaptive_computation_time(const AdaptiveComputationTimeArguments<float>& arguments) { return enter(arguments); }
Status adaptive_computation_time(const AdaptiveComputationTimeArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
