// gnuplot, found on PATH when it is needed.
#pragma once

#include <string>

#include "linearmem/status.hpp"

namespace linearmem::cli {

// Error: it is not installed; the sentence says how to get it or, as `otherwise`, how to do without.
Status find_gnuplot(const char* otherwise = "say --no-figure");

// Error: gnuplot's own words.
Status run_gnuplot(const std::string& script);

}  // namespace linearmem::cli
