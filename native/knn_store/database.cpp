#include "database.hpp"

#include <sqlite3.h>

#include <cstring>
#include <utility>

namespace linearmem::store {

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(int place, std::int64_t value) {
  if (const int code = sqlite3_bind_int64(statement_, place, value); code != SQLITE_OK && failed_ == 0) failed_ = code;
  return *this;
}

Statement& Statement::bind(int place, std::string_view text) {
  const int code = sqlite3_bind_text64(statement_, place, text.data() ? text.data() : "", text.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK && failed_ == 0) failed_ = code;
  return *this;
}

Statement& Statement::bind(int place, std::span<const std::byte> bytes) {
  const int code = sqlite3_bind_blob64(statement_, place, bytes.data(), bytes.size(), SQLITE_STATIC);
  if (code != SQLITE_OK && failed_ == 0) failed_ = code;
  return *this;
}

Result<bool> Statement::step() {
  if (failed_ != 0) return database_->failure(failed_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->failure(code);
}

void Statement::reset() { sqlite3_reset(statement_); }

bool Statement::is_integer(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_INTEGER; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text ? std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))) : std::string_view();
}

std::span<const std::byte> Statement::bytes(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_BLOB) return {};
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, const Options& options) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (options.create ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, options.vfs);
  std::unique_ptr<Database> database(new Database(path, handle));
  if (!handle) return Status(StatusCode::out_of_memory, path + ": no memory for SQLite");
  if (code != SQLITE_OK) return database->failure(code);
  sqlite3_busy_timeout(handle, options.wait_ms);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  for (const char* pragma : {"PRAGMA cell_size_check=ON", "PRAGMA secure_delete=ON", "PRAGMA temp_store=MEMORY", "PRAGMA mmap_size=0"})
    if (Status status = database->run(pragma); !status.ok()) return status;
  return database;
}

Database::~Database() { sqlite3_close(handle_); }

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return Statement(*this, statement);
}

Status Database::run(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement.ok()) return statement.status();
  for (;;) {
    const Result<bool> row = statement.value().step();
    if (!row.ok() || !row.value()) return row.status();
  }
}

Result<std::int64_t> Database::number(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement.ok()) return statement.status();
  const Result<bool> row = statement.value().step();
  if (!row.ok()) return row.status();
  if (!row.value()) return Status::invalid(path_ + ": no row answers " + std::string(sql));
  return statement.value().integer(0);
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }
std::int64_t Database::changes() const { return sqlite3_changes64(handle_); }

Status Database::failure(int code) const {
  const char* words = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  const std::string kind = sqlite3_errstr(code & 0xff);
  std::string reason = words == kind ? kind : words + (" (" + kind + ")");
  const int system = handle_ && (code & 0xff) == SQLITE_CANTOPEN ? sqlite3_system_errno(handle_) : 0;
  if (system != 0) reason += std::string(": ") + std::strerror(system);
  return Status::invalid(path_ + ": SQLite: " + reason + ", code " + std::to_string(code));
}

Result<Transaction> Transaction::begin(Database& database, bool write) {
  if (Status status = database.run(write ? "BEGIN IMMEDIATE" : "BEGIN"); !status.ok()) return status;
  return Transaction(database);
}

Transaction::~Transaction() {
  // What cannot be undone here is undone when the file is opened next.
  if (database_ && database_->in_transaction()) static_cast<void>(database_->run("ROLLBACK"));
}

Status Transaction::commit() {
  const Status status = database_->run("COMMIT");
  if (status.ok()) database_ = nullptr;
  return status;
}

}  // namespace linearmem::store
