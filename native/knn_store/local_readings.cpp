// What reads a store in a file: its size and soundness, snapshots to search, the graph.
#include <algorithm>
#include <filesystem>

#include "local_store.hpp"
#include "snapshot.hpp"

namespace linearmem::store {
namespace {

// Records past the scan file that a snapshot keeps in memory before the file is made anew.
std::int64_t most_rest(std::int64_t scanned) { return std::max<std::int64_t>(1024, scanned / 8); }

}  // namespace

std::int64_t size_of(const std::string& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

Result<State> LocalStore::current_state() {
  auto transaction = Transaction::begin(truth_->database(), false);
  if (!transaction.ok()) return transaction.status();
  return truth_->state();
}

std::string LocalStore::scan_text(const State& state, const Result<std::shared_ptr<const ScanFile>>& scan) const {
  if (!std::filesystem::exists(scan_path())) return "missing";
  if (!scan.ok()) return scan.status().message();
  const State& scanned = scan.value()->state();
  if (scanned == state) return "fresh";
  return "stale by " + std::to_string(state.generation - scanned.generation) + " changes";
}

Result<KnnStats> LocalStore::sizes(const State& state) const {
  const auto scan = ScanFile::open(scan_path(), truth_->salt(), identity().dimension);
  const auto graph = scan.ok() && size_of(graph_path()) > 0
                         ? Graph::open(graph_path(), *scan.value(), truth_->salt(), identity().dimension, identity().metric)
                         : Result<std::shared_ptr<const Graph>>(Status::invalid("no graph"));
  return KnnStats{.records = state.count,
                  .generation = state.generation,
                  .next_id = state.next_id,
                  .truth_bytes = size_of(truth_->path()),
                  .log_bytes = size_of(truth_->path() + "-wal"),
                  .scan_bytes = size_of(scan_path()),
                  .graph_bytes = size_of(graph_path()),
                  .graph_recall = graph.ok() ? graph.value()->recall() : 0,
                  .scan = scan_text(state, scan)};
}

Result<KnnStats> LocalStore::stats() {
  const std::lock_guard lock(mutex_);
  const auto state = current_state();
  if (!state.ok()) return state.status();
  return sizes(state.value());
}

Result<KnnStats> LocalStore::verify() {
  const std::lock_guard lock(mutex_);
  auto transaction = Transaction::begin(truth_->database(), false);
  if (!transaction.ok()) return transaction.status();
  const auto state = truth_->state();
  if (!state.ok()) return state.status();
  auto check = truth_->database().prepare("PRAGMA integrity_check(1)");
  if (!check.ok()) return check.status();
  const auto row = check.value().step();
  if (!row.ok()) return row.status();
  if (check.value().text(0) != "ok") return refuse(truth_->path(), "SQLite: " + std::string(check.value().text(0)));
  const auto content = read_content(*truth_, state.value());
  if (!content.ok()) return content.status();
  const auto scan = ScanFile::open(scan_path(), truth_->salt(), identity().dimension);
  if (scan.ok() && scan.value()->state() == state.value() &&
      !(std::ranges::equal(scan.value()->ids(), content.value().ids) &&
        std::ranges::equal(scan.value()->tokens(), content.value().tokens) &&
        std::ranges::equal(scan.value()->keys(), content.value().keys)))
    return refuse(scan_path(), "is whole and of this generation, but holds other records than the store; remove it");
  return sizes(state.value());
}

// Records added after the scan file was made; none where it and they do not add up to the state.
Result<std::optional<ScanContent>> LocalStore::rest_after(const ScanFile& scan, const State& now) {
  ScanContent rest{.state = now, .salt = truth_->salt(), .dimension = identity().dimension, .ids = {}, .tokens = {}, .keys = {}};
  std::uint64_t digest = scan.state().digest;
  const Status read = truth_->each(scan.state().next_id, [&](const Record& record, std::uint32_t sum) {
    rest.ids.push_back(record.id), rest.tokens.push_back(record.token);
    rest.keys.insert(rest.keys.end(), record.key.begin(), record.key.end());
    digest += digest_of(sum, record.id);
    return Status();
  });
  if (!read.ok()) return read;
  if (digest != now.digest || static_cast<std::int64_t>(rest.ids.size()) != now.count - scan.state().count)
    return std::optional<ScanContent>();
  return std::optional(std::move(rest));
}

Result<std::shared_ptr<const KnnSnapshot>> LocalStore::scan_snapshot() {
  auto transaction = Transaction::begin(truth_->database(), false);
  if (!transaction.ok()) return transaction.status();
  const auto state = truth_->state();
  if (!state.ok()) return state.status();
  const State& now = state.value();
  const auto usable = [&](const std::shared_ptr<const ScanFile>& scan) {
    return scan && scan->state().generation >= now.rewritten && scan->state().generation <= now.generation &&
           now.count - scan->state().count <= most_rest(scan->state().count);
  };
  if (!usable(scan_) || scan_->state() != now) {
    auto scan = ScanFile::open(scan_path(), truth_->salt(), identity().dimension);
    if (scan.ok()) scan_ = scan.value();
  }
  if (usable(scan_)) {
    auto rest = rest_after(*scan_, now);
    if (!rest.ok()) return rest.status();
    if (rest.value()) return make_snapshot(identity(), now, scan_, std::move(*rest.value()), "mapped");
  }
  auto content = read_content(*truth_, now);
  if (!content.ok()) return content.status();
  const Status written = ScanFile::write(scan_path(), content.value());
  auto scan = written.ok() ? ScanFile::open(scan_path(), truth_->salt(), identity().dimension) : written;
  if (!scan.ok() || scan.value()->state() != now)
    return make_snapshot(
        identity(), now, nullptr, std::move(content).value(),
        scan.ok() ? "in memory: another process has just made the scan file anew" : "in memory: " + scan.status().message());
  scan_ = scan.value();
  return make_snapshot(identity(), now, scan_, {}, "mapped");
}

Result<std::shared_ptr<const KnnSnapshot>> LocalStore::snapshot(KnnSearchBy by) {
  const std::lock_guard lock(mutex_);
  auto snapshot = scan_snapshot();
  if (by == KnnSearchBy::scan || !snapshot.ok()) return snapshot;
  if (snapshot.value()->scan() != "mapped")
    return refuse(truth_->path(), "the scan file cannot be used, and a graph leads to its rows: " + snapshot.value()->scan());
  const auto graph = Graph::open(graph_path(), *scan_, truth_->salt(), identity().dimension, identity().metric);
  if (!graph.ok()) return graph.status();
  return snapshot_by(graph.value());
}

// Of the state that scan_snapshot() has just seen: the scan file it left, and what came after.
Result<std::shared_ptr<const KnnSnapshot>> LocalStore::snapshot_by(const std::shared_ptr<const Graph>& graph) {
  auto transaction = Transaction::begin(truth_->database(), false);
  if (!transaction.ok()) return transaction.status();
  const auto state = truth_->state();
  if (!state.ok()) return state.status();
  auto rest = rest_after(*scan_, state.value());
  if (!rest.ok()) return rest.status();
  if (!rest.value()) return refuse(truth_->path(), "was changed this very moment; ask again");
  return make_snapshot(identity(), state.value(), scan_, std::move(*rest.value()), "mapped", graph);
}

Result<KnnGraphReport> LocalStore::make_graph(const KnnGraphOptions& options) {
  const std::lock_guard lock(mutex_);
  const auto snapshot = scan_snapshot();
  if (!snapshot.ok()) return snapshot.status();
  if (snapshot.value()->scan() != "mapped") return refuse(truth_->path(), "the scan file cannot be used: " + snapshot.value()->scan());
  const auto count = static_cast<std::int64_t>(scan_->ids().size());
  if (count < std::max<std::int64_t>(options.least_records, 1))
    return refuse(truth_->path(),
                  "holds " + std::to_string(count) + " records; a graph is made from " + std::to_string(options.least_records) + " on");
  for (const auto& [name, value] : {std::pair("links", options.links), std::pair("build_effort", options.build_effort),
                                    std::pair("search_effort", options.search_effort), std::pair("k", options.k)})
    if (value < 2 || value > 4096)
      return refuse(truth_->path(), std::string(name) + " is " + std::to_string(value) + ", must be from 2 to 4096");
  const auto graph = Graph::make(*scan_, identity().dimension, identity().metric,
                                 {.links = options.links, .build_effort = options.build_effort, .search_effort = options.search_effort});
  if (!graph.ok()) return graph.status();
  auto report = measured(*graph.value(), options);
  if (!report.ok()) return report;
  if (!(report.value().recall >= options.least_recall))
    return refuse(truth_->path(), "the graph finds " + std::to_string(report.value().recall) + " of the neighbours, the least is " +
                                      std::to_string(options.least_recall) + "; it is not kept; a larger search_effort finds more");
  if (Status status = graph.value()->write(graph_path(), *scan_, truth_->salt(), report.value().recall); !status.ok()) return status;
  return report;
}

// The share of the true neighbours, found by the exact search, that are among the graph's candidates.
Result<KnnGraphReport> LocalStore::measured(const Graph& graph, const KnnGraphOptions& options) const {
  const std::int64_t M = static_cast<std::int64_t>(scan_->ids().size()), D = identity().dimension, R = std::min(options.k, M),
                     own = std::min<std::int64_t>(200, M);
  Tensor<float, 2> drawn({own, D});
  for (std::int64_t q = 0; q < own; ++q)
    for (std::int64_t d = 0; d < D; ++d) drawn(q, d) = scan_->keys()[static_cast<std::size_t>(q * M / own * D + d)];
  const View<const float, 2> queries = options.queries.given() ? options.queries : View<const float, 2>(drawn.view());
  const std::int64_t Q = queries.extent(0);
  Tensor<std::int64_t, 2> rows({Q, R});
  Tensor<double, 2> distances({Q, R});
  const Status status = knn_search(KnnSearchArguments<float>{.keys = {scan_->keys().data(), {M, D}},
                                                             .queries = queries,
                                                             .k = R,
                                                             .metric = identity().metric,
                                                             .ids = rows.view(),
                                                             .distances = distances.view()});
  if (!status.ok()) return status;
  std::int64_t found = 0;
  std::vector<float> query(static_cast<std::size_t>(D));
  for (std::int64_t q = 0; q < Q; ++q) {
    for (std::int64_t d = 0; d < D; ++d) query[static_cast<std::size_t>(d)] = queries(q, d);
    const auto candidates = graph.candidates(query, R);
    if (!candidates.ok()) return candidates.status();
    for (std::int64_t r = 0; r < R; ++r) found += std::binary_search(candidates.value().begin(), candidates.value().end(), rows(q, r));
  }
  return KnnGraphReport{.recall = Q > 0 ? static_cast<double>(found) / static_cast<double>(Q * R) : 0, .queries = Q};
}

Result<KnnRecords> LocalStore::read_all() {
  const std::lock_guard lock(mutex_);
  auto transaction = Transaction::begin(truth_->database(), false);
  if (!transaction.ok()) return transaction.status();
  const auto state = truth_->state();
  if (!state.ok()) return state.status();
  KnnRecords all;
  std::uint64_t digest = 0;
  const Status read = truth_->each(0, [&](const Record& record, std::uint32_t sum) {
    all.ids.push_back(record.id), all.tokens.push_back(record.token), all.sources.emplace_back(record.source);
    all.keys.insert(all.keys.end(), record.key.begin(), record.key.end());
    digest += digest_of(sum, record.id);
    return Status();
  });
  if (!read.ok()) return read;
  if (digest != state.value().digest || all.count() != state.value().count)
    return refuse(truth_->path(), "holds other records than were acknowledged; restore the store from a copy or an export");
  return all;
}

}  // namespace linearmem::store
