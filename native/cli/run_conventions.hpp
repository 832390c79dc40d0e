// linearmem run --list-conventions, and --describe --convention NAME.
#pragma once

#include "linearmem/conventions.hpp"
#include "verb.hpp"

namespace linearmem::cli {

Result<int> list_conventions();
Result<int> describe_in(const ConventionMechanism& mechanism);

// Of both: what a tensor's numbers are stored as, and what an option takes.
const char* kind_text(TensorKind kind);
std::string values_text(const OptionSpec& option);

}  // namespace linearmem::cli
