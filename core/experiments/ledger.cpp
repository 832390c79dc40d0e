// Which model keeps how much: the ledger of a named model against the prefix.
#include "linearmem/ledger_figure.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/lists.hpp"

namespace linearmem {
namespace {

constexpr int kShortestSpan = 20;  // powers of two that the prefix always covers

// Powers of two, and what lies halfway between two of them on a logarithmic axis.
std::vector<std::int64_t> prefixes(std::int64_t context) {
  int powers = kShortestSpan;
  while (powers < 40 && (std::int64_t{1} << powers) < context) ++powers;
  std::vector<std::int64_t> list;
  for (int power = 0; power <= powers; ++power) {
    list.push_back(std::int64_t{1} << power);
    if (power > 1 && power < powers) list.push_back(static_cast<std::int64_t>(std::llround(std::exp2(power + 0.5))));
  }
  return list;
}

LedgerSettings at(LedgerSettings settings, std::int64_t context) {
  settings.context = context;
  return settings;
}

double layer_total(const LedgerRow& row) {
  return static_cast<double>(row.growing_bytes + row.state_bytes + row.normalizer_bytes + row.conv_bytes);
}

void add(Series& series, std::int64_t x, double y) {
  series.x.push_back(static_cast<double>(x));
  series.y.push_back(y);
}

// "gated delta rule"; where two rows are of one kind, "ssd, layers 0-3".
std::string label_of(const Ledger& ledger, const LedgerRow& row) {
  std::string name = layer_kind_name(row.group.shape.kind);
  std::replace(name.begin(), name.end(), '-', ' ');
  const auto same = [&](const LedgerRow& other) { return other.group.shape.kind == row.group.shape.kind; };
  const bool alone = std::count_if(ledger.rows.begin(), ledger.rows.end(), same) == 1;
  return alone || row.group.where.empty() ? name : name + ", layers " + row.group.where;
}

bool has_row(const ModelLayers& model, const LayerShape& shape) {
  return std::any_of(model.groups.begin(), model.groups.end(), [&](const LayerGroup& group) { return group.shape == shape; });
}

// The model whose ledger gives all lines of the first panel: each group, and full attention where no layer is that.
ModelLayers with_full_attention(ModelLayers model) {
  if (model.full_attention && !has_row(model, *model.full_attention)) model.groups.push_back({.shape = *model.full_attention, .layers = 1});
  return model;
}

Result<Panel> layer_panel(const ModelLayers& asked, const LedgerSettings& settings, const std::vector<std::int64_t>& xs) {
  const ModelLayers model = with_full_attention(asked);
  Panel panel{"layer",
              {"prefix length", "tokens", true},
              {"one layer, one request", "bytes", true},
              {},
              {{"context", 1, static_cast<double>(settings.context)}}};
  const auto first = memory_ledger(model, settings);
  if (!first.ok()) return first.status();
  for (const LedgerRow& row : first.value().rows)
    panel.series.push_back({layer_kind_memory(row.group.shape.kind), label_of(first.value(), row), {}, {}});
  if (model.groups.size() > asked.groups.size()) panel.series.back().label = "full attention instead";
  for (std::int64_t x : xs) {
    const auto ledger = memory_ledger(model, at(settings, x));
    if (!ledger.ok()) return ledger.status();
    for (std::size_t i = 0; i < panel.series.size(); ++i) add(panel.series[i], x, layer_total(ledger.value().rows[i]));
  }
  std::vector<Series> marks;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const LedgerRow& row = first.value().rows[i];
    if (!row.break_even || *row.break_even < 1 || *row.break_even > xs.back()) continue;
    const auto full = layer_bytes(*model.full_attention, *row.break_even, settings.precision, settings.conv_columns);
    if (!full.ok()) return full.status();
    Series mark{panel.series[i].memory, "break-even: " + panel.series[i].label, {}, {}, {}, {}, true};
    add(mark, *row.break_even, static_cast<double>(full.value()));
    marks.push_back(std::move(mark));
  }
  const auto keeps_nothing = [](const Series& series) {
    return std::all_of(series.y.begin(), series.y.end(), [](double y) { return y == 0; });
  };
  panel.series.erase(std::remove_if(panel.series.begin(), panel.series.end(), keeps_nothing), panel.series.end());
  panel.series.insert(panel.series.end(), marks.begin(), marks.end());
  return panel;
}

Result<Panel> model_panel(const ModelLayers& model, const LedgerSettings& settings, const std::vector<std::int64_t>& xs) {
  Panel panel{"model",
              {"prefix length", "tokens", true},
              {"whole model, whole batch", "bytes", true},
              {},
              {{"context", 1, static_cast<double>(settings.context)}}};
  Series whole{"whole_model", "this model", {}, {}}, full{"softmax_attention", "in every layer", {}, {}};
  Series device{"device_memory", "device memory", {}, {}}, mark{"whole_model", "break-even: this model", {}, {}, {}, {}, true};
  const auto batch = static_cast<double>(settings.batch);
  for (std::int64_t x : xs) {
    const auto ledger = memory_ledger(model, at(settings, x));
    if (!ledger.ok()) return ledger.status();
    add(whole, x, static_cast<double>(ledger.value().batch_bytes));
    if (model.full_attention) add(full, x, static_cast<double>(ledger.value().full_attention_bytes) * batch);
    if (settings.device_bytes > 0) add(device, x, static_cast<double>(settings.device_bytes));
  }
  const auto ledger = memory_ledger(model, settings);
  if (!ledger.ok()) return ledger.status();
  if (const auto prefix = ledger.value().break_even; prefix && *prefix >= 1 && *prefix <= xs.back()) {
    const auto there = memory_ledger(model, at(settings, *prefix));
    if (!there.ok()) return there.status();
    add(mark, *prefix, static_cast<double>(there.value().full_attention_bytes) * batch);
  }
  for (Series* series : {&whole, &full, &device, &mark})
    if (!series->x.empty()) panel.series.push_back(std::move(*series));
  return panel;
}

// Bits of a dtype as a setting of the figure.
Status check_bits(const Settings& settings) {
  for (const char* name : {"kv_bits", "state_bits", "conv_bits"}) {
    const double bits = settings.at(name);
    if (bits != 4 && bits != 8 && bits != 16 && bits != 32 && bits != 64)
      return Status::invalid(std::string("ledger: ") + name + " is " + std::to_string(static_cast<int>(bits)) +
                             ", must be 4, 8, 16, 32 or 64");
  }
  return {};
}

LedgerSettings in_words_of_the_ledger(const Settings& settings) {
  return {.context = whole(settings, "context"),
          .batch = whole(settings, "batch"),
          .source = whole(settings, "source"),
          .precision = {static_cast<int>(whole(settings, "kv_bits")), static_cast<int>(whole(settings, "state_bits")), static_cast<int>(whole(settings, "conv_bits"))},
          .conv_columns = static_cast<ConvColumns>(whole(settings, "conv_columns")),
          .block = whole(settings, "block"),
          .device_bytes = static_cast<std::int64_t>(settings.at("device_gib") * 1024 * 1024 * 1024)};
}

Result<Figure> run(const Settings& settings) {
  if (Status status = check_bits(settings); !status.ok()) return status;
  const auto model = find_model(named_models().at(static_cast<std::size_t>(settings.at("model"))).name);
  if (!model.ok()) return model.status();
  return ledger_figure(model.value(), in_words_of_the_ledger(settings));
}

}  // namespace

