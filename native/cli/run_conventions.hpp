// linearmem run --list-conventions, and --describe --convention NAME.
#pragma once

#include "linearmem/conventions.hpp"
#include "verb.hpp"

namespace linearmem::cli {

Result<int> list_conventions();
Result<int> describe_in(const ConventionMechanism& mechanism);

}  // namespace linearmem::cli
