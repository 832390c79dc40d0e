// linearmem knn query | stats | verify | export | serve-check: what reads a store.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "file_apart.hpp"
#include "knn_options.hpp"
#include "knn_verbs.hpp"
#include "linearmem/tensor.hpp"
#include "safetensors.hpp"
#include "threads.hpp"
#include "transfer.hpp"

namespace linearmem::cli {
namespace {

struct Query {
  KnnOptions store;
  std::string input, output;
  std::int64_t k = 16, threads = 1;
  std::optional<std::int64_t> vocab;
  double temperature = 1, weight = 0.25;
  bool at_most_k = false, graph = false, has_temperature = false, has_weight = false;
};

// A floating matrix of the file; not given where it is not there.
template <typename T>
Result<std::optional<Tensor<T, 2>>> matrix(const NamedTensors& tensors, const std::string& file, const char* name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) return std::optional<Tensor<T, 2>>();
  if (found->second.shape.size() != 2)
    return Status::invalid(file + ": " + name + " has " + std::to_string(found->second.shape.size()) + " axes, must have 2");
  auto values = floating_values<T>(name, found->second);
  if (!values.ok()) return Status::invalid(file + ": " + values.status().message());
  return std::optional(Tensor<T, 2>({found->second.shape[0], found->second.shape[1]}, std::move(values).value()));
}

// The neighbours' distribution, and its mixture with the model's where the file has one.
Status add_probabilities(const Query& arguments, const std::optional<Tensor<double, 2>>& model, const KnnNeighbours& found,
                         NamedTensors& outputs) {
  const std::int64_t Q = found.ids.extents()[0], V = model ? model->extents()[1] : *arguments.vocab;
  if (model && arguments.vocab && *arguments.vocab != V)
    return Status::invalid("V differs: model_prob has " + std::to_string(V) + ", --vocab has " + std::to_string(*arguments.vocab));
  auto memory = Tensor<double, 2>::create("memory_prob", {Q, V});
  if (!memory.ok()) return memory.status();
  Tensor<double, 2> weights(found.distances.extents());
  const Status spread = knn_distribution({.distances = found.distances.view(),
                                          .tokens = found.tokens.view(),
                                          .temperature = arguments.temperature,
                                          .weights = weights.view(),
                                          .prob = memory.value().view()});
  if (!spread.ok()) return spread;
  const std::vector<std::int64_t> shape = {Q, V};
  outputs.emplace("weight", to_named(weights.values(), {Q, found.ids.extents()[1]}));
  outputs.emplace("memory_prob", to_named(memory.value().values(), shape));
  if (!model) return {};
  Tensor<double, 2> mixed({Q, V});
  const Status status =
      knn_interpolate({.memory = memory.value().view(), .model = model->view(), .weight = arguments.weight, .mixed = mixed.view()});
  if (status.ok()) outputs.emplace("prob", to_named(mixed.values(), shape));
  return status;
}

Status check_spread(const Query& arguments, bool model) {
  if (arguments.has_weight && !model) return Status::invalid("--weight is given, but " + arguments.input + " has no model_prob to mix with");
  if (arguments.has_temperature && !model && !arguments.vocab)
    return Status::invalid("--temperature is given, but without --vocab, and model_prob in " + arguments.input + ", there is no distribution");
  return {};
}

Result<int> query(const Query& arguments) {
  if (Status status = check_apart(arguments.output, "PATH", arguments.store.path); !status.ok()) return status;
  const auto executor = executor_of(arguments.threads);
  if (!executor.ok()) return executor.status();
  const auto tensors = read_safetensors(arguments.input);
  if (!tensors.ok()) return tensors.status();
  const auto queries = matrix<float>(tensors.value(), arguments.input, "query");
  if (!queries.ok()) return queries.status();
  if (!queries.value()) return Status::invalid(arguments.input + ": query is missing; it is [Q,D]");
  const auto model = matrix<double>(tensors.value(), arguments.input, "model_prob");
  if (!model.ok()) return model.status();
  if (Status status = check_spread(arguments, model.value().has_value()); !status.ok()) return status;
  auto store = open_store(arguments.store, KnnAccess::read);
  if (!store.ok()) return store.status();
  const auto snapshot = store.value()->snapshot(arguments.graph ? KnnSearchBy::graph : KnnSearchBy::scan);
  if (!snapshot.ok()) return snapshot.status();
  const auto found = snapshot.value()->search({.queries = View<const float, 2>(queries.value()->view()),
                                               .k = arguments.k,
                                               .at_most_k = arguments.at_most_k,
                                               .executor = executor.value().get()});
  if (!found.ok()) return found.status();
  const std::vector<std::int64_t> shape(found.value().ids.extents().begin(), found.value().ids.extents().end());
  NamedTensors outputs = {{"id", to_named(found.value().ids.values(), shape)},
                          {"token", to_named(found.value().tokens.values(), shape)},
                          {"distance", to_named(found.value().distances.values(), shape)}};
  if (model.value() || arguments.vocab)
    if (Status status = add_probabilities(arguments, model.value(), found.value(), outputs); !status.ok()) return status;
  if (Status status = write_safetensors(arguments.output, outputs); !status.ok()) return status;
  return kDone;
}

struct Reading {
  KnnOptions store;
  std::string output;
  bool json = false;
};

void print(const KnnIdentity& identity, const KnnStats& stats, bool json) {
  const nlohmann::ordered_json report = {{"model", identity.model},
                                         {"model_version", identity.model_version},
                                         {"tokenizer", identity.tokenizer},
                                         {"dimension", identity.dimension},
                                         {"metric", metric_name(identity.metric)},
                                         {"domain", identity.domain},
                                         {"records", stats.records},
                                         {"generation", stats.generation},
                                         {"next_id", stats.next_id},
                                         {"truth_bytes", stats.truth_bytes},
                                         {"log_bytes", stats.log_bytes},
                                         {"scan_bytes", stats.scan_bytes},
                                         {"graph_bytes", stats.graph_bytes},
                                         {"graph_recall", stats.graph_recall},
                                         {"scan", stats.scan}};
  if (json) std::cout << report.dump(2) << "\n";
  else
    for (const auto& [name, value] : report.items())
      std::cout << name << " " << (value.is_string() ? value.get<std::string>() : value.dump()) << "\n";
}

Result<int> read(const Reading& arguments, Result<KnnStats> (KnnStore::*method)()) {
  auto store = open_store(arguments.store, KnnAccess::read);
  if (!store.ok()) return store.status();
  const auto stats = (store.value().get()->*method)();
  if (!stats.ok()) return stats.status();
  print(store.value()->identity(), stats.value(), arguments.json);
  return kDone;
}

Result<int> write_export(const Reading& arguments) {
  if (Status status = check_apart(arguments.output, "PATH", arguments.store.path); !status.ok()) return status;
  auto store = open_store(arguments.store, KnnAccess::read);
  if (!store.ok()) return store.status();
  if (Status status = export_store(*store.value(), arguments.output); !status.ok()) return status;
  return kDone;
}

// Some of the store's own keys, spread over it, searched as a server would and compared with the definition.
Status check_answers(const KnnSnapshot& snapshot, const KnnIdentity& identity) {
  constexpr std::int64_t kQueries = 8, kNeighbours = 16;
  const KnnRecords records = snapshot.records();
  const std::int64_t M = records.count(), D = identity.dimension, Q = std::min(kQueries, M), R = std::min(kNeighbours, M);
  Tensor<float, 2> queries({Q, D});
  for (std::int64_t q = 0; q < Q; ++q)
    for (std::int64_t d = 0; d < D; ++d) queries(q, d) = records.keys[static_cast<std::size_t>(q * M / Q * D + d)];
  const auto found = snapshot.search({.queries = View<const float, 2>(queries.view()), .k = kNeighbours, .at_most_k = true});
  if (!found.ok()) return found.status();
  Tensor<std::int64_t, 2> rows({Q, R});
  Tensor<double, 2> distances({Q, R});
  const Status status = knn_search(KnnSearchArguments<float>{.keys = {records.keys.data(), {M, D}},
                                                             .queries = View<const float, 2>(queries.view()),
                                                             .k = kNeighbours,
                                                             .at_most_k = true,
                                                             .metric = identity.metric,
                                                             .form = Form::reference,
                                                             .ids = rows.view(),
                                                             .distances = distances.view()});
  if (!status.ok()) return status;
  for (std::int64_t q = 0; q < Q; ++q)
    for (std::int64_t r = 0; r < R; ++r)
      if (found.value().ids(q, r) != records.ids[static_cast<std::size_t>(rows(q, r))] || found.value().distances(q, r) != distances(q, r))
        return Status::invalid("serve-check: the search answers otherwise than the definition for record " + std::to_string(q * M / Q));
  return {};
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

Result<int> serve_check(const Reading& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  auto store = open_store(arguments.store, KnnAccess::read);
  if (!store.ok()) return store.status();
  if (const auto verified = store.value()->verify(); !verified.ok()) return verified.status();
  const auto snapshot = store.value()->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  if (snapshot.value()->scan() != "mapped")
    return Status::unavailable("serve-check: keys are not searched from the scan file but " + snapshot.value()->scan());
  if (Status status = check_answers(*snapshot.value(), store.value()->identity()); !status.ok()) return status;
  const auto stats = store.value()->stats();
  if (!stats.ok()) return stats.status();
  print(store.value()->identity(), stats.value(), false);
  std::printf("ready: every byte checked, answers are the definition's; %.0f ms\n", milliseconds_since(begin));
  std::fflush(stdout);
  return kDone;
}

struct MakeGraph {
  KnnOptions store;
  KnnGraphOptions options;
  std::string queries;
};

Result<int> make_graph(const MakeGraph& arguments) {
  KnnGraphOptions options = arguments.options;
  std::optional<Tensor<float, 2>> queries;
  if (!arguments.queries.empty()) {
    const auto tensors = read_safetensors(arguments.queries);
    if (!tensors.ok()) return tensors.status();
    auto read = matrix<float>(tensors.value(), arguments.queries, "query");
    if (!read.ok()) return read.status();
    if (!read.value()) return Status::invalid(arguments.queries + ": query is missing; it is [Q,D]");
    queries = std::move(read).value();
    options.queries = queries->view();
  }
  auto store = open_store(arguments.store, KnnAccess::read);
  if (!store.ok()) return store.status();
  const auto report = store.value()->make_graph(options);
  if (!report.ok()) return report.status();
  std::cout << "recall " << report.value().recall << " of " << options.k << " neighbours, " << report.value().queries << " queries\n";
  return kDone;
}

void add_graph(CLI::App& knn, Verb& chosen) {
  const auto arguments = std::make_shared<MakeGraph>();
  CLI::App* verb = knn.add_subcommand("graph", "Make a graph over a large store's keys for query --graph, and measure what it finds");
  declare_knn_options(*verb, arguments->store, true);
  verb->add_option("--queries", arguments->queries,
                   "A safetensors file with query [Q,D] to measure with; else 200 of the store's own keys");
  verb->add_option("--links", arguments->options.links, "Links of a node")->capture_default_str();
  verb->add_option("--build-effort", arguments->options.build_effort, "Candidates kept while a node is linked")->capture_default_str();
  verb->add_option("--search-effort", arguments->options.search_effort, "Candidates of a search")->capture_default_str();
  verb->add_option("--least-recall", arguments->options.least_recall, "A graph that finds less is not kept")->capture_default_str();
  verb->add_option("--least-records", arguments->options.least_records, "Below, no graph is made")->capture_default_str();
  verb->add_option("-k", arguments->options.k, "Neighbours to measure with")->capture_default_str();
  verb->callback([arguments, &chosen] { chosen = [arguments] { return make_graph(*arguments); }; });
}

void add_query(CLI::App& knn, Verb& chosen) {
  const auto arguments = std::make_shared<Query>();
  CLI::App* verb = knn.add_subcommand(
      "query", "Find the nearest records of query [Q,D]: id, token and distance [Q,k]; with model_prob [Q,V] the mixture too");
  declare_knn_options(*verb, arguments->store, true);
  verb->add_option("--input", arguments->input, "A safetensors file with query, and model_prob if wanted")->required();
  verb->add_option("--output", arguments->output, "The safetensors file to write")->required();
  verb->add_option("-k", arguments->k, "Neighbours, from 1")->capture_default_str();
  verb->add_flag("--at-most-k", arguments->at_most_k, "With fewer than k records take them all; else that is an error");
  CLI::Option* temperature = verb->add_option("--temperature", arguments->temperature, "Divides distances, above 0")->capture_default_str();
  CLI::Option* weight = verb->add_option("--weight", arguments->weight, "Of the memory beside model_prob, 0 to 1")->capture_default_str();
  verb->add_option("--vocab", arguments->vocab, "V, where there is no model_prob: writes weight and memory_prob");
  verb->add_flag("--graph", arguments->graph, "Search by the graph that knn graph made: most neighbours, and their exact distances");
  add_threads(*verb, arguments->threads);
  verb->callback([arguments, temperature, weight, &chosen] {
    arguments->has_temperature = temperature->count() > 0;
    arguments->has_weight = weight->count() > 0;
    chosen = [arguments] { return query(*arguments); };
  });
}

template <typename Run>
std::pair<CLI::App*, std::shared_ptr<Reading>> add_reading(CLI::App& knn, Verb& chosen, const char* name, const char* what,
                                                           bool domain_required, Run run) {
  const auto arguments = std::make_shared<Reading>();
  CLI::App* verb = knn.add_subcommand(name, what);
  declare_knn_options(*verb, arguments->store, domain_required);
  verb->callback([arguments, run, &chosen] { chosen = [arguments, run] { return run(*arguments); }; });
  return {verb, arguments};
}

}  // namespace

void add_knn_readings(CLI::App& knn, Verb& chosen) {
  add_query(knn, chosen);
  add_graph(knn, chosen);
  const auto stats = add_reading(knn, chosen, "stats", "What a store is and how much it holds", false,
                                 [](const Reading& a) { return read(a, &KnnStore::stats); });
  stats.first->add_flag("--json", stats.second->json, "One JSON object");
  const auto verify = add_reading(knn, chosen, "verify", "Read and check every byte of a store; code 2 and the first damage otherwise",
                                  false, [](const Reading& a) { return read(a, &KnnStore::verify); });
  verify.first->add_flag("--json", verify.second->json, "One JSON object");
  const auto exported = add_reading(knn, chosen, "export", "Write a store as one safetensors file", true, write_export);
  exported.first->add_option("--output", exported.second->output, "The file")->required();
  add_reading(knn, chosen, "serve-check", "All that must hold before a store is served: identity, every byte, the scan file, exact answers",
              true, serve_check);
}

}  // namespace linearmem::cli
