#include "linearmem/knn_memory.hpp"

#include "foundation/precision.hpp"
#include "foundation/shape_check.hpp"
#include "mechanisms/declarations.hpp"
#include "mechanisms/option_text.hpp"
#include "mechanisms/typed_tensors.hpp"

namespace linearmem {
namespace {

// Neighbours and what follows from them, float64 whatever the compute dtype is.
struct Found {
  Tensor<std::int64_t, 2> ids, tokens;  // [Q,R]
  Tensor<double, 2> distances, weights, memory, mixed;
};

Result<Found> room_for(std::int64_t Q, std::int64_t R, std::int64_t V) {
  Found found;
  const auto place = [&](auto& tensor, const char* name, std::int64_t columns) {
    auto made = std::remove_reference_t<decltype(tensor)>::create(name, {Q, columns});
    if (made.ok()) tensor = std::move(made).value();
    return made.status();
  };
  for (auto* tensor : {&found.ids, &found.tokens})
    if (Status status = place(*tensor, "ids", R); !status.ok()) return status;
  for (auto* tensor : {&found.distances, &found.weights})
    if (Status status = place(*tensor, "distance", R); !status.ok()) return status;
  for (auto* tensor : {&found.memory, &found.mixed})
    if (Status status = place(*tensor, "prob", V); !status.ok()) return status;
  return found;
}

// V: what `vocab` says, or else the model's.
Result<std::int64_t> vocabulary(const NamedTensors& tensors, const RunSettings& settings) {
  const std::optional<std::int64_t> said = option_integer(settings, "vocab");
  const auto model = tensors.find("model_prob");
  if (!said && model == tensors.end()) return Status::invalid("knn: vocab is not set and there is no model_prob to take it from");
  ShapeCheck axes("knn");
  if (model != tensors.end()) axes.define("V", "model_prob", model->second.shape[1]);
  if (said) axes.define("V", "vocab", *said).require(*said >= 1, "vocab is " + std::to_string(*said) + ", must be at least 1");
  if (!axes.status().ok()) return axes.status();
  return axes.size("V");
}

Status mix(const View<const double, 2>& model, double weight, Found& found) {
  if (model.given()) return knn_interpolate({.memory = found.memory.view(), .model = model, .weight = weight, .mixed = found.mixed.view()});
  found.mixed = found.memory;
  return {};
}

template <typename T>
NamedTensors outputs_of(const Found& found, bool neighbours) {
  const auto narrowed = [](const Tensor<double, 2>& tensor) {
    return to_named(std::vector<T>(tensor.values().begin(), tensor.values().end()), {tensor.extents().begin(), tensor.extents().end()});
  };
  NamedTensors outputs = {
      {"prob", narrowed(found.mixed)}, {"memory_prob", narrowed(found.memory)}, {"distance", narrowed(found.distances)}};
  if (!neighbours) return outputs;
  const std::vector<std::int64_t> shape(found.ids.extents().begin(), found.ids.extents().end());
  outputs.emplace("id", to_named(found.ids.values(), shape));
  outputs.emplace("token", to_named(found.tokens.values(), shape));
  outputs.emplace("weight", narrowed(found.weights));
  return outputs;
}

template <typename T>
Result<NamedTensors> run(const NamedTensors& tensors, const RunSettings& settings) {
  TypedInputs<T> inputs(tensors);
  const View<const T, 2> query = inputs.template floating<2>("query"), keys = inputs.template floating<2>("keys");
  const View<const std::int64_t, 1> token_ids = inputs.template integers<1>("token_ids");
  TypedInputs<double> wide(tensors);
  const View<const double, 2> model = wide.floating<2>("model_prob");
  for (const Status& status : {inputs.status(), wide.status()})
    if (!status.ok()) return status;
  const auto V = vocabulary(tensors, settings);
  if (!V.ok()) return V.status();
  const std::int64_t k = *option_integer(settings, "k");
  const bool at_most = option_boolean(settings, "at_most_k");
  const std::int64_t M = keys.extent(0), R = k >= 1 && (k <= M || at_most) ? knn_columns(M, k, at_most) : 0;  // else the door refuses
  auto room = room_for(query.extent(0), R, V.value());
  if (!room.ok()) return room.status();
  Found& found = room.value();
  const Status searched = knn_search({.keys = keys,
                                      .queries = query,
                                      .k = k,
                                      .at_most_k = at_most,
                                      .metric = *metric_named(option_choice(settings, "metric")),
                                      .form = settings.form,
                                      .executor = settings.executor,
                                      .backend = settings.backend,
                                      .ids = found.ids.view(),
                                      .distances = found.distances.view()});
  if (!searched.ok()) return searched;
  for (std::size_t i = 0; i < found.ids.values().size(); ++i) found.tokens.values()[i] = token_ids(found.ids.values()[i]);
  const Status spread = knn_distribution({.distances = found.distances.view(),
                                          .tokens = found.tokens.view(),
                                          .temperature = *option_number(settings, "temperature"),
                                          .weights = found.weights.view(),
                                          .prob = found.memory.view()});
  if (!spread.ok()) return spread;
  if (Status status = mix(model, *option_number(settings, "weight"), found); !status.ok()) return status;
  return outputs_of<T>(found, option_boolean(settings, "neighbours"));
}

}  // namespace

Mechanism declare_knn() {
  return {
      .name = "knn",
      .room = "knn_memory",
      .equation =
          "p = weight p_memory + (1 - weight) p_model, p_memory(y) = sum of softmax(-d / temperature) over the k nearest keys of token y",
      .inputs = {{"query", "Q D"},
                 {"keys", "M D"},
                 {"token_ids", "M", TensorKind::integer},
                 {"model_prob", "Q V", TensorKind::floating, false}},
      .options = {{"k", OptionKind::integer, "1", "neighbours, from 1"},
                  {"at_most_k", OptionKind::boolean, "false", "with fewer than k keys take them all; else that is an error"},
                  {"metric",
                   OptionKind::choice,
                   "squared-l2",
                   "d: the squared distance, or the negative product",
                   {"squared-l2", "inner-product"}},
                  {"temperature", OptionKind::number, "1", "divides d, above 0"},
                  {"vocab", OptionKind::integer, "none", "V, where there is no model_prob to tell it"},
                  {"weight", OptionKind::number, "0.25", "of the memory beside model_prob, 0 to 1"},
                  {"neighbours", OptionKind::boolean, "false", "adds id, token and weight of the neighbours, [Q,k]"}},
      .outputs = {"prob", "memory_prob", "distance"},
      .forms = {Form::reference, Form::streaming},
      .stream = {.impossible = "its queries are not a sequence"},
      .run = [](const NamedTensors& tensors, const RunSettings& settings,
                DType dtype) { return dtype == DType::f32 ? run<float>(tensors, settings) : run<double>(tensors, settings); },
  };
}

}  // namespace linearmem
