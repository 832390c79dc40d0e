#include "run_arguments.hpp"

#include <utility>

#include "settings.hpp"
#include "threads.hpp"

namespace linearmem::cli {
namespace {

Status check_block(const RunArguments& arguments) {
  if (!arguments.block) return {};
  const std::string start = "--block is " + std::to_string(*arguments.block);
  if (!arguments.stream) return Status::invalid(start + ", but only --stream has blocks");
  return *arguments.block >= 1 ? Status() : Status::invalid(start + "; it counts tokens, 1 or more");
}

}  // namespace

void declare_run_arguments(CLI::App& app, RunArguments& arguments) {
  app.add_option("MECHANISM", arguments.mechanism, "For example gated-delta-rule");
  app.add_option("--input", arguments.input, "safetensors file with the inputs");
  app.add_option("--output", arguments.output, "safetensors file to write; it appears whole or not at all");
  app.add_option("--convention", arguments.convention, "Whose tensor names, layouts and options; --list-conventions names them")->capture_default_str();
  app.add_option("--form", arguments.form, "Algorithm: automatic, or one that --describe lists")->capture_default_str();
  app.add_option("--chunk", arguments.chunk, "Tokens per chunk in form chunked");
  app.add_option("--dtype", arguments.dtype, "f32 or f64, to compute in; otherwise the one the inputs share");
  app.add_option("--set", arguments.options, "key=value, an option of the mechanism; may be repeated")->take_all()->expected(1);
  add_threads(app, arguments.threads);
  add_backend(app, arguments.backend);
  add_precision(app, arguments.precision);
  app.add_flag("--stream", arguments.stream,
               "Read, compute and write block by block, for files larger than memory; progress and peak resident size on standard error");
  app.add_option("--block", arguments.block, "Tokens per block of --stream; otherwise as many as make a few megabytes");
  app.add_flag("--list", arguments.list, "Name the mechanisms and stop");
  app.add_flag("--list-conventions", arguments.list_conventions, "Name the conventions and the mechanisms each has, and stop");
  app.add_flag("--describe", arguments.describe, "Print the mechanism's inputs, options, forms and outputs, and stop; with --convention, what differs there");
}

Result<RunSettings> run_settings(const Mechanism& mechanism, const RunArguments& arguments) {
  RunSettings settings;
  const auto form = find_form(mechanism, arguments.form);
  if (!form.ok()) return form.status();
  settings.form = form.value();
  if (arguments.chunk) {
    if (*arguments.chunk < 1) return Status::invalid("--chunk is " + std::to_string(*arguments.chunk) + "; it counts tokens, 1 or more");
    settings.chunk = *arguments.chunk;
  }
  if (Status status = check_block(arguments); !status.ok()) return status;
  if (arguments.stream && arguments.convention != "linearmem")
    return Status::invalid("--stream reads blocks of this library's own layout, --convention is " + arguments.convention + "; leave one of them out");
  if (!arguments.dtype.empty()) {
    const auto dtype = find_compute_dtype(arguments.dtype);
    if (!dtype.ok()) return dtype.status();
    settings.dtype = dtype.value();
  }
  auto options = parse_settings(arguments.options);
  if (!options.ok()) return options.status();
  settings.options = std::move(options).value();
  return settings;
}

}  // namespace linearmem::cli
