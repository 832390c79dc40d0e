// The door: check, then layer by layer: project, remember, add.
#include "linearmem/hybrid.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include "foundation/form_check.hpp"
#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "foundation/shape_check.hpp"
#include "hybrid/layer.hpp"
#include "hybrid/projection.hpp"

namespace linearmem {
namespace {

constexpr const char* kDoor = "hybrid";

struct LayerName {
  HybridLayer layer;
  std::string_view name;
};
constexpr LayerName kLayerNames[] = {{HybridLayer::window, "window"}, {HybridLayer::delta, "delta"}, {HybridLayer::linear, "linear"}};

std::int64_t count_of(const std::vector<HybridLayer>& layers, HybridLayer kind) { return std::count(layers.begin(), layers.end(), kind); }

template <typename T>
void check_weights(const HybridArguments<T>& a, ShapeCheck& shapes) {
  shapes.require(!a.layers.empty(), "layers is empty; a stack has at least one");
  shapes.define("L", "layers", static_cast<std::int64_t>(a.layers.size())).define("Lw", "layers", count_of(a.layers, HybridLayer::window));
  shapes.define("Ld", "layers", count_of(a.layers, HybridLayer::delta)).define("Ll", "layers", count_of(a.layers, HybridLayer::linear));
  shapes.required("hidden", a.hidden, "B T D").required("wq", a.wq, "L D H K").required("wk", a.wk, "L D H K");
  shapes.required("wv", a.wv, "L D H V").required("wo", a.wo, "L H V D").optional("wbeta", a.wbeta, "Ld D H").optional("wg", a.wg, "Ld D H");
  shapes.require(shapes.size("K") > 0, "K is 0; a key needs at least one component").sequences(a.cu_seqlens);
  if (a.window)
    shapes.require(*a.window >= 1, [&] { return "window is " + std::to_string(*a.window) + ", must be at least 1, the query's own token"; });
}

template <typename T>
void check_states(const HybridArguments<T>& a, ShapeCheck& shapes) {
  shapes.optional("window_k", a.window_k, "Lw N P H K").optional("window_v", a.window_v, "Lw N P H V").optional("window_count", a.window_count, "N");
  shapes.require(a.window_k.given() == a.window_v.given() && a.window_k.given() == a.window_count.given(),
                 "window_k, window_v and window_count come together; at least one of them is missing");
  shapes.optional("delta_state", a.delta_state, "Ld N H K V");
  shapes.optional("linear_state", a.linear_state, "Ll N H K V").optional("linear_z", a.linear_z, "Ll N H K");
  shapes.require(a.linear_state.given() == a.linear_z.given(), "linear_state and linear_z come together; one of them is missing");
  if (!shapes.status().ok() || !a.window_count.given()) return;
  for (std::int64_t n = 0; n < a.window_count.extent(0); ++n)
    shapes.require(a.window_count(n) >= 0 && a.window_count(n) <= a.window_k.extent(2), [&] {
      return "window_count is " + std::to_string(a.window_count(n)) + " at sequence " + std::to_string(n) + "; window_k has " +
             std::to_string(a.window_k.extent(2)) + " rows";
    });
}

template <typename T>
Status check(const HybridArguments<T>& a, ShapeCheck& shapes) {
  check_weights(a, shapes);
  check_states(a, shapes);
  if (!shapes.status().ok()) return shapes.status();
  shapes.define("Q", "the window state", hybrid_window_rows(a.window_k.given() ? a.window_k.extent(2) : 0, a.hidden.extent(1), a.window));
  shapes.required("y", a.y, "B T D").optional("final_window_k", a.final_window_k, "Lw N Q H K").optional("final_window_v", a.final_window_v, "Lw N Q H V");
  shapes.optional("final_window_count", a.final_window_count, "N").optional("final_delta_state", a.final_delta_state, "Ld N H K V");
  shapes.optional("final_linear_state", a.final_linear_state, "Ll N H K V").optional("final_linear_z", a.final_linear_z, "Ll N H K");
  if (!shapes.status().ok()) return shapes.status();
  return check_form(kDoor, a.form, a.chunk, {Form::reference, Form::recurrent, Form::chunked, Form::explicit_});
}

template <typename T>
Status remember(stack::Layer<T>& layer, HybridLayer kind, std::int64_t N) {
  switch (kind) {
    case HybridLayer::window: return stack::window_layer(layer, N);
    case HybridLayer::delta: return stack::delta_layer(layer);
    case HybridLayer::linear: break;
  }
  return stack::linear_layer(layer);
}

template <typename T>
void count_rows(const HybridArguments<T>& a, std::int64_t N) {
  for (std::int64_t n = 0; a.final_window_count.given() && n < N; ++n) {
    const TokenRange range = sequence_range(a.cu_seqlens, a.hidden.extent(1), n);
    a.final_window_count(n) = hybrid_window_rows(stack::rows_seen(a, n), range.end - range.begin, a.window);
  }
}

template <typename T>
Status run_all(const HybridArguments<T>& a, std::int64_t N) {
  Tensor<T, 3> x(a.hidden.extents());
  convert(a.hidden, x.view());
  for (std::size_t l = 0; l < a.layers.size(); ++l) {
    const auto at = static_cast<std::int64_t>(l);
    stack::Layer<T> layer{a,
                          std::count(a.layers.begin(), a.layers.begin() + at, a.layers[l]),
                          x,
                          stack::project(a.executor, x, stack::entry(a.wq, at)),
                          stack::project(a.executor, x, stack::entry(a.wk, at)),
                          stack::project(a.executor, x, stack::entry(a.wv, at)),
                          Tensor<T, 4>({x.extents()[0], x.extents()[1], a.wv.extent(2), a.wv.extent(3)})};
    if (Status status = remember(layer, a.layers[l], N); !status.ok()) return status;
    stack::add_projected(a.executor, layer.o, stack::entry(a.wo, at), x);
  }
  convert(View<const T, 3>(x.view()), a.y);
  count_rows(a, N);
  return {};
}

// The definition is float64: widen what comes in, narrow what goes out.
Status run_reference_widened(const HybridArguments<float>& a, std::int64_t N) {
  const Widened<3> hidden(a.hidden), wbeta(a.wbeta), wg(a.wg);
  const Widened<4> wq(a.wq), wk(a.wk), wv(a.wv), wo(a.wo), linear_z(a.linear_z);
  const Widened<5> window_k(a.window_k), window_v(a.window_v), delta_state(a.delta_state), linear_state(a.linear_state);
  Narrowing<3> y(a.y);
  Narrowing<4> last_z(a.final_linear_z);
  Narrowing<5> last_k(a.final_window_k), last_v(a.final_window_v), last_delta(a.final_delta_state), last_linear(a.final_linear_state);
  const Status status = run_all<double>(
      {.layers = a.layers, .hidden = hidden.view(), .wq = wq.view(), .wk = wk.view(), .wv = wv.view(), .wo = wo.view(), .wbeta = wbeta.view(),
       .wg = wg.view(), .window_k = window_k.view(), .window_v = window_v.view(), .window_count = a.window_count,
       .delta_state = delta_state.view(), .linear_state = linear_state.view(), .linear_z = linear_z.view(), .cu_seqlens = a.cu_seqlens,
       .window = a.window, .form = Form::reference, .executor = a.executor, .y = y.view(), .final_window_k = last_k.view(), .final_window_v = last_v.view(),
       .final_window_count = a.final_window_count, .final_delta_state = last_delta.view(), .final_linear_state = last_linear.view(),
       .final_linear_z = last_z.view()},
      N);
  y.narrow();
  last_z.narrow();
  for (const auto* state : {&last_k, &last_v, &last_delta, &last_linear}) state->narrow();
  return status;
}

template <typename T>
Status enter(const HybridArguments<T>& a) {
  ShapeCheck shapes(kDoor);
  if (Status status = check(a, shapes); !status.ok()) return status;
  if constexpr (std::is_same_v<T, float>)
    if (a.form == Form::reference) return run_reference_widened(a, shapes.size("N"));
  return run_all(a, shapes.size("N"));
}

}  // namespace

std::string_view hybrid_layer_name(HybridLayer layer) {
  for (const LayerName& entry : kLayerNames)
    if (entry.layer == layer) return entry.name;
  return "unknown";
}

std::optional<HybridLayer> hybrid_layer_named(std::string_view name) {
  for (const LayerName& entry : kLayerNames)
    if (entry.name == name) return entry.layer;
  return std::nullopt;
}

std::int64_t hybrid_window_rows(std::int64_t P, std::int64_t T, std::optional<std::int64_t> window) {
  return window ? std::clamp(P + T, std::int64_t{0}, std::max(*window - 1, std::int64_t{0})) : P + T;
}

Status hybrid(const HybridArguments<float>& arguments) { return enter(arguments); }
Status hybrid(const HybridArguments<double>& arguments) { return enter(arguments); }

}  // namespace linearmem