const char* layer_kind_memory(LayerKind kind) {
  switch (kind) {
    case LayerKind::full_attention:
    case LayerKind::grouped_query_attention:
    case LayerKind::latent_attention:
    case LayerKind::cross_attention:
    case LayerKind::encoder_attention:
      return "softmax_attention";
    case LayerKind::window_attention:
      return "window";
    case LayerKind::linear_attention:
    case LayerKind::retention:
    case LayerKind::rwkv6:
      return "linear_attention";
    case LayerKind::delta_rule:
      return "delta_rule";
    case LayerKind::gated_delta_rule:
    case LayerKind::kimi_delta:
    case LayerKind::rwkv7:
      return "gated_delta_rule";
    case LayerKind::mamba:
    case LayerKind::ssd:
      return "selective_scan";
    case LayerKind::short_convolution:
      return "causal_conv";
  }
  return "";
}

Result<Figure> ledger_figure(const ModelLayers& model, const LedgerSettings& settings) {
  const std::vector<std::int64_t> xs = prefixes(settings.context);
  Result<Panel> layer = layer_panel(model, settings, xs), whole = model_panel(model, settings, xs);
  for (const Result<Panel>* panel : {&layer, &whole})
    if (!panel->ok()) return panel->status();
  return Figure{{std::move(layer).value(), std::move(whole).value()}};
}

Result<LedgerSettings> ledger_settings(const Settings& settings) {
  const auto complete = complete_settings(ledger_experiment(), settings);
  if (!complete.ok()) return complete.status();
  if (Status status = check_bits(complete.value()); !status.ok()) return status;
  return in_words_of_the_ledger(complete.value());
}

Experiment ledger_experiment() {
  const double last_model = static_cast<double>(named_models().size() - 1), tokens = std::exp2(24);
  return {
      "ledger",
      "What does a model keep for each request, layer by layer?",
      "Weights, workspace and fragmentation; scales of quantized caches; what engines copy or pad. linearmem ledger prints the whole list.",
      {{"context", "tokens of prefix of each request", 8192, 1, tokens, 1},
       {"batch", "requests", 1, 1, 65536, 1},
       {"device_gib", "memory for requests, GiB", 80, 1, 65536, 0},
       {"block", "tokens per page", 1, 1, 4096, 1},
       {"model", "number of the named model; linearmem ledger --list names them", 0, 0, last_model, 1},
       {"kv_bits", "bits of an element of K,V", 16, 4, 64, 1},
       {"state_bits", "bits of an element of a state", 32, 4, 64, 1},
       {"conv_bits", "bits of an element of a convolution's inputs", 16, 4, 64, 1},
       {"conv_columns", "inputs that a convolution keeps: 0 not counted, 1 all but the newest, 2 all of its width", 1, 0, 2, 1},
       {"source", "tokens that an encoder has read", 512, 1, tokens, 1}},
      run};
}

}  // namespace linearmem
