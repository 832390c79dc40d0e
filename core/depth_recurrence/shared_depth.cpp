// The door: check, choose a form, call it.
#include <string>
#include <type_traits>

#include "depth_recurrence/block.hpp"
#include "foundation/form_check.hpp"
#include "foundation/shape_check.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "shared_depth";

struct ActivationName {
  BlockActivation activation;
  std::string_view name;
};
constexpr ActivationName kActivationNames[] = {{BlockActivation::relu, "relu"}, {BlockActivation::gelu, "gelu"},
                                               {BlockActivation::tanh, "tanh"}, {BlockActivation::none, "none"}};

template <typename T>
Status check(const SharedDepthArguments<T>& a) {
  ShapeCheck shapes(kDoor);
  shapes.required("x", a.x, "B T D").required("w1", a.w1, "D F").optional("b1", a.b1, "F").required("w2", a.w2, "F D").optional("b2", a.b2, "D");
  shapes.require(a.rounds >= 0, [&] { return "rounds is " + std::to_string(a.rounds) + ", must be at least 0"; });
  shapes.required("y", a.y, "B T D").define("R", "rounds", a.rounds).optional("states", a.states, "R B T D");
  if (!shapes.status().ok()) return shapes.status();
  return check_form(kDoor, a.form, 0, {Form::reference, Form::recurrent, Form::explicit_});
}

// The definition is float64: widen what comes in, narrow what goes out.
DepthWork run_reference_widened(const SharedDepthArguments<float>& a) {
  const Widened<3> x(a.x);
  const Widened<2> w1(a.w1), w2(a.w2);
  const Widened<1> b1(a.b1), b2(a.b2);
  Narrowing<3> y(a.y);
  Narrowing<4> states(a.states);
  const DepthWork work = depth::shared_reference({.x = x.view(), .w1 = w1.view(), .b1 = b1.view(), .w2 = w2.view(), .b2 = b2.view(),
                                                  .rounds = a.rounds, .activation = a.activation, .y = y.view(), .states = states.view()});
  y.narrow();
  states.narrow();
  return work;
}

template <typename T>
DepthWork run(const SharedDepthArguments<T>& a) {
  if (a.form == Form::explicit_) return depth::shared_unrolled(a);
  if (a.form != Form::reference) return depth::shared_recurrent(a);
  if constexpr (std::is_same_v<T, float>) return run_reference_widened(a);
  else return depth::shared_reference(a);
}

template <typename T>
Status enter(const SharedDepthArguments<T>& a) {
  if (Status status = check(a); !status.ok()) return status;
  const DepthWork work = run(a);
  if (a.work != nullptr) *a.work = work;
  return {};
}

}  // namespace

std::string_view block_activation_name(BlockActivation activation) {
  for (const ActivationName& entry : kActivationNames)
    if (entry.activation == activation) return entry.name;
  return "unknown";
}

std::optional<BlockActivation> block_activation_named(std::string_view name) {
  for (const ActivationName& entry : kActivationNames)
    if (entry.name == name) return entry.activation;
  return std::nullopt;
}

Status shared_depth(const SharedDepthArguments<float>& arguments) { return enter(arguments); }
Status shared_depth(const SharedDepthArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
