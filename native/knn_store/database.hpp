// SQLite with Status in place of codes, and statements that end with their scope.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "linearmem/status.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace linearmem::store {

class Database;

// One statement, reusable: bind all, step to the end, reset. Bound memory lives until the reset.
class Statement {
 public:
  Statement(Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}
  Statement(Statement&& other) noexcept : database_(other.database_), statement_(other.statement_) { other.statement_ = nullptr; }
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& bind(int place, std::int64_t value);
  Statement& bind(int place, std::string_view text);
  Statement& bind(int place, std::span<const std::byte> bytes);

  Result<bool> step();  // is there a row?
  void reset();

  bool is_integer(int column) const;
  std::int64_t integer(int column) const;
  std::string_view text(int column) const;             // of any type, as text; until the next step
  std::span<const std::byte> bytes(int column) const;  // of a blob; empty for another type

 private:
  Database* database_;
  sqlite3_stmt* statement_;
  int failed_ = 0;  // the first bind that failed
};

class Database {
 public:
  struct Options {
    const char* vfs = nullptr;  // SQLite's own when null
    bool create = false;
    int wait_ms = 5000;  // for locks that others hold for moments
  };
  static Result<std::unique_ptr<Database>> open(const std::string& path, const Options& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  Result<Statement> prepare(std::string_view sql);
  Status run(std::string_view sql);                   // no rows wanted
  Result<std::int64_t> number(std::string_view sql);  // the first column of the first row
  bool in_transaction() const;
  std::int64_t changes() const;  // rows that the last statement changed

  Status failure(int code) const;  // PATH: SQLite's words

 private:
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}

  std::string path_;
  sqlite3* handle_;
};

// Undone at scope end unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database, bool write);
  Transaction(Transaction&& other) noexcept : database_(other.database_) { other.database_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace linearmem::store
