// --threads N of the verbs that compute.
#pragma once

#include <memory>

#include <CLI/CLI.hpp>

#include "linearmem/threads.hpp"

namespace linearmem::cli {

inline void add_threads(CLI::App& verb, std::int64_t& threads) {
  verb.add_option("--threads", threads, "Threads to compute on; the results have the same bits whatever their number")->capture_default_str();
}

// Errors: a number out of range, by its name on the command line.
inline Result<std::unique_ptr<const Executor>> executor_of(std::int64_t threads) {
  auto executor = thread_executor(threads);
  if (!executor.ok()) return Status::invalid("--" + executor.status().message());
  return executor;
}

}  // namespace linearmem::cli
