// linearmem run-layer KIND --weights model.safetensors.index.json --prefix model.layers.0.linear_attn --config config.json
//   --input hidden.safetensors --output out.safetensors: one layer with a checkpoint's weights on hidden states from a file.
#include <iostream>
#include <memory>
#include <utility>

#include "checkpoint.hpp"
#include "file_apart.hpp"
#include "ledger/config_value.hpp"
#include "linearmem/session.hpp"
#include "option_values.hpp"
#include "run_layer_files.hpp"
#include "safetensors_file.hpp"
#include "settings.hpp"
#include "text_file.hpp"
#include "threads.hpp"
#include "verb.hpp"

namespace linearmem::cli {
namespace {

struct LayerArguments {
  std::string kind, weights, prefix, config, dtype;
  LayerFiles files;
  std::vector<std::string> options;  // key=value
  std::optional<std::int64_t> block;
  std::int64_t threads = 1;
  bool stream = false, list = false, describe = false;
};

Result<int> list_layers() {
  for (const LayerDescription& layer : layer_descriptions()) std::cout << layer.kind << "\n    " << layer.equation << "\n";
  return kDone;
}

// --config, then --set over it.
Result<std::map<std::string, std::string>> all_options(const LayerArguments& arguments) {
  std::map<std::string, std::string> options;
  if (!arguments.config.empty()) {
    const auto text = read_text_file(arguments.config, kMostConfigBytes);
    if (!text.ok()) return text.status();
    auto stated = layer_options(arguments.kind, text.value());
    if (!stated.ok()) return Status::invalid(arguments.config + ": " + stated.status().message());
    options = std::move(stated).value();
  }
  const auto set = parse_settings(arguments.options);
  if (!set.ok()) return set.status();
  for (const auto& [key, value] : set.value()) options.insert_or_assign(key, value);
  return options;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::int64_t extent : shape) text += (text.empty() ? "" : ",") + std::to_string(extent);
  return "[" + text + "]";
}

// The kind and its options; with sizes, also the weights it takes and the state it keeps, which needs no weights that are right.
Result<int> describe(const LayerDescription& layer, const Result<LayerSizes>& sizes) {
  std::cout << layer.kind << "\n  " << layer.equation << "\n\nnames from\n  " << layer.names_from << "\n\noptions (--config, --set key=value)\n";
  for (const OptionSpec& option : layer.options)
    std::cout << "  " << option.name << "=" << option.default_text << "  " << values_text(option) << ": " << option.meaning << "\n";
  if (!sizes.ok()) {
    std::cout << "\nweights and state\n  are listed when the options that have no default are given\n";
    return kDone;
  }
  std::cout << "\nweights\n";
  for (const LayerWeight& weight : layer_weights(sizes.value())) std::cout << "  " << weight.name << " " << shape_text(weight.shape) << "\n";
  const LayerStateLayout layout = layer_state_layout(sizes.value(), DType::f32);
  std::cout << "\nstate of one request, f32\n";
  for (const StatePart& part : layout.parts) std::cout << "  " << part.name << " " << shape_text(part.shape) << ", " << part.bytes() << " bytes\n";
  return kDone;
}

// An earlier state may give way to the next one; what else the output would replace is lost.
Status check_output(const LayerArguments& a) {
  for (const auto& [option, file] : {std::pair{"--weights", &a.weights}, {"--config", &a.config}, {"--session", &a.files.session}})
    if (Status status = check_apart(a.files.output, option, *file); !status.ok()) return status;
  return {};
}

Status check(const LayerArguments& a) {
  if (a.weights.empty()) return Status::invalid("run-layer needs --weights model.safetensors or model.safetensors.index.json");
  if (a.files.input.empty()) return Status::invalid("run-layer needs --input hidden.safetensors");
  if (a.files.output.empty()) return Status::invalid("run-layer needs --output out.safetensors");
  if (Status status = check_output(a); !status.ok()) return status;
  if (!a.files.session.empty() && !a.files.state.empty()) return Status::invalid("--state and --session are two places for the same states; give one");
  if (a.files.session.empty() && !a.files.requests.empty())
    return Status::invalid("--request is " + std::to_string(a.files.requests.front()) + ", but only --session has requests by id");
  if (a.block && !a.stream) return Status::invalid("--block is " + std::to_string(*a.block) + ", but only --stream has blocks");
  if (a.block && *a.block < 1) return Status::invalid("--block is " + std::to_string(*a.block) + "; it counts tokens, 1 or more");
  return {};
}

// What is asked for, or f64 where the hidden states are F64, else f32.
Result<DType> compute_dtype(const LayerArguments& arguments) {
  if (!arguments.dtype.empty()) return find_compute_dtype(arguments.dtype);
  const auto input = SafetensorsFile::open(arguments.files.input);
  if (!input.ok()) return input.status();
  const HeaderEntry* hidden = input.value().find("hidden");
  return hidden && hidden->dtype == DType::f64 ? DType::f64 : DType::f32;
}

std::string text_of(const std::map<std::string, std::string>& options) {
  std::string text;
  for (const auto& [key, value] : options) text += key + "=" + value + "\n";
  return text;
}

template <typename T>
Result<int> run_in(const LayerArguments& arguments, const std::map<std::string, std::string>& options, const LayerSizes& sizes, const Executor* executor) {
  constexpr std::int64_t kBlock = 512;  // tokens: wide enough for the matrix products, a few MiB at common widths
  std::unique_ptr<Layer<T>> layer;
  LayerFiles files = arguments.files;
  {
    const auto weights = read_checkpoint(arguments.weights, arguments.prefix);
    if (!weights.ok()) return weights.status();
    auto made = make_layer<T>(sizes, weights.value());
    if (!made.ok()) return Status::invalid(arguments.weights + ": " + made.status().message());
    layer = std::move(made).value();
    if (!files.session.empty()) files.weights = weights_checksum(weights.value(), text_of(options));
  }
  return run_layer_files<T>(*layer, files, {.block = arguments.stream ? arguments.block.value_or(kBlock) : 0, .watched = arguments.stream, .executor = executor});
}

Result<int> run_layer(const LayerArguments& arguments) {
  if (arguments.list) return list_layers();
  if (arguments.kind.empty()) return Status::invalid("run-layer needs a KIND; run-layer --list names them");
  const auto layer = find_layer(arguments.kind);
  if (!layer.ok()) return layer.status();
  const auto options = all_options(arguments);
  if (!options.ok()) return options.status();
  const auto sizes = read_layer_sizes(arguments.kind, options.value());
  if (arguments.describe) return !options.value().empty() && !sizes.ok() ? Result<int>(sizes.status()) : describe(*layer.value(), sizes);
  if (Status status = check(arguments); !status.ok()) return status;
  if (!sizes.ok()) return sizes.status();
  const auto dtype = compute_dtype(arguments);
  if (!dtype.ok()) return dtype.status();
  const auto executor = executor_of(arguments.threads);
  if (!executor.ok()) return executor.status();
  return dtype.value() == DType::f64 ? run_in<double>(arguments, options.value(), sizes.value(), executor.value().get())
                                     : run_in<float>(arguments, options.value(), sizes.value(), executor.value().get());
}

}  // namespace

