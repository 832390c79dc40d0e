#include "server_truth.hpp"

#ifdef LINEARMEM_POSTGRES

#include <algorithm>
#include <charconv>

#include "foundation/crc32c.hpp"

namespace linearmem::store {
namespace {

constexpr std::int64_t kRowsAtOnce = 500;

bool read_vector(const std::string& text, std::int64_t dimension, std::vector<float>& to) {
  to.clear();
  const char *at = text.data(), *end = at + text.size();
  while (at != end && (*at == '[' || *at == ',')) {
    float value = 0;
    const auto read = std::from_chars(at + 1, end, value);
    if (read.ec != std::errc()) return false;
    to.push_back(value);
    at = read.ptr;
  }
  return at != end && *at == ']' && static_cast<std::int64_t>(to.size()) == dimension;
}

// {"a","b"}, the text of an array.
class ArrayText {
 public:
  void add(const std::string& item) {
    text_ += text_.size() > 1 ? ",\"" : "\"";
    for (char letter : item) {
      if (letter == '"' || letter == '\\') text_ += '\\';
      text_ += letter;
    }
    text_ += '"';
  }
  std::string text() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

}  // namespace

// A table's name for any text.
std::string partition_of(const std::string& domain) {
  const std::uint32_t sum = crc32c(std::as_bytes(std::span(domain.data(), domain.size())));
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, mixed(mixed(sum) ^ domain.size()), 16).ptr;
  return "linearmem.records_" + std::string(digits, end);
}

std::string vector_text(std::span<const float> key) {
  std::string text = "[";
  char digits[32];
  for (float value : key) {
    if (text.size() > 1) text += ',';
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  return text + "]";
}

Result<std::unique_ptr<Change>> Change::begin(Connection& connection, const char* how) {
  if (const auto rows = connection.run(std::string("BEGIN ISOLATION LEVEL REPEATABLE READ ") + how); !rows.ok()) return rows.status();
  return std::make_unique<Change>(connection);
}

Status ServerTruth::damaged(const std::string& what) const {
  return Status::invalid(connection_->name() + ": " + what + " is damaged; restore the store from a copy or an export");
}

Result<State> ServerTruth::state(bool to_change) {
  const auto rows = connection_->run(
      std::string("SELECT generation, rewritten, count, next_id, digest, state_checksum FROM linearmem.stores WHERE domain = $1") +
          (to_change ? " FOR UPDATE" : ""),
      {identity_.domain});
  if (!rows.ok()) return rows.status();
  if (rows.value().count() != 1) return damaged("the count of records");
  const auto number = [&](int column) { return rows.value().integer(0, column); };
  const State state{.generation = number(0),
                    .rewritten = number(1),
                    .count = number(2),
                    .next_id = number(3),
                    .digest = static_cast<std::uint64_t>(number(4))};
  if (number(5) != std::int64_t{state_checksum(salt_, state)}) return damaged("the count of records");
  return state;
}

Status ServerTruth::set_state(const State& state) {
  return connection_
      ->run(
          "UPDATE linearmem.stores SET generation = $2, rewritten = $3, count = $4, next_id = $5, digest = $6, state_checksum = $7 WHERE "
          "domain = $1",
          {identity_.domain, std::to_string(state.generation), std::to_string(state.rewritten), std::to_string(state.count),
           std::to_string(state.next_id), std::to_string(static_cast<std::int64_t>(state.digest)),
           std::to_string(state_checksum(salt_, state))})
      .status();
}

// Rows of a statement that selects id, token, source, key::text, checksum.
Status ServerTruth::each_row(const Rows& rows, const Visit& visit) const {
  std::vector<float> key;
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    const std::string source = rows.text(row, 2);
    const std::string what = "record " + rows.text(row, 0);
    if (!read_vector(rows.text(row, 3), identity_.dimension, key)) return damaged(what);
    const Record record{.id = rows.integer(row, 0), .token = rows.integer(row, 1), .source = source, .key = key};
    const std::uint32_t sum = record_checksum(salt_, record);
    if (rows.integer(row, 4) != std::int64_t{sum}) return damaged(what);
    if (Status status = visit(record, sum); !status.ok()) return status;
  }
  return {};
}

Status ServerTruth::each(std::int64_t from, const Visit& visit) {
  for (;;) {
    const auto rows = connection_->run(
        "SELECT id, token, source, key::text, checksum FROM linearmem.records WHERE domain = $1 AND id >= $2 ORDER BY id LIMIT " +
            std::to_string(kRowsAtOnce),
        {identity_.domain, std::to_string(from)});
    if (!rows.ok()) return rows.status();
    if (Status status = each_row(rows.value(), visit); !status.ok()) return status;
    if (rows.value().count() < kRowsAtOnce) return {};
    from = rows.value().integer(rows.value().count() - 1, 0) + 1;
  }
}

Status ServerTruth::insert(const KnnRecords& records, const std::vector<std::int64_t>& ids, State& state) {
  for (std::size_t first = 0; first < ids.size(); first += kRowsAtOnce) {
    ArrayText id, token, source, key, sum;
    for (std::size_t i = first; i < std::min(ids.size(), first + kRowsAtOnce); ++i) {
      const Record record = record_at(records, i, ids[i], identity_.dimension);
      const std::uint32_t checksum = record_checksum(salt_, record);
      id.add(std::to_string(record.id)), token.add(std::to_string(record.token)), source.add(std::string(record.source));
      key.add(vector_text(record.key)), sum.add(std::to_string(checksum));
      state.digest += digest_of(checksum, record.id);
      ++state.count;
    }
    const auto rows = connection_->run(
        "INSERT INTO linearmem.records (domain, id, token, source, key, checksum) SELECT $1, i, t, s, k::vector, c "
        "FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[]) AS new(i, t, s, k, c)",
        {identity_.domain, id.text(), token.text(), source.text(), key.text(), sum.text()});
    if (!rows.ok()) return rows.status();
  }
  return {};
}

// Takes those rows away that are there, and their part of the state.
Result<std::vector<std::int64_t>> ServerTruth::erase(const std::vector<std::int64_t>& ids, State& state) {
  ArrayText list;
  for (std::int64_t id : ids) list.add(std::to_string(id));
  const auto rows = connection_->run(
      "DELETE FROM linearmem.records WHERE domain = $1 AND id = ANY($2::bigint[]) RETURNING id, token, source, key::text, checksum",
      {identity_.domain, list.text()});
  if (!rows.ok()) return rows.status();
  std::vector<std::int64_t> gone;
  const Status status = each_row(rows.value(), [&](const Record& record, std::uint32_t sum) {
    gone.push_back(record.id);
    state.digest -= digest_of(sum, record.id);
    --state.count;
    return Status();
  });
  if (!status.ok()) return status;
  if (!gone.empty()) state.rewritten = -1;
  return gone;
}

}  // namespace linearmem::store

#endif
