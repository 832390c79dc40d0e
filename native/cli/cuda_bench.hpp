// linearmem bench --backend cuda: the kernels on a GPU beside what it can do.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "linearmem/status.hpp"

namespace linearmem::cli {

// Errors: those of cuda_measure; an option of `verb` that was given and has no say here.
Result<int> bench_cuda(const CLI::App& verb, const std::string& backend, int rounds);

}  // namespace linearmem::cli
