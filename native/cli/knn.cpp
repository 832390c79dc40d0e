// linearmem knn VERB: a persistent kNN memory.
#include "knn_verbs.hpp"

namespace linearmem::cli {

void add_knn(CLI::App& app, Verb& chosen) {
  CLI::App* knn = app.add_subcommand("knn", "A persistent kNN memory: make, fill, query and check a store");
  knn->require_subcommand(1);
  add_knn_changes(*knn, chosen);
  add_knn_readings(*knn, chosen);
  add_knn_eval(*knn, chosen);
}

}  // namespace linearmem::cli
