#include "postgres.hpp"

#ifdef LINEARMEM_POSTGRES

#include <libpq-fe.h>

#include <cstdlib>

namespace linearmem::store {
namespace {

std::string first_line(const char* message) {
  const std::string text = message ? message : "";
  return text.substr(0, text.find('\n'));
}

}  // namespace

void Rows::release(pg_result* result) { PQclear(result); }
std::int64_t Rows::count() const { return PQntuples(result_.get()); }
std::string Rows::text(std::int64_t row, int column) const {
  return {PQgetvalue(result_.get(), static_cast<int>(row), column),
          static_cast<std::size_t>(PQgetlength(result_.get(), static_cast<int>(row), column))};
}
std::int64_t Rows::integer(std::int64_t row, int column) const {
  return std::strtoll(PQgetvalue(result_.get(), static_cast<int>(row), column), nullptr, 10);
}
std::int64_t Rows::changed() const { return std::strtoll(PQcmdTuples(result_.get()), nullptr, 10); }

Result<std::unique_ptr<Connection>> Connection::open(const std::string& address, const std::string& name) {
  pg_conn* made = PQconnectdb(address.c_str());
  std::unique_ptr<Connection> connection(new Connection(made, name));
  PQsetNoticeProcessor(
      made, [](void*, const char*) {}, nullptr);  // a library does not print
  if (PQstatus(made) == CONNECTION_OK) return connection;
  return Status::unavailable(name + ": PostgreSQL: " + first_line(PQerrorMessage(made)));
}

Connection::~Connection() { PQfinish(connection_); }

Result<Rows> Connection::run(const std::string& sql, const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  Rows rows(PQexecParams(connection_, sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0));
  if (PQstatus(connection_) == CONNECTION_BAD) return Status::unavailable(name_ + ": PostgreSQL: the connection is lost");
  if (!rows.fine()) return Status::invalid(name_ + ": PostgreSQL: " + first_line(PQerrorMessage(connection_)));
  return rows;
}

bool Rows::fine() const {
  const ExecStatusType status = PQresultStatus(result_.get());
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

std::string Connection::literal(const std::string& text) const {
  char* quoted = PQescapeLiteral(connection_, text.data(), text.size());
  const std::string made = quoted ? quoted : "''";
  PQfreemem(quoted);
  return made;
}

}  // namespace linearmem::store

#endif
