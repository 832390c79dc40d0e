// ledgerModels(), ledger(): what a model keeps for each request, from core/ledger.
#include "linearmem/ledger_figure.hpp"

#include <emscripten/bind.h>

#include "experiments.hpp"

namespace linearmem::wasm {
namespace {

val number(std::int64_t value) { return val(static_cast<double>(value)); }
val number_or_null(const std::optional<std::int64_t>& value) { return value ? number(*value) : val::null(); }

val row_to_val(const LedgerRow& row) {
  val object = val::object();
  object.set("kind", text(layer_kind_name(row.group.shape.kind)));
  object.set("layers", number(row.group.layers));
  object.set("where", text(row.group.where));
  object.set("tokenBytes", number(row.token_bytes));
  object.set("growingBytes", number(row.growing_bytes));
  object.set("stateBytes", number(row.state_bytes));
  object.set("normalizerBytes", number(row.normalizer_bytes));
  object.set("convBytes", number(row.conv_bytes));
  object.set("requestBytes", number(row.request_bytes));
  object.set("breakEven", number_or_null(row.break_even));
  return object;
}

val training_to_val(const TrainingRow& row) {
  val object = val::object();
  object.set("kind", text(layer_kind_name(row.kind)));
  object.set("layers", number(row.layers));
  object.set("inputBytes", number(row.input_bytes));
  object.set("naiveBytes", number(row.naive_bytes));
  object.set("chunkedBytes", number(row.chunked_bytes));
  object.set("recomputedBytes", number(row.recomputed_bytes));
  return object;
}

val assumption_to_val(const Assumption& assumption) {
  val object = val::object();
  object.set("rule", text(assumption_rule_name(assumption.rule)));
  object.set("field", text(assumption.field));
  object.set("number", val(assumption.number));
  return object;
}

val ledger_to_val(const ModelLayers& model, const Ledger& ledger, const Figure& figure) {
  val object = val::object();
  object.set("model", text(model.name));
  object.set("modelType", text(model.model_type));
  object.set("rows", to_array(ledger.rows, row_to_val));
  object.set("growingBytes", number(ledger.growing_bytes));
  object.set("fixedBytes", number(ledger.fixed_bytes));
  object.set("requestBytes", number(ledger.request_bytes));
  object.set("batchBytes", number(ledger.batch_bytes));
  object.set("fullAttentionBytes", number(ledger.full_attention_bytes));
  object.set("breakEven", number_or_null(ledger.break_even));
  object.set("requestsFit", number_or_null(ledger.requests_fit));
  object.set("training", to_array(ledger.training, training_to_val));
  object.set("assumed", to_array(model.assumed, assumption_to_val));
  object.set("figure", figure_to_val(figure));
  return object;
}

val models() {
  return to_array(named_models(), [](const NamedModel& named) {
    val object = val::object();
    object.set("name", text(named.name));
    object.set("source", text(named.source));
    return object;
  });
}

// The text of a config.json, or where it is empty the named model.
Result<ModelLayers> chosen(const std::string& name, const std::string& config) {
  if (config.empty()) return find_model(name);
  auto model = read_model_config(config);
  if (model.ok()) model.value().name = name;
  return model;
}

val ledger(const std::string& name, const std::string& config, const val& values) {
  return guarded([&]() -> Result<val> {
    const auto settings = ledger_settings(settings_of(values));
    if (!settings.ok()) return settings.status();
    const auto model = chosen(name, config);
    if (!model.ok()) return model.status();
    const auto result = memory_ledger(model.value(), settings.value());
    if (!result.ok()) return result.status();
    const auto figure = ledger_figure(model.value(), settings.value());
    if (!figure.ok()) return figure.status();
    return ledger_to_val(model.value(), result.value(), figure.value());
  });
}

EMSCRIPTEN_BINDINGS(linearmem_ledger) {
  emscripten::function("ledgerModels", &models);
  emscripten::function("ledger", &ledger);
}

}  // namespace
}  // namespace linearmem::wasm
