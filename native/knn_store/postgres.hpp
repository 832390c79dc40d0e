// libpq with Status in place of codes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linearmem/status.hpp"

struct pg_conn;
struct pg_result;

namespace linearmem::store {

// The rows of an answer, all as text.
class Rows {
 public:
  explicit Rows(pg_result* result) : result_(result, release) {}
  bool fine() const;  // no error
  std::int64_t count() const;
  std::string text(std::int64_t row, int column) const;
  std::int64_t integer(std::int64_t row, int column) const;  // 0 where it is none
  std::int64_t changed() const;                              // rows that the statement changed

 private:
  static void release(pg_result* result);
  std::shared_ptr<pg_result> result_;
};

class Connection {
 public:
  // name: what errors call the store; the address may hold a password.
  static Result<std::unique_ptr<Connection>> open(const std::string& address, const std::string& name);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& name() const { return name_; }
  Result<Rows> run(const std::string& sql, const std::vector<std::string>& parameters = {});
  std::string literal(const std::string& text) const;

 private:
  Connection(pg_conn* connection, std::string name) : connection_(connection), name_(std::move(name)) {}
  pg_conn* connection_;
  std::string name_;
};

}  // namespace linearmem::store
