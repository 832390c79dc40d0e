#include "linearmem/hybrid.hpp"

#include <algorithm>

#include "mechanisms/declarations.hpp"
#include "mechanisms/option_text.hpp"
#include "mechanisms/typed_tensors.hpp"

namespace linearmem {
namespace {

// "window,delta,window"
Result<std::vector<HybridLayer>> layers_in(const std::string& text) {
  std::vector<HybridLayer> layers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const auto layer = hybrid_layer_named(name);
    if (!layer) return Status::invalid("hybrid: option layers has \"" + name + "\"; a layer is one of window, delta, linear, commas between them");
    layers.push_back(*layer);
    begin = end + 1;
  }
  return layers;
}

template <typename T>
void make_outputs(HybridArguments<T>& a, TypedOutputs<T>& outputs) {
  const auto layers_of = [&](HybridLayer kind) -> std::int64_t { return std::count(a.layers.begin(), a.layers.end(), kind); };
  const std::int64_t N = sequence_count(a.cu_seqlens, a.hidden), H = a.wq.extent(2), K = a.wq.extent(3), V = a.wv.extent(3);
  const std::int64_t rows = hybrid_window_rows(a.window_k.given() ? a.window_k.extent(2) : 0, a.hidden.extent(1), a.window);
  const std::int64_t windows = layers_of(HybridLayer::window), deltas = layers_of(HybridLayer::delta), linears = layers_of(HybridLayer::linear);
  a.y = outputs.template make<3>("y", a.hidden.extents());
  a.final_window_k = outputs.template make<5>("window_k", {windows, N, rows, H, K});
  a.final_window_v = outputs.template make<5>("window_v", {windows, N, rows, H, V});
  a.final_window_count = outputs.template make_integers<1>("window_count", {N});
  a.final_delta_state = outputs.template make<5>("delta_state", {deltas, N, H, K, V});
  a.final_linear_state = outputs.template make<5>("linear_state", {linears, N, H, K, V});
  a.final_linear_z = outputs.template make<4>("linear_z", {linears, N, H, K});
}

template <typename T>
Result<NamedTensors> run_in(const NamedTensors& tensors, const RunSettings& settings) {
  const auto layers = layers_in(option_choice(settings, "layers"));
  if (!layers.ok()) return layers.status();
  TypedInputs<T> inputs(tensors);
  TypedOutputs<T> outputs;
  HybridArguments<T> arguments{
      .layers = layers.value(),
      .hidden = inputs.template floating<3>("hidden"),
      .wq = inputs.template floating<4>("wq"),
      .wk = inputs.template floating<4>("wk"),
      .wv = inputs.template floating<4>("wv"),
      .wo = inputs.template floating<4>("wo"),
      .wbeta = inputs.template floating<3>("wbeta"),
      .wg = inputs.template floating<3>("wg"),
      .window_k = inputs.template floating<5>("window_k"),
      .window_v = inputs.template floating<5>("window_v"),
      .window_count = inputs.template integers<1>("window_count"),
      .delta_state = inputs.template floating<5>("delta_state"),
      .linear_state = inputs.template floating<5>("linear_state"),
      .linear_z = inputs.template floating<4>("linear_z"),
      .cu_seqlens = inputs.template integers<1>("cu_seqlens"),
      .window = option_integer(settings, "window"),
      .form = settings.form,
      .chunk = settings.chunk,
      .executor = settings.executor,
      .y = {},
  };
  make_outputs(arguments, outputs);
  return through_door(
      inputs, outputs, [](const HybridArguments<T>& a) { return hybrid(a); }, arguments);
}

Result<NamedTensors> run(const NamedTensors& tensors, const RunSettings& settings, DType dtype) {
  return dtype == DType::f32 ? run_in<float>(tensors, settings) : run_in<double>(tensors, settings);
}

InputSpec maybe(const char* name, const char* axes, TensorKind kind = TensorKind::floating) { return {name, axes, kind, false}; }

}  // namespace

Mechanism declare_hybrid() {
  return {
      .name = "hybrid",
      .room = "hybrid",
      .equation = "x^{l+1} = x^l + memory_l(x^l Wq_l, x^l Wk_l, x^l Wv_l) Wo_l;  memory_l: window attention, gated delta rule or linear attention",
      .inputs = {{"hidden", "B T D"}, {"wq", "L D H K"}, {"wk", "L D H K"}, {"wv", "L D H V"}, {"wo", "L H V D"},
                 maybe("wbeta", "Ld D H"), maybe("wg", "Ld D H"), maybe("window_k", "Lw N P H K"), maybe("window_v", "Lw N P H V"),
                 maybe("window_count", "N", TensorKind::integer), maybe("delta_state", "Ld N H K V"), maybe("linear_state", "Ll N H K V"),
                 maybe("linear_z", "Ll N H K"), maybe("cu_seqlens", "N+1", TensorKind::integer)},
      .options = {{"layers", OptionKind::text, "window,delta,linear", "the kinds of the L layers, first to last: window, delta, linear"},
                  {"window", OptionKind::integer, "none", "tokens a window layer sees, the query's own included; none: all before it"}},
      .outputs = {"y", "window_k", "window_v", "window_count", "delta_state", "linear_state", "linear_z"},
      .forms = {Form::reference, Form::recurrent, Form::chunked, Form::explicit_},
      .stream = {.impossible = "a window layer adds in another order where a block of tokens begins elsewhere"},
      .run = run,
  };
}

}  // namespace linearmem
