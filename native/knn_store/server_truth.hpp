// The rows of one domain on a server, each checked: what Truth is to a file.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "postgres.hpp"
#include "records.hpp"

namespace linearmem::store {

std::string partition_of(const std::string& domain);  // the table of its records
std::string vector_text(std::span<const float> key);  // as pgvector reads it, every bit kept

// A transaction that sees one moment. Undone at scope end unless committed.
class Change {
 public:
  static Result<std::unique_ptr<Change>> begin(Connection& connection, const char* how);  // how: "READ ONLY" or "READ WRITE"
  explicit Change(Connection& connection) : connection_(&connection) {}
  ~Change() {
    if (connection_) static_cast<void>(connection_->run("ROLLBACK"));
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  Status commit() { return std::exchange(connection_, nullptr)->run("COMMIT").status(); }

 private:
  Connection* connection_;
};

class ServerTruth {
 public:
  ServerTruth(std::unique_ptr<Connection> connection, KnnIdentity identity)
      : connection_(std::move(connection)), identity_(std::move(identity)), salt_(identity_checksum(identity_)) {}

  Connection& connection() { return *connection_; }
  const KnnIdentity& identity() const { return identity_; }
  std::string table() const { return partition_of(identity_.domain); }

  using Visit = std::function<Status(const Record&, std::uint32_t)>;

  // Within a transaction of the caller's.
  Result<State> state(bool to_change);
  Status set_state(const State& state);
  Status each_row(const Rows& rows, const Visit& visit) const;  // rows of: id, token, source, key::text, checksum
  Status each(std::int64_t from, const Visit& visit);           // ids of at least `from`, ascending
  Status insert(const KnnRecords& records, const std::vector<std::int64_t>& ids, State& state);
  Result<std::vector<std::int64_t>> erase(const std::vector<std::int64_t>& ids, State& state);  // those that were there

 private:
  Status damaged(const std::string& what) const;

  std::unique_ptr<Connection> connection_;
  KnnIdentity identity_;
  std::uint32_t salt_;
};

}  // namespace linearmem::store
