// The verbs of the command line, one file each. A verb answers with the exit code, or with the one sentence that
// main prints as "linearmem: ..." before it exits with 2.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "linearmem/status.hpp"

namespace linearmem::cli {

inline constexpr int kDone = 0;
inline constexpr int kClaimFailed = 1;
inline constexpr int kRefused = 2;

using Verb = std::function<Result<int>()>;

// Each adds its subcommand; parsing a command line that names it puts the verb to run in `chosen`.
void add_verify(CLI::App& app, Verb& chosen);
void add_report(CLI::App& app, Verb& chosen);
void add_run(CLI::App& app, Verb& chosen);
void add_run_layer(CLI::App& app, Verb& chosen);
void add_sweep(CLI::App& app, Verb& chosen);
void add_agreement(CLI::App& app, Verb& chosen);
void add_bench(CLI::App& app, Verb& chosen);
void add_knn(CLI::App& app, Verb& chosen);
void add_ledger(CLI::App& app, Verb& chosen);
void add_task(CLI::App& app, Verb& chosen);

}  // namespace linearmem::cli
