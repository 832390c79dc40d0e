// Runs the parts of a figure on threads, tells how far it is, and keeps what is finished in a file.
#pragma once

#include <optional>
#include <string>

#include "linearmem/executor.hpp"
#include "linearmem/experiments.hpp"
#include "partial_file.hpp"

namespace linearmem::cli {

// The same figure on any executor, from any parts that `partial` (absent: none is kept) already has.
Result<Figure> run_parts(const FigureParts& parts, const Executor& executor, PartialFile* partial);

// A sentence: how long all parts take, from the first second or so of them.
Result<std::string> estimate_parts(const FigureParts& parts, std::int64_t threads);

}  // namespace linearmem::cli
