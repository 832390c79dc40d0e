// The truth of a store: records in SQLite, each with its checksum, and one row that says how many there are and what they add up to. A
// row that is lost, doubled or older than it should be shows in the digest, whatever the file underneath did.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "database.hpp"
#include "records.hpp"

namespace linearmem::store {

struct TruthOptions {
  const char* vfs = nullptr;  // SQLite's own when null
  bool synced = true;         // synchronous=FULL; without it an acknowledged change may be lost with the power
  std::int64_t log_pages = 1000;
};

// Puts the finished file at `path`, where no store may be: nothing that an earlier one left beside it must speak for the new one. Errors:
// something is there, a log is left.
Status place_new(const std::string& finished, const std::string& path);

class Truth {
 public:
  static Status create(const std::string& path, const KnnIdentity& identity, const TruthOptions& options);
  // Reads and checks identity and state. Errors: no store, another format, damage.
  static Result<std::unique_ptr<Truth>> open(const std::string& path, const TruthOptions& options);

  const std::string& path() const { return database_->path(); }
  const KnnIdentity& identity() const { return identity_; }
  std::uint32_t salt() const { return salt_; }  // the identity's checksum, which goes into every other
  Database& database() { return *database_; }

  // Within a transaction of the caller's.
  Result<State> state();
  Status set_state(const State& state);
  Result<std::optional<std::uint32_t>> find(std::int64_t id);  // the checksum of a sound record
  Status insert(const Record& record, State& state);
  Status erase(std::int64_t id, std::uint32_t checksum, State& state);
  // Every record with an id of at least `from`, ascending, each checked; stops at the first error.
  Status each(std::int64_t from, const std::function<Status(const Record&, std::uint32_t)>& visit);

 private:
  explicit Truth(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  Status read_identity();
  Status damaged(const std::string& what) const;
  Result<std::uint32_t> checked_row(const Statement& row, Record& record) const;

  std::unique_ptr<Database> database_;
  KnnIdentity identity_;
  std::uint32_t salt_ = 0;
  std::optional<Statement> insert_, find_, erase_;  // prepared when first used; gone before the database
};

}  // namespace linearmem::store
