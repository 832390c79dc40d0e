// Changes to a store in a file, and its doors.
#include "local_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "postgres_store.hpp"

namespace linearmem {
namespace store {

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
      if (Status inserted = truth_->insert(record_at(records, i, state.next_id, identity().dimension), state); !inserted.ok())
        return inserted;
      ids.push_back(state.next_id++);
    }
    return {};
  });
  if (!status.ok()) return status;
  return ids;
}

Result<KnnRemoval> LocalStore::erase(std::span<const std::int64_t> ids, State& state) {
  KnnRemoval done;
  for (std::int64_t id : ids) {
    const auto found = truth_->find(id);
    if (!found.ok()) return found.status();
    if (!found.value()) {
      done.unknown.push_back(id);
      continue;
    }
    state.rewritten = -1;  // write() puts the generation there
    if (Status erased = truth_->erase(id, *found.value(), state); !erased.ok()) return erased;
    ++done.removed;
  }
  return done;
}

Result<KnnUpsert> LocalStore::upsert(const KnnRecords& records) {
  const std::lock_guard lock(mutex_);
  KnnUpsert done;
  if (Status status = check_records(truth_->path(), identity(), records, true); !status.ok()) return status;
  const Status status = write([&](State& state) -> Status {
    for (std::size_t i = 0; i < records.tokens.size(); ++i) {
      const std::int64_t id = records.ids[i];
      const auto before = erase({&id, 1}, state);
      if (!before.ok()) return before.status();
      if (id < state.next_id) state.rewritten = -1;  // it stands among records that a scan file may hold
      if (Status inserted = truth_->insert(record_at(records, i, id, identity().dimension), state); !inserted.ok()) return inserted;
      state.next_id = std::max(state.next_id, id + 1);
      ++(before.value().removed > 0 ? done.replaced : done.added);
    }
    return {};
  });
  if (!status.ok()) return status;
  return done;
}

Result<KnnRemoval> LocalStore::remove(std::span<const std::int64_t> ids) {
  const std::lock_guard lock(mutex_);
  Result<KnnRemoval> done = KnnRemoval();
  const Status status = write([&](State& state) {
    done = erase(ids, state);
    return done.status();
  });
  if (!status.ok()) return status;
  return done;
}

Result<std::int64_t> LocalStore::remove_where(const KnnFilter& filter) {
  const std::lock_guard lock(mutex_);
  if (Status status = check_filter(truth_->path(), filter); !status.ok()) return status;
  std::int64_t removed = 0;
  const Status status = write([&](State& state) -> Status {
    const auto ids = ids_that_meet(filter, *truth_);
    if (!ids.ok()) return ids.status();
    removed = static_cast<std::int64_t>(ids.value().size());
    return erase(ids.value(), state).status();
  });
  if (!status.ok()) return status;
  return removed;
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
      if (name == derived || (name.starts_with("." + derived + ".") && name.ends_with(".part")))
        std::filesystem::remove(entry.path(), failed);
    }
    if (failed) return refuse(entry.path().string(), "cannot remove it: " + failed.message());
  }
  return error ? refuse(folder.string(), "cannot list it: " + error.message()) : Status();
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
