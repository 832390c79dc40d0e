// gnuplot, found on PATH when it is needed.
#pragma once

#include <string>

#include "linearmem/status.hpp"

namespace linearmem::cli {

// Error: it is not installed; the sentence says how to get it or do without.
Status find_gnuplot();

// Error: gnuplot's own words.
Status run_gnuplot(const std::string& script);

}  // namespace linearmem::cli
