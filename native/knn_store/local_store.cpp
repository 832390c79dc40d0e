#include "local_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "postgres_store.hpp"
#include "snapshot.hpp"

namespace linearmem {
namespace store {
namespace {

Status refuse(const std::string& path, const std::string& sentence) { return Status::invalid(path + ": " + sentence); }

std::int64_t size_of(const std::string& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

// Records past the scan file that a snapshot keeps in memory before the file is made anew.
std::int64_t most_rest(std::int64_t scanned) { return std::max<std::int64_t>(1024, scanned / 8); }

}  // namespace

template <typename Change>
Status LocalStore::write(const Change& change) {
  if (!mark_) return refuse(truth_->path(), "is open to read only");
  auto transaction = Transaction::begin(truth_->database(), true);
  if (!transaction.ok()) return transaction.status();
  const auto before = truth_->state();
  if (!before.ok()) return before.status();
  State after = before.value();
  if (Status status = change(after); !status.ok()) return status;
  after = after_change(before.value(), after);
  if (after == before.value()) return {};
  if (Status status = truth_->set_state(after); !status.ok()) return status;
  if (Status status = transaction.value().commit(); !status.ok()) return status;
  mark_->note(after);
  return {};
}

Result<std::vector<std::int64_t>> LocalStore::append(const KnnRecords& records) {
  const std::lock_guard lock(mutex_);
  std::vector<std::int64_t> ids;
  if (Status status = check_records(truth_->path(), identity(), records, false); !status.ok()) return status;
  const Status status = write([&](State& state) -> Status {
    for (std::size_t i = 0; i < records.tokens.size(); ++i) {
      if (Status inserted = truth_->insert(record_at(records, i, state.next_id, identity().dimension), state); !inserted.ok()) return inserted;
      ids.push_back(state.next_id++);
    }
    return {};
  });
  if (!status.ok()) return status;
  return ids;
}

Status LocalStore::remove_one(std::int64_t id, State& state, bool& removed) {
  const auto found = truth_->find(id);
  if (!found.ok()) return found.status();
  removed = found.value().has_value();
  if (!removed) return {};
  state.rewritten = -1;  // write() puts the generation there
  return truth_->erase(id, *found.value(), state);
}

Result<KnnUpsert> LocalStore::upsert(const KnnRecords& records) {
  const std::lock_guard lock(mutex_);
  KnnUpsert done;
  if (Status status = check_records(truth_->path(), identity(), records, true); !status.ok()) return status;
  const Status status = write([&](State& state) -> Status {
    for (std::size_t i = 0; i < records.tokens.size(); ++i) {
      const std::int64_t id = records.ids[i];
      bool replaced = false;
      if (Status removed = remove_one(id, state, replaced); !removed.ok()) return removed;
      if (id < state.next_id) state.rewritten = -1;  // it stands among records that a scan file may hold
      if (Status inserted = truth_->insert(record_at(records, i, id, identity().dimension), state); !inserted.ok()) return inserted;
      state.next_id = std::max(state.next_id, id + 1);
      ++(replaced ? done.replaced : done.added);
    }
    return {};
  });
  if (!status.ok()) return status;
  return done;
}

Result<KnnRemoval> LocalStore::remove(std::span<const std::int64_t> ids) {
  const std::lock_guard lock(mutex_);
  KnnRemoval done;
  const Status status = write([&](State& state) -> Status {
    for (std::int64_t id : ids) {
      bool removed = false;
      if (Status one = remove_one(id, state, removed); !one.ok()) return one;
      if (removed) ++done.removed;
      else done.unknown.push_back(id);
    }
    return {};
  });
  if (!status.ok()) return status;
  return done;
}

Result<std::int64_t> LocalStore::remove_where(const KnnFilter& filter) {
  const std::lock_guard lock(mutex_);
  if (!filter.token && !filter.source && !filter.first_id && !filter.last_id)
    return refuse(truth_->path(), "the filter sets nothing; to remove every record set first_id to 0");
  std::vector<std::int64_t> ids;
  const Status status = write([&](State& state) -> Status {
    const std::int64_t from = std::max<std::int64_t>(filter.first_id.value_or(0), 0);
    const Status read = truth_->each(from, [&](const Record& record, std::uint32_t) {
      const bool meets = record.id <= filter.last_id.value_or(record.id) && record.token == filter.token.value_or(record.token) &&
                         (!filter.source || record.source == *filter.source);
      if (meets) ids.push_back(record.id);
      return Status();
    });
    if (!read.ok()) return read;
    for (std::int64_t id : ids) {
      bool removed = false;
      if (Status one = remove_one(id, state, removed); !one.ok()) return one;
    }
    return {};
  });
  if (!status.ok()) return status;
  return static_cast<std::int64_t>(ids.size());
}

// VACUUM writes every page that is in use anew and gives the others back; the log, which holds old pages, is emptied.
Status LocalStore::compact() {
  const std::lock_guard lock(mutex_);
  if (!mark_) return refuse(truth_->path(), "is open to read only");
  scan_.reset();
  if (Status status = truth_->database().run("VACUUM"); !status.ok()) return status;
  const auto busy = truth_->database().number("PRAGMA wal_checkpoint(TRUNCATE)");
  if (!busy.ok()) return busy.status();
  if (busy.value() != 0 || size_of(truth_->path() + "-wal") != 0)
    return refuse(truth_->path(), "is compacted, but its log still holds what was removed: a reader is in the middle of it; compact again");
  return remove_derived();
}

// Scan file and graph, and what a process that was killed left of one. None is made of old records any more: the log could be emptied
// only when nobody read them.
Status LocalStore::remove_derived() const {
  const std::filesystem::path truth = truth_->path(), folder = truth.has_parent_path() ? truth.parent_path() : ".";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    std::error_code failed;
    for (const char* kind : {".scan", ".graph"}) {
      const std::string derived = truth.filename().string() + kind;
      if (name == derived || (name.starts_with("." + derived + ".") && name.ends_with(".part"))) std::filesystem::remove(entry.path(), failed);
    }
    if (failed) return refuse(entry.path().string(), "cannot remove it: " + failed.message());
  }
  return error ? refuse(folder.string(), "cannot list it: " + error.message()) : Status();
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
  return KnnStats{.records = state.count, .generation = state.generation, .next_id = state.next_id, .truth_bytes = size_of(truth_->path()),
                  .log_bytes = size_of(truth_->path() + "-wal"), .scan_bytes = size_of(scan_path()),
                  .graph_bytes = size_of(graph_path()), .graph_recall = graph.ok() ? graph.value()->recall() : 0, .scan = scan_text(state, scan)};
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
      !(std::ranges::equal(scan.value()->ids(), content.value().ids) && std::ranges::equal(scan.value()->tokens(), content.value().tokens) &&
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
  if (digest != now.digest || static_cast<std::int64_t>(rest.ids.size()) != now.count - scan.state().count) return std::optional<ScanContent>();
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
    return make_snapshot(identity(), now, nullptr, std::move(content).value(),
                         scan.ok() ? "in memory: another process has just made the scan file anew" : "in memory: " + scan.status().message());
  scan_ = scan.value();
  return make_snapshot(identity(), now, scan_, {}, "mapped");
}

Result<std::shared_ptr<const KnnSnapshot>> LocalStore::snapshot(KnnSearchBy by) {
  const std::lock_guard lock(mutex_);
  auto snapshot = scan_snapshot();
  if (by == KnnSearchBy::scan || !snapshot.ok()) return snapshot;
  if (snapshot.value()->scan() != "mapped") return refuse(truth_->path(), "the scan file cannot be used, and a graph leads to its rows: " + snapshot.value()->scan());
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
    return refuse(truth_->path(), "holds " + std::to_string(count) + " records; a graph is made from " + std::to_string(options.least_records) + " on");
  for (const auto& [name, value] : {std::pair("links", options.links), std::pair("build_effort", options.build_effort),
                                    std::pair("search_effort", options.search_effort), std::pair("k", options.k)})
    if (value < 2 || value > 4096) return refuse(truth_->path(), std::string(name) + " is " + std::to_string(value) + ", must be from 2 to 4096");
  const auto graph = Graph::make(*scan_, identity().dimension, identity().metric,
                                 {.links = options.links, .build_effort = options.build_effort, .search_effort = options.search_effort});
  if (!graph.ok()) return graph.status();
  auto report = measured(*graph.value(), options);
  if (!report.ok()) return report;
  if (!(report.value().recall >= options.least_recall))
    return refuse(truth_->path(), "the graph finds " + std::to_string(report.value().recall) + " of the neighbours, the least is " + std::to_string(options.least_recall) +
                                      "; it is not kept; a larger search_effort finds more");
  if (Status status = graph.value()->write(graph_path(), *scan_, truth_->salt(), report.value().recall); !status.ok()) return status;
  return report;
}

// The share of the true neighbours, found by the exact search, that are among the graph's candidates.
Result<KnnGraphReport> LocalStore::measured(const Graph& graph, const KnnGraphOptions& options) const {
  const std::int64_t M = static_cast<std::int64_t>(scan_->ids().size()), D = identity().dimension, R = std::min(options.k, M), own = std::min<std::int64_t>(200, M);
  Tensor<float, 2> drawn({own, D});
  for (std::int64_t q = 0; q < own; ++q)
    for (std::int64_t d = 0; d < D; ++d) drawn(q, d) = scan_->keys()[static_cast<std::size_t>(q * M / own * D + d)];
  const View<const float, 2> queries = options.queries.given() ? options.queries : View<const float, 2>(drawn.view());
  const std::int64_t Q = queries.extent(0);
  Tensor<std::int64_t, 2> rows({Q, R});
  Tensor<double, 2> distances({Q, R});
  const Status status = knn_search(KnnSearchArguments<float>{.keys = {scan_->keys().data(), {M, D}}, .queries = queries, .k = R, .metric = identity().metric,
                                                             .ids = rows.view(), .distances = distances.view()});
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

}  // namespace store

Status KnnStore::create(const std::string& path, const KnnIdentity& identity, const KnnStoreOptions& options) {
  if (store::names_server(path)) return store::create_on_server(path, identity);
  return store::Truth::create(path, identity, {.vfs = options.vfs, .synced = options.synced, .log_pages = options.log_pages});
}

Result<std::unique_ptr<KnnStore>> KnnStore::open(const std::string& path, const KnnExpectation& expected, KnnAccess access,
                                                 const KnnStoreOptions& options) {
  if (store::names_server(path)) return store::open_on_server(path, expected, access);
  if (std::error_code error; !std::filesystem::exists(path, error)) return store::refuse(path, "there is no store; knn create makes one");
  std::optional<store::Mark> mark;
  if (access == KnnAccess::write) {
    auto locked = store::Mark::lock(path);
    if (!locked.ok()) return locked.status();
    mark.emplace(std::move(locked).value());
  }
  const auto acknowledged = store::Mark::read(path);
  auto truth = store::Truth::open(path, {.vfs = options.vfs, .synced = options.synced, .log_pages = options.log_pages});
  if (!truth.ok()) return truth.status();
  if (Status status = check_expectation(path, truth.value()->identity(), expected); !status.ok()) return status;
  const auto state = truth.value()->state();
  if (!state.ok()) return state.status();
  if (Status status = store::Mark::check(path, acknowledged, state.value()); !status.ok()) return status;
  return std::unique_ptr<KnnStore>(std::make_unique<store::LocalStore>(std::move(truth).value(), std::move(mark)));
}

}  // namespace linearmem
