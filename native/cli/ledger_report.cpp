#include "ledger_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace linearmem::cli {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

constexpr const char* kColumnNames[] = {"none", "W-1", "W"};

std::string bytes_or_dash(std::int64_t bytes) { return bytes > 0 ? bytes_text(static_cast<double>(bytes)) : "-"; }

std::string aligned(const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      line += (i < 2 ? row[i] + gap : gap + row[i]) + (i + 1 < row.size() ? "  " : "");  // words to the left, numbers to the right
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += "  " + line + "\n";
  }
  return text;
}

std::string break_even_text(const std::optional<std::int64_t>& prefix) { return prefix ? std::to_string(*prefix) : "-"; }

std::string rows_table(const Ledger& ledger) {
  std::vector<Cells> rows = {
      {"kind", "layers", "count", "a token adds", "K,V now", "state", "normalizer", "convolution", "all layers", "break-even"}};
  for (const LedgerRow& row : ledger.rows)
    rows.push_back({layer_kind_name(row.group.shape.kind), row.group.where, std::to_string(row.group.layers),
                    bytes_or_dash(row.token_bytes), bytes_or_dash(row.growing_bytes), bytes_or_dash(row.state_bytes),
                    bytes_or_dash(row.normalizer_bytes), bytes_or_dash(row.conv_bytes), bytes_or_dash(row.request_bytes),
                    break_even_text(row.break_even)});
  return aligned(rows);
}

std::string training_table(const Ledger& ledger) {
  if (ledger.training.empty()) return "";
  std::vector<Cells> rows = {{"kind", "", "count", "inputs", "naive", "chunked", "recomputed"}};
  for (const TrainingRow& row : ledger.training)
    rows.push_back({layer_kind_name(row.kind), "", std::to_string(row.layers), bytes_or_dash(row.input_bytes),
                    bytes_or_dash(row.naive_bytes), bytes_or_dash(row.chunked_bytes), bytes_or_dash(row.recomputed_bytes)});
  return "\nTraining, recurrences alone, whole batch: the inputs, and the states of every token, of every chunk's start, or only the "
         "first\n" +
         aligned(rows);
}

std::string totals(const LedgerSettings& settings, const Ledger& ledger) {
  const auto text = [](std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)) + " (" + std::to_string(bytes) + ")"; };
  std::string lines = "\n  one request     " + text(ledger.request_bytes) + ": " + bytes_text(static_cast<double>(ledger.growing_bytes)) +
                      " of K,V that follow the prefix, " + bytes_text(static_cast<double>(ledger.fixed_bytes)) + " fixed\n";
  lines += "  batch of " + std::to_string(settings.batch) +
           std::string(std::max<std::size_t>(1, 7 - std::min<std::size_t>(6, std::to_string(settings.batch).size())), ' ') +
           text(ledger.batch_bytes) + "\n";
  if (ledger.full_attention_bytes > 0)
    lines += "  full attention  " + text(ledger.full_attention_bytes) + " for one request, were it in every layer\n";
  lines += "  break-even      " +
           (ledger.break_even ? std::to_string(*ledger.break_even) + " tokens: beyond, full attention takes more"
                              : std::string("none: full attention never takes more")) +
           "\n";
  if (ledger.requests_fit)
    lines += "  device          " + std::to_string(*ledger.requests_fit) + " requests fit in " + text(settings.device_bytes) + "\n";
  return lines;
}

Json number_or_null(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(nullptr); }

Json row_json(const LedgerRow& row) {
  const LayerShape& shape = row.group.shape;
  return {{"kind", layer_kind_name(shape.kind)},
          {"layers", row.group.layers},
          {"where", row.group.where},
          {"shape",
           {{"heads", shape.heads},
            {"key_heads", shape.key_heads},
            {"key_width", shape.key_width},
            {"value_width", shape.value_width},
            {"rope_width", shape.rope_width},
            {"window", shape.window},
            {"conv_channels", shape.conv_channels},
            {"conv_width", shape.conv_width},
            {"shift_channels", shape.shift_channels}}},
          {"elements",
           {{"per_token", row.elements.per_token},
            {"state", row.elements.state},
            {"normalizer", row.elements.normalizer},
            {"convolution", row.elements.convolution}}},
          {"token_bytes", row.token_bytes},
          {"growing_bytes", row.growing_bytes},
          {"state_bytes", row.state_bytes},
          {"normalizer_bytes", row.normalizer_bytes},
          {"conv_bytes", row.conv_bytes},
          {"request_bytes", row.request_bytes},
          {"break_even", number_or_null(row.break_even)}};
}

}  // namespace

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", bytes, units[unit]);
  return text;
}

std::string ledger_table(const ModelLayers& model, const LedgerSettings& settings, const Ledger& ledger) {
  std::string text = model.name + " (" + model.model_type + "), " + std::to_string(settings.context) +
                     " tokens of prefix; bytes of one layer and one request\n";
  text += "K,V in " + std::to_string(settings.precision.kv_bits) + " bits, states in " + std::to_string(settings.precision.state_bits) +
          ", convolutions in " + std::to_string(settings.precision.conv_bits) + " (" +
          kColumnNames[static_cast<int>(settings.conv_columns)] + " columns); pages of " + std::to_string(settings.block) +
          (settings.block == 1 ? " token\n\n" : " tokens\n\n");
  text += rows_table(ledger) + totals(settings, ledger) + training_table(ledger);
  if (!model.assumed.empty()) text += "\nAssumed, as the configuration does not say:\n";
  for (const Assumption& what : model.assumed) text += "  " + assumption_text(what) + "\n";
  text += "\nNot counted:\n";
  for (const char* what : ledger_not_counted()) text += std::string("  ") + what + "\n";
  return text;
}

Json ledger_json(const ModelLayers& model, const LedgerSettings& settings, const Ledger& ledger) {
  Json rows = Json::array(), training = Json::array(), assumed = Json::array();
  for (const LedgerRow& row : ledger.rows) rows.push_back(row_json(row));
  for (const Assumption& what : model.assumed) assumed.push_back(assumption_text(what));
  for (const TrainingRow& row : ledger.training)
    training.push_back({{"kind", layer_kind_name(row.kind)},
                        {"layers", row.layers},
                        {"input_bytes", row.input_bytes},
                        {"naive_bytes", row.naive_bytes},
                        {"chunked_bytes", row.chunked_bytes},
                        {"recomputed_bytes", row.recomputed_bytes}});
  return {{"model", model.name},
          {"model_type", model.model_type},
          {"settings",
           {{"context", settings.context},
            {"batch", settings.batch},
            {"source", settings.source},
            {"kv_bits", settings.precision.kv_bits},
            {"state_bits", settings.precision.state_bits},
            {"conv_bits", settings.precision.conv_bits},
            {"conv_columns", kColumnNames[static_cast<int>(settings.conv_columns)]},
            {"block", settings.block},
            {"device_bytes", settings.device_bytes},
            {"chunk", settings.chunk}}},
          {"rows", std::move(rows)},
          {"growing_bytes", ledger.growing_bytes},
          {"fixed_bytes", ledger.fixed_bytes},
          {"request_bytes", ledger.request_bytes},
          {"batch_bytes", ledger.batch_bytes},
          {"full_attention_bytes", ledger.full_attention_bytes},
          {"break_even", number_or_null(ledger.break_even)},
          {"requests_fit", number_or_null(ledger.requests_fit)},
          {"training", std::move(training)},
          {"assumed", std::move(assumed)},
          {"not_counted", ledger_not_counted()}};
}

}  // namespace linearmem::cli
