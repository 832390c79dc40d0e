// The verbs of the command line, one file each. A verb answers with the exit code, or with the one sentence that
// main prints as "linearmem: ..." before it exits with 2.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "linearmem/status.hpp"

namespace linearmem::cli {

inline constexpr int kDone = 0;
inline constexpr int kClaimFailed = 1;
inline constexpr int kRefused = 2;

using Verb = std::function<Result<int>()>;

// Each adds its subcommand; parsing a command line that names it puts the verb to run in `chosen`.
void add_run(CLI::App& app, Verb& chosen);

// {"key=value", ...} as pairs. Errors: no "=", an empty key, a key set twice.
Result<std::map<std::string, std::string>> parse_settings(const std::vector<std::string>& texts);

}  // namespace linearmem::cli
