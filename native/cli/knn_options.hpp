// What the verbs under `linearmem knn` share: the store's path and the identity it is expected to have.
#pragma once

#include <CLI/CLI.hpp>

#include "knn_store.hpp"

namespace linearmem::cli {

struct KnnOptions {
  std::string path;
  std::string metric;
  KnnExpectation expected;
};

// PATH, and --domain, --model, --model-version, --tokenizer, --dimension, --metric: each that is given must be the store's.
inline void declare_knn_options(CLI::App& verb, KnnOptions& to, bool domain_required) {
  verb.add_option("PATH", to.path, "The store's file")->required();
  auto* domain = verb.add_option("--domain", to.expected.domain, "The permission domain that the caller acts for");
  if (domain_required) domain->required();
  verb.add_option("--model", to.expected.model, "The model that makes the keys");
  verb.add_option("--model-version", to.expected.model_version, "Its version");
  verb.add_option("--tokenizer", to.expected.tokenizer, "What the token ids mean");
  verb.add_option("--dimension", to.expected.dimension, "Numbers in a key");
  verb.add_option("--metric", to.metric, "squared-l2 or inner-product")->check(CLI::IsMember({"squared-l2", "inner-product"}));
}

inline Result<std::unique_ptr<KnnStore>> open_store(const KnnOptions& options, KnnAccess access) {
  KnnExpectation expected = options.expected;
  if (!options.metric.empty()) expected.metric = metric_named(options.metric);
  return KnnStore::open(options.path, expected, access);
}

}  // namespace linearmem::cli