void add_run_layer(CLI::App& app, Verb& chosen) {
  const auto arguments = std::make_shared<LayerArguments>();
  CLI::App* verb = app.add_subcommand("run-layer", "Run one layer of a published model, with its weights, on hidden states from a file");
  verb->add_option("KIND", arguments->kind, "For example gated-delta-net");
  verb->add_option("--weights", arguments->weights, "safetensors file, or the index of a checkpoint in several files");
  verb->add_option("--prefix", arguments->prefix, "What stands before the names of the layer's weights, for example model.layers.0.linear_attn");
  verb->add_option("--config", arguments->config, "The model's config.json");
  verb->add_option("--set", arguments->options, "key=value, an option that --describe lists; over --config; may be repeated")->take_all()->expected(1);
  verb->add_option("--input", arguments->files.input, "safetensors file with hidden [B,T,M], and cu_seqlens or mask where there are any");
  verb->add_option("--state", arguments->files.state, "safetensors file with the states to go on from: an earlier output");
  verb->add_option("--session", arguments->files.session, "File that keeps the states of many requests instead; made where there is none");
  verb->add_option("--request", arguments->files.requests, "Id in the session, for each request of the input in turn; may be repeated")->take_all()->expected(1);
  verb->add_option("--output", arguments->files.output, "safetensors file to write: out and the states; it appears whole or not at all");
  verb->add_option("--dtype", arguments->dtype, "f32 or f64, to compute in; otherwise f64 where hidden is, else f32");
  add_threads(*verb, arguments->threads);
  verb->add_flag("--stream", arguments->stream, "Block by block, for files larger than memory; progress and peak resident size on standard error");
  verb->add_option("--block", arguments->block, "Tokens per block of --stream; otherwise 512");
  verb->add_flag("--list", arguments->list, "Name the kinds of layers and stop");
  verb->add_flag("--describe", arguments->describe, "Print the kind's options and, where they suffice, its weights and state, and stop");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return run_layer(*arguments); }; });
}

}  // namespace linearmem::cli
