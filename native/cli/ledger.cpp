// linearmem ledger CONFIG.json | --model NAME: what the model keeps for each request, layer by layer.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "gnuplot.hpp"
#include "ledger/config_value.hpp"
#include "ledger_report.hpp"
#include "linearmem/ledger_figure.hpp"
#include "picture_file.hpp"
#include "text_file.hpp"
#include "verb.hpp"

namespace linearmem::cli {
namespace {

struct LedgerArguments {
  std::string file, model, kv_dtype = "bf16", state_dtype = "f32", conv_dtype = "bf16", conv_columns = "W-1", device_memory, figure;
  LedgerSettings settings;
  bool has_device_memory = false, json = false, list = false;
};

Result<ModelLayers> chosen_model(const LedgerArguments& arguments) {
  if (arguments.file.empty() == arguments.model.empty())
    return Status::invalid("ledger needs one of CONFIG.json and --model NAME; ledger --list names the models");
  if (!arguments.model.empty()) return find_model(arguments.model);
  const auto text = read_text_file(arguments.file, kMostConfigBytes);
  if (!text.ok()) return text.status();
  auto model = read_model_config(text.value());
  if (!model.ok()) return Status::invalid(arguments.file + ": " + model.status().message());
  model.value().name = arguments.file;
  return model;
}

// "80GiB", "1.5 GiB", "85899345920".
Result<std::int64_t> parse_bytes(const std::string& text) {
  struct Unit {
    const char* name;
    int power;
  };
  constexpr Unit kUnits[] = {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"PiB", 50}};
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string number = text.substr(0, end);
  std::string unit = end == std::string::npos ? "" : text.substr(end);
  unit.erase(0, unit.find_first_not_of(' '));
  for (const Unit& known : kUnits) {
    if (unit != known.name || number.empty() || number.front() == '.' || std::count(number.begin(), number.end(), '.') > 1) continue;
    const double bytes = std::ldexp(std::strtod(number.c_str(), nullptr), known.power);
    if (bytes >= 1 && bytes < 9.2e18) return static_cast<std::int64_t>(bytes);
  }
  return Status::invalid("--device-memory takes bytes, such as 80GiB, got \"" + text + "\"");
}

Result<ConvColumns> parse_columns(const std::string& text) {
  if (text == "none") return ConvColumns::none;
  if (text == "W-1") return ConvColumns::past;
  if (text == "W") return ConvColumns::whole;
  return Status::invalid("--conv-columns is " + text + ", must be one of none, W-1, W");
}

Result<LedgerSettings> chosen_settings(const LedgerArguments& arguments) {
  LedgerSettings settings = arguments.settings;
  struct Chosen {
    const char* option;
    const std::string& text;
    int& bits;
  };
  for (const Chosen& chosen : {Chosen{"--kv-dtype", arguments.kv_dtype, settings.precision.kv_bits},
                               Chosen{"--state-dtype", arguments.state_dtype, settings.precision.state_bits},
                               Chosen{"--conv-dtype", arguments.conv_dtype, settings.precision.conv_bits}}) {
    const auto bits = dtype_bits(chosen.text);
    if (!bits.ok()) return Status::invalid(std::string(chosen.option) + ": " + bits.status().message());
    chosen.bits = bits.value();
  }
  const auto columns = parse_columns(arguments.conv_columns);
  if (!columns.ok()) return columns.status();
  settings.conv_columns = columns.value();
  if (!arguments.has_device_memory) return settings;
  const auto bytes = parse_bytes(arguments.device_memory);
  if (!bytes.ok()) return bytes.status();
  settings.device_bytes = bytes.value();
  return settings;
}

Status draw(const ModelLayers& model, const LedgerSettings& settings, const std::string& target) {
  if (Status status = find_gnuplot("leave out --figure"); !status.ok()) return status;
  const auto figure = ledger_figure(model, settings);
  if (!figure.ok()) return figure.status();
  auto picture = stage_picture(figure.value(), target);
  return picture.ok() ? picture.value().commit() : picture.status();
}

Result<int> list_models() {
  for (const NamedModel& named : named_models()) std::cout << named.name << "  " << named.source << "\n";
  return kDone;
}

Result<int> ledger(const LedgerArguments& arguments) {
  if (arguments.list) return list_models();
  const auto model = chosen_model(arguments);
  if (!model.ok()) return model.status();
  const auto settings = chosen_settings(arguments);
  if (!settings.ok()) return settings.status();
  const auto result = memory_ledger(model.value(), settings.value());
  if (!result.ok()) return result.status();
  if (!arguments.figure.empty())
    if (Status status = draw(model.value(), settings.value(), arguments.figure); !status.ok()) return status;
  if (arguments.json)
    std::cout << ledger_json(model.value(), settings.value(), result.value()).dump(2) << "\n";
  else
    std::cout << ledger_table(model.value(), settings.value(), result.value());
  return kDone;
}

}  // namespace

void add_ledger(CLI::App& app, Verb& chosen) {
  const auto arguments = std::make_shared<LedgerArguments>();
  CLI::App* verb = app.add_subcommand("ledger", "What a model keeps for each request, layer by layer");
  verb->add_option("CONFIG.json", arguments->file, "A model's configuration as Hugging Face has it, or a list of layers");
  verb->add_option("--model", arguments->model, "A named model instead of a file");
  verb->add_option("--context", arguments->settings.context, "Tokens of prefix of each request")->capture_default_str();
  verb->add_option("--batch", arguments->settings.batch, "Requests")->capture_default_str();
  verb->add_option("--source", arguments->settings.source, "Tokens that an encoder has read")->capture_default_str();
  verb->add_option("--kv-dtype", arguments->kv_dtype, "Of keys and values: f32 bf16 f16 fp8 int8 fp4 int4")->capture_default_str();
  verb->add_option("--state-dtype", arguments->state_dtype, "Of states and normalizers")->capture_default_str();
  verb->add_option("--conv-dtype", arguments->conv_dtype, "Of a convolution's inputs and the last token")->capture_default_str();
  verb->add_option("--conv-columns", arguments->conv_columns, "Inputs that a convolution keeps: W-1, W or none")->capture_default_str();
  verb->add_option("--block", arguments->settings.block, "Tokens per page; kept tokens are rounded up to whole pages")
      ->capture_default_str();
  CLI::Option* device = verb->add_option("--device-memory", arguments->device_memory, "Bytes for requests, such as 80GiB: how many fit");
  verb->add_option("--chunk", arguments->settings.chunk, "Tokens per chunk of the training ledger")->capture_default_str();
  verb->add_option("--figure", arguments->figure, "FILE.svg or FILE.png: bytes against prefix length, drawn by gnuplot");
  verb->add_flag("--json", arguments->json, "One JSON object on standard output");
  verb->add_flag("--list", arguments->list, "Name the models and where their numbers are published, and stop");
  verb->callback([arguments, device, &chosen] {
    arguments->has_device_memory = device->count() > 0;
    chosen = [arguments] { return ledger(*arguments); };
  });
}

}  // namespace linearmem::cli
