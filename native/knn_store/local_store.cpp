#include "local_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

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

Status LocalStore::check_records(const KnnRecords& records, bool with_ids) const {
  const std::string& path = truth_->path();
  const std::int64_t D = identity().dimension, n = records.count();
  const auto keys = static_cast<std::int64_t>(records.keys.size());
  if (keys != n * D)
    return refuse(path, n > 0 && keys % n == 0
                            ? "dimension differs: the store has " + std::to_string(D) + ", keys have " + std::to_string(keys / n)
                            : "there are " + std::to_string(n) + " tokens, but " + std::to_string(keys) + " numbers of keys; " + std::to_string(D) + " make a key");
  if (!records.sources.empty() && static_cast<std::int64_t>(records.sources.size()) != n)
    return refuse(path, "there are " + std::to_string(n) + " tokens, but " + std::to_string(records.sources.size()) + " sources");
  if (static_cast<std::int64_t>(records.ids.size()) != (with_ids ? n : 0))
    return refuse(path, with_ids ? "there are " + std::to_string(n) + " tokens, but " + std::to_string(records.ids.size()) + " ids"
                                 : "ids are given by the store when records are appended; upsert takes ids");
  for (std::size_t i = 0; i < records.tokens.size(); ++i) {
    if (records.tokens[i] < 0) return refuse(path, "tokens[" + std::to_string(i) + "] is " + std::to_string(records.tokens[i]) + ", must be at least 0");
    if (with_ids && (records.ids[i] < 0 || records.ids[i] == std::numeric_limits<std::int64_t>::max()))
      return refuse(path, "ids[" + std::to_string(i) + "] is " + std::to_string(records.ids[i]) + ", must be from 0 to 2^63-2");
  }
  for (std::int64_t at = 0; at < keys; ++at)
    if (!std::isfinite(records.keys[static_cast<std::size_t>(at)]))
      return refuse(path, "keys[" + std::to_string(at / D) + "," + std::to_string(at % D) + "] is not finite");
  return {};
}

Record LocalStore::record_at(const KnnRecords& records, std::size_t i, std::int64_t id) const {
  const auto D = static_cast<std::size_t>(identity().dimension);
  return {.id = id, .token = records.tokens[i], .source = records.sources.empty() ? std::string_view() : std::string_view(records.sources[i]),
          .key = std::span(records.keys).subspan(i * D, D)};
}

template <typename Change>
Status LocalStore::write(const Change& change) {
  if (!mark_) return refuse(truth_->path(), "is open to read only");
  auto transaction = Transaction::begin(truth_->database(), true);
  if (!transaction.ok()) return transaction.status();
  const auto before = truth_->state();
  if (!before.ok()) return before.status();
  State after = before.value();
  if (Status status = change(after); !status.ok()) return status;
  if (after == before.value()) return {};
  if (after.rewritten != before.value().rewritten) after.rewritten = before.value().generation + 1;
  ++after.generation;
  if (Status status = truth_->set_state(after); !status.ok()) return status;
  if (Status status = transaction.value().commit(); !status.ok()) return status;
  mark_->note(after);
  return {};
}

Result<std::vector<std::int64_t>> LocalStore::append(const KnnRecords& records) {
  const std::lock_guard lock(mutex_);
  std::vector<std::int64_t> ids;
  if (Status status = check_records(records, false); !status.ok()) return status;
  const Status status = write([&](State& state) -> Status {
    for (std::size_t i = 0; i < records.tokens.size(); ++i) {
      if (Status inserted = truth_->insert(record_at(records, i, state.next_id), state); !inserted.ok()) return inserted;
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
  if (Status status = check_records(records, true); !status.ok()) return status;
  const Status status = write([&](State& state) -> Status {
    for (std::size_t i = 0; i < records.tokens.size(); ++i) {
      const std::int64_t id = records.ids[i];
      bool replaced = false;
      if (Status removed = remove_one(id, state, replaced); !removed.ok()) return removed;
      if (id < state.next_id) state.rewritten = -1;  // it stands among records that a scan file may hold
      if (Status inserted = truth_->insert(record_at(records, i, id), state); !inserted.ok()) return inserted;
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

// The scan file, and what a process that was killed left of one. None is made of old records any more: the log could be emptied only
// when nobody read them.
Status LocalStore::remove_derived() const {
  const std::filesystem::path scan = scan_path(), folder = scan.has_parent_path() ? scan.parent_path() : ".";
  const std::string unfinished = "." + scan.filename().string() + ".";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    std::error_code failed;
    if (name == scan.filename() || (name.starts_with(unfinished) && name.ends_with(".part"))) std::filesystem::remove(entry.path(), failed);
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
  return KnnStats{.records = state.count, .generation = state.generation, .next_id = state.next_id, .truth_bytes = size_of(truth_->path()),
                  .log_bytes = size_of(truth_->path() + "-wal"), .scan_bytes = size_of(scan_path()), .scan = scan_text(state, scan)};
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

Result<std::shared_ptr<const KnnSnapshot>> LocalStore::snapshot() {
  const std::lock_guard lock(mutex_);
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
  ScanContent rest{.state = now, .salt = truth_->salt(), .dimension = identity().dimension, .ids = {}, .tokens = {}, .keys = {}};
  if (usable(scan_)) {
    std::uint64_t digest = scan_->state().digest;
    const Status read = truth_->each(scan_->state().next_id, [&](const Record& record, std::uint32_t sum) {
      rest.ids.push_back(record.id), rest.tokens.push_back(record.token);
      rest.keys.insert(rest.keys.end(), record.key.begin(), record.key.end());
      digest += digest_of(sum, record.id);
      return Status();
    });
    if (!read.ok()) return read;
    if (digest == now.digest && static_cast<std::int64_t>(rest.ids.size()) == now.count - scan_->state().count)
      return make_snapshot(identity(), now, scan_, std::move(rest), "mapped");
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
  return store::Truth::create(path, identity, {.vfs = options.vfs, .synced = options.synced, .log_pages = options.log_pages});
}

Result<std::unique_ptr<KnnStore>> KnnStore::open(const std::string& path, const KnnExpectation& expected, KnnAccess access,
                                                 const KnnStoreOptions& options) {
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
