// The verbs under `linearmem knn`, by file.
#pragma once

#include "verb.hpp"

namespace linearmem::cli {

void add_knn_changes(CLI::App& knn, Verb& chosen);   // create, add, delete, compact, import
void add_knn_readings(CLI::App& knn, Verb& chosen);  // query, stats, verify, export, serve-check
void add_knn_eval(CLI::App& knn, Verb& chosen);      // eval

}  // namespace linearmem::cli
