// linearmem knn create | add | delete | compact | import: what writes to a store.
#include <iostream>
#include <memory>

#include "knn_options.hpp"
#include "knn_verbs.hpp"
#include "transfer.hpp"

namespace linearmem::cli {
namespace {

struct Create {
  std::string path, metric = "squared-l2";
  KnnIdentity identity;
};

Result<int> create(const Create& arguments) {
  KnnIdentity identity = arguments.identity;
  identity.metric = *metric_named(arguments.metric);
  if (Status status = KnnStore::create(arguments.path, identity); !status.ok()) return status;
  std::cout << "created " << arguments.path << "\n";
  return kDone;
}

struct Add {
  KnnOptions store;
  std::string input, source;
  bool upsert = false;
};

Result<int> add(const Add& arguments) {
  auto store = open_store(arguments.store, KnnAccess::write);
  if (!store.ok()) return store.status();
  auto records = read_records(arguments.input, store.value()->identity().dimension);
  if (!records.ok()) return records.status();
  if (!arguments.source.empty()) records.value().sources.assign(records.value().tokens.size(), arguments.source);
  if (arguments.upsert) {
    if (records.value().ids.empty() && records.value().count() > 0)
      return Status::invalid(arguments.input + ": ids is missing; --upsert replaces by id");
    const auto done = store.value()->upsert(records.value());
    if (!done.ok()) return done.status();
    std::cout << "added " << done.value().added << ", replaced " << done.value().replaced << "\n";
    return kDone;
  }
  if (!records.value().ids.empty())
    return Status::invalid(arguments.input + ": ids is given; say --upsert to replace by id, or leave it out");
  const auto ids = store.value()->append(records.value());
  if (!ids.ok()) return ids.status();
  std::cout << "added " << ids.value().size();
  if (!ids.value().empty()) std::cout << ", ids " << ids.value().front() << " to " << ids.value().back();
  std::cout << "\n";
  return kDone;
}

struct Delete {
  KnnOptions store;
  std::vector<std::int64_t> ids;
  KnnFilter filter;
};

Result<int> remove(const Delete& arguments) {
  const KnnFilter& filter = arguments.filter;
  const bool filtered = filter.token || filter.source || filter.first_id || filter.last_id;
  if (filtered == !arguments.ids.empty())
    return Status::invalid("knn delete needs either --id, or one or more of --token, --source, --first-id and --last-id");
  auto store = open_store(arguments.store, KnnAccess::write);
  if (!store.ok()) return store.status();
  if (filtered) {
    const auto count = store.value()->remove_where(filter);
    if (!count.ok()) return count.status();
    std::cout << "deleted " << count.value() << "\n";
    return kDone;
  }
  const auto done = store.value()->remove(arguments.ids);
  if (!done.ok()) return done.status();
  std::cout << "deleted " << done.value().removed << "\n";
  for (std::int64_t id : done.value().unknown) std::cout << "no record has id " << id << "\n";
  return kDone;
}

Result<int> compact(const KnnOptions& options) {
  auto store = open_store(options, KnnAccess::write);
  if (!store.ok()) return store.status();
  if (Status status = store.value()->compact(); !status.ok()) return status;
  std::cout << "compacted\n";
  return kDone;
}

struct Import {
  KnnOptions store;
  std::string input;
};

Result<int> import(const Import& arguments) {
  KnnExpectation expected = arguments.store.expected;
  if (!arguments.store.metric.empty()) expected.metric = metric_named(arguments.store.metric);
  if (Status status = import_store(arguments.store.path, arguments.input, expected); !status.ok()) return status;
  std::cout << "imported to " << arguments.store.path << "\n";
  return kDone;
}

void add_create(CLI::App& knn, Verb& chosen) {
  const auto arguments = std::make_shared<Create>();
  CLI::App* verb = knn.add_subcommand("create", "Make an empty store; every field of its identity is checked whenever it is opened");
  verb->add_option("PATH", arguments->path, "The store's file; it must not exist")->required();
  verb->add_option("--domain", arguments->identity.domain, "Permission domain: who may read one record may read all")->required();
  verb->add_option("--model", arguments->identity.model, "The model that makes the keys")->required();
  verb->add_option("--model-version", arguments->identity.model_version, "Its version")->required();
  verb->add_option("--tokenizer", arguments->identity.tokenizer, "What the token ids mean")->required();
  verb->add_option("--dimension", arguments->identity.dimension, "Numbers in a key")->required();
  verb->add_option("--metric", arguments->metric, "squared-l2 or inner-product")
      ->check(CLI::IsMember({"squared-l2", "inner-product"}))
      ->capture_default_str();
  verb->callback([arguments, &chosen] { chosen = [arguments] { return create(*arguments); }; });
}

void add_add(CLI::App& knn, Verb& chosen) {
  const auto arguments = std::make_shared<Add>();
  CLI::App* verb = knn.add_subcommand("add", "Add the records of a safetensors file: keys [N,D] and token_ids [N]");
  declare_knn_options(*verb, arguments->store, true);
  verb->add_option("--input", arguments->input, "The file")->required();
  verb->add_option("--source", arguments->source, "What they were taken from; delete --source finds them by it");
  verb->add_flag("--upsert", arguments->upsert, "The file has ids [N] too; a record of the same id is replaced");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return add(*arguments); }; });
}

void add_delete(CLI::App& knn, Verb& chosen) {
  const auto arguments = std::make_shared<Delete>();
  CLI::App* verb =
      knn.add_subcommand("delete", "Delete records by id or by what they have in common; compact then takes them out of the bytes");
  declare_knn_options(*verb, arguments->store, true);
  verb->add_option("--id", arguments->ids, "An id; may be repeated")->take_all()->expected(1);
  verb->add_option("--token", arguments->filter.token, "All records of this token");
  verb->add_option("--source", arguments->filter.source, "All records from this source");
  verb->add_option("--first-id", arguments->filter.first_id, "All records from this id on");
  verb->add_option("--last-id", arguments->filter.last_id, "All records up to this id");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return remove(*arguments); }; });
}

}  // namespace

void add_knn_changes(CLI::App& knn, Verb& chosen) {
  add_create(knn, chosen);
  add_add(knn, chosen);
  add_delete(knn, chosen);
  const auto options = std::make_shared<KnnOptions>();
  CLI::App* compacts = knn.add_subcommand("compact", "Give back room; no byte of a deleted record stays in the store's files");
  declare_knn_options(*compacts, *options, false);
  compacts->callback([options, &chosen] { chosen = [options] { return compact(*options); }; });
  const auto arguments = std::make_shared<Import>();
  CLI::App* imports = knn.add_subcommand("import", "Make a store from the file that export wrote");
  declare_knn_options(*imports, arguments->store, true);
  imports->add_option("--input", arguments->input, "The file")->required();
  imports->callback([arguments, &chosen] { chosen = [arguments] { return import(*arguments); }; });
}

}  // namespace linearmem::cli
