// What follows `linearmem run`: the words, and the settings they stand for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "backend.hpp"
#include "linearmem/mechanisms.hpp"

namespace linearmem::cli {

struct RunArguments {
  std::string mechanism, input, output;
  std::string convention = "linearmem";
  std::string form = "automatic";
  std::string backend = kProcessor, precision = "f32";
  std::optional<std::int64_t> chunk;
  std::int64_t threads = 1;
  bool stream = false;
  std::optional<std::int64_t> block;  // only with stream
  std::string dtype;
  std::vector<std::string> options;  // key=value
  bool list = false, list_conventions = false, describe = false;
};

// `arguments` is filled when `app` parses, and must live until then.
void declare_run_arguments(CLI::App& app, RunArguments& arguments);

// Errors: a form the mechanism lacks, a chunk or block below 1, a block without stream, an unknown dtype, an option without "=" or given twice. Whether the mechanism
// has the options, and takes their values, is asked by run_mechanism.
Result<RunSettings> run_settings(const Mechanism& mechanism, const RunArguments& arguments);

}  // namespace linearmem::cli
