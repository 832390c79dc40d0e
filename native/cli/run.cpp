// linearmem run MECHANISM --input X.safetensors --output Y.safetensors: one mechanism on tensors from a file.
#include <iostream>
#include <memory>
#include <utility>

#include "linearmem/conventions.hpp"
#include "option_values.hpp"
#include "run_arguments.hpp"
#include "run_conventions.hpp"
#include "run_stream.hpp"
#include "safetensors.hpp"
#include "threads.hpp"
#include "verb.hpp"

namespace linearmem::cli {
namespace {

Result<int> list_mechanisms() {
  for (const Mechanism& mechanism : mechanisms()) std::cout << mechanism.name << "\n    " << mechanism.equation << "\n";
  return kDone;
}

Result<int> describe(const Mechanism& mechanism) {
  std::cout << mechanism.name << " (room " << mechanism.room << ")\n  " << mechanism.equation << "\n\ninputs\n";
  for (const InputSpec& input : mechanism.inputs)
    std::cout << "  " << input.name << " [" << input.axes << "], " << kind_text(input.kind) << (input.required ? "" : ", optional") << "\n";
  std::cout << "\noptions (--set key=value)\n";
  for (const OptionSpec& option : mechanism.options)
    std::cout << "  " << option.name << "=" << option.default_text << "  " << values_text(option) << ": " << option.meaning << "\n";
  if (mechanism.options.empty()) std::cout << "  none\n";
  std::cout << "\nforms (--form)\n  automatic";
  for (Form form : mechanism.forms) std::cout << ", " << form_name(form);
  std::cout << "\n\noutputs\n ";
  for (const char* output : mechanism.outputs) std::cout << " " << output;
  std::cout << "\n";
  return kDone;
}

Result<int> run(const RunArguments& arguments) {
  if (arguments.list) return list_mechanisms();
  if (arguments.list_conventions) return list_conventions();
  if (arguments.mechanism.empty()) return Status::invalid("run needs a MECHANISM; run --list names them");
  const auto mechanism = find_mechanism(arguments.mechanism);
  if (!mechanism.ok()) return mechanism.status();
  const auto convention = find_convention(arguments.convention);
  if (!convention.ok()) return convention.status();
  const auto there = find_mechanism(*convention.value(), arguments.mechanism);
  if (!there.ok()) return there.status();
  if (arguments.describe) return there.value()->rules ? describe_in(*there.value()) : describe(*mechanism.value());
  if (arguments.input.empty()) return Status::invalid("run needs --input X.safetensors");
  if (arguments.output.empty()) return Status::invalid("run needs --output Y.safetensors");
  auto settings = run_settings(*mechanism.value(), arguments);
  if (!settings.ok()) return settings.status();
  const auto executor = executor_of(arguments.threads);
  if (!executor.ok()) return executor.status();
  settings.value().executor = executor.value().get();
  const auto backend = backend_of(arguments.backend, arguments.precision, settings.value().form);
  if (!backend.ok()) return backend.status();
  settings.value().backend = backend.value().get();
  if (arguments.stream) return run_stream(*mechanism.value(), settings.value(), {arguments.input, arguments.output}, arguments.block.value_or(0));
  const auto inputs = read_safetensors(arguments.input);
  if (!inputs.ok()) return inputs.status();
  const auto outputs = run_mechanism(*there.value(), inputs.value(), settings.value());
  if (!outputs.ok()) return outputs.status();
  if (Status status = write_safetensors(arguments.output, outputs.value()); !status.ok()) return status;
  return kDone;
}

}  // namespace

void add_run(CLI::App& app, Verb& chosen) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = app.add_subcommand("run", "Run one mechanism on the tensors of a safetensors file");
  declare_run_arguments(*verb, *arguments);
  verb->callback([arguments, &chosen] { chosen = [arguments] { return run(*arguments); }; });
}

}  // namespace linearmem::cli
