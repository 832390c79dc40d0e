#include "postgres_store.hpp"

#ifndef LINEARMEM_POSTGRES

namespace linearmem::store {
namespace {
Status absent() { return Status::unavailable("a store on a server: this program was built without libpq (Debian package libpq-dev)"); }
}  // namespace
Status create_on_server(const std::string&, const KnnIdentity&) { return absent(); }
Result<std::unique_ptr<KnnStore>> open_on_server(const std::string&, const KnnExpectation&, KnnAccess) { return absent(); }
}  // namespace linearmem::store

#else

#include <charconv>
#include <cmath>
#include <functional>
#include <mutex>

#include "crc32c.hpp"
#include "postgres.hpp"
#include "records.hpp"

namespace linearmem::store {
namespace {

constexpr std::int64_t kRowsAtOnce = 500;

std::string name_of(const std::string& domain) { return "domain \"" + domain + "\" on the server"; }

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

Status run_all(Connection& connection, const std::vector<std::string>& statements) {
  for (const std::string& sql : statements)
    if (const auto rows = connection.run(sql); !rows.ok()) return rows.status();
  return {};
}

// Undone at scope end unless committed.
class Change {
 public:
  static Result<std::unique_ptr<Change>> begin(Connection& connection, const char* how) {
    if (const auto rows = connection.run(std::string("BEGIN ISOLATION LEVEL REPEATABLE READ ") + how); !rows.ok()) return rows.status();
    return std::make_unique<Change>(connection);
  }
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

// The rows of one domain, each checked.
class ServerTruth {
 public:
  ServerTruth(std::unique_ptr<Connection> connection, KnnIdentity identity)
      : connection_(std::move(connection)), identity_(std::move(identity)), salt_(identity_checksum(identity_)) {}

  Connection& connection() { return *connection_; }
  const KnnIdentity& identity() const { return identity_; }
  std::string table() const { return partition_of(identity_.domain); }
  Status damaged(const std::string& what) const {
    return Status::invalid(connection_->name() + ": " + what + " is damaged; restore the store from a copy or an export");
  }

  Result<State> state(bool to_change) {
    const auto rows = connection_->run(std::string("SELECT generation, rewritten, count, next_id, digest, state_checksum FROM linearmem.stores WHERE domain = $1") +
                                           (to_change ? " FOR UPDATE" : ""), {identity_.domain});
    if (!rows.ok()) return rows.status();
    if (rows.value().count() != 1) return damaged("the count of records");
    const auto number = [&](int column) { return rows.value().integer(0, column); };
    const State state{.generation = number(0), .rewritten = number(1), .count = number(2), .next_id = number(3), .digest = static_cast<std::uint64_t>(number(4))};
    if (number(5) != std::int64_t{state_checksum(salt_, state)}) return damaged("the count of records");
    return state;
  }

  Status set_state(const State& state) {
    return connection_->run("UPDATE linearmem.stores SET generation = $2, rewritten = $3, count = $4, next_id = $5, digest = $6, state_checksum = $7 WHERE domain = $1",
                            {identity_.domain, std::to_string(state.generation), std::to_string(state.rewritten), std::to_string(state.count),
                             std::to_string(state.next_id), std::to_string(static_cast<std::int64_t>(state.digest)),
                             std::to_string(state_checksum(salt_, state))}).status();
  }

  using Visit = std::function<Status(const Record&, std::uint32_t)>;

  // Rows of a statement that selects id, token, source, key::text, checksum.
  Status each_row(const Rows& rows, const Visit& visit) const {
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

  Status each(std::int64_t from, const Visit& visit) {
    for (;;) {
      const auto rows = connection_->run("SELECT id, token, source, key::text, checksum FROM linearmem.records WHERE domain = $1 AND id >= $2 ORDER BY id LIMIT " +
                                             std::to_string(kRowsAtOnce), {identity_.domain, std::to_string(from)});
      if (!rows.ok()) return rows.status();
      if (Status status = each_row(rows.value(), visit); !status.ok()) return status;
      if (rows.value().count() < kRowsAtOnce) return {};
      from = rows.value().integer(rows.value().count() - 1, 0) + 1;
    }
  }

  Status insert(const KnnRecords& records, const std::vector<std::int64_t>& ids, State& state) {
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
      const auto rows = connection_->run("INSERT INTO linearmem.records (domain, id, token, source, key, checksum) SELECT $1, i, t, s, k::vector, c "
                                         "FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[]) AS new(i, t, s, k, c)",
                                         {identity_.domain, id.text(), token.text(), source.text(), key.text(), sum.text()});
      if (!rows.ok()) return rows.status();
    }
    return {};
  }

  // Takes those rows away that are there, and their part of the state.
  Result<std::vector<std::int64_t>> erase(const std::vector<std::int64_t>& ids, State& state) {
    ArrayText list;
    for (std::int64_t id : ids) list.add(std::to_string(id));
    const auto rows = connection_->run("DELETE FROM linearmem.records WHERE domain = $1 AND id = ANY($2::bigint[]) RETURNING id, token, source, key::text, checksum",
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

 private:
  std::unique_ptr<Connection> connection_;
  KnnIdentity identity_;
  std::uint32_t salt_;
};

struct Shared {
  std::mutex mutex;
  ServerTruth truth;
};

// Searches on the server; its rows are those of one generation, or there is an error.
class ServerSnapshot final : public KnnSnapshot {
 public:
  ServerSnapshot(std::shared_ptr<Shared> shared, const State& state) : shared_(std::move(shared)), state_(state) {}
  std::int64_t generation() const override { return state_.generation; }
  std::int64_t count() const override { return state_.count; }
  std::string scan() const override { return "on the server"; }

  KnnRecords records() const override {
    const std::lock_guard lock(shared_->mutex);
    KnnRecords all;
    static_cast<void>(shared_->truth.each(0, [&](const Record& record, std::uint32_t) {
      all.ids.push_back(record.id), all.tokens.push_back(record.token);
      all.keys.insert(all.keys.end(), record.key.begin(), record.key.end());
      return Status();
    }));
    return all;
  }

  Result<KnnNeighbours> search(const KnnQuery& query) const override {
    const std::lock_guard lock(shared_->mutex);
    const KnnIdentity& is = shared_->truth.identity();
    const std::int64_t Q = query.queries.extent(0);
    if (query.queries.extent(1) != is.dimension)
      return Status::invalid("knn_search: dimension differs: the store has " + std::to_string(is.dimension) + ", queries have " + std::to_string(query.queries.extent(1)));
    if (query.k < 1) return Status::invalid("knn_search: k is " + std::to_string(query.k) + ", must be at least 1");
    if (query.k > count() && !query.at_most_k)
      return Status::invalid("knn_search: k is " + std::to_string(query.k) + ", but there are " + std::to_string(count()) + " records; allow at most k to take them all");
    auto reading = Change::begin(shared_->truth.connection(), "READ ONLY");
    if (!reading.ok()) return reading.status();
    const auto now = shared_->truth.state(false);
    if (!now.ok()) return now.status();
    if (now.value() != state_)
      return Status::invalid(shared_->truth.connection().name() + ": generation " + std::to_string(state_.generation) + " is gone; take a snapshot of now");
    const std::int64_t R = knn_columns(count(), query.k, query.at_most_k);
    KnnNeighbours found{Tensor<std::int64_t, 2>({Q, R}), Tensor<std::int64_t, 2>({Q, R}), Tensor<double, 2>({Q, R})};
    for (std::int64_t q = 0; q < Q && R > 0; ++q)
      if (Status status = search_one(query.queries, q, R, found); !status.ok()) return status;
    return found;
  }

 private:
  // pgvector's distance of the R-th row bounds who may be near; whoever is within it, widened by its rounding, is measured again.
  Status search_one(const View<const float, 2>& queries, std::int64_t q, std::int64_t R, KnnNeighbours& found) const {
    ServerTruth& truth = shared_->truth;
    const std::int64_t D = truth.identity().dimension;
    std::vector<float> one(static_cast<std::size_t>(D));
    double square = 0;
    for (std::int64_t d = 0; d < D; ++d) {
      const float value = one[static_cast<std::size_t>(d)] = queries(q, d);
      if (!std::isfinite(value)) return Status::invalid("knn_search: queries[" + std::to_string(q) + "," + std::to_string(d) + "] is not finite");
      square += static_cast<double>(value) * static_cast<double>(value);
    }
    const bool inner = truth.identity().metric == Metric::inner_product;
    const std::string distance = inner ? "(key <#> $2::vector)" : "(key <-> $2::vector)", text = vector_text(one);
    const auto nearest = truth.connection().run("SELECT max(d), max(n) FROM (SELECT " + distance + " AS d, vector_norm(key) AS n FROM linearmem.records WHERE domain = $1 "
                                                "ORDER BY d LIMIT " + std::to_string(R) + ") AS near", {truth.identity().domain, text});
    if (!nearest.ok()) return nearest.status();
    const double reach = std::strtod(nearest.value().text(0, 0).c_str(), nullptr), rounding = static_cast<double>(D + 8) * 0x1p-22;
    double margin = reach * rounding;
    if (inner) {
      const auto longest = truth.connection().run("SELECT max(vector_norm(key)) FROM linearmem.records WHERE domain = $1", {truth.identity().domain});
      if (!longest.ok()) return longest.status();
      margin = 2 * rounding * std::sqrt(square) * std::strtod(longest.value().text(0, 0).c_str(), nullptr);
    }
    char bound[40];
    const auto end = std::to_chars(bound, bound + sizeof bound, reach + margin + 1e-30).ptr;
    const auto rows = truth.connection().run("SELECT id, token, source, key::text, checksum FROM linearmem.records WHERE domain = $1 AND " + distance + " <= $3::float8 ORDER BY id",
                                             {truth.identity().domain, text, std::string(bound, end)});
    if (!rows.ok()) return rows.status();
    return measure(rows.value(), one, q, R, found);
  }

  Status measure(const Rows& rows, const std::vector<float>& query, std::int64_t q, std::int64_t R, KnnNeighbours& found) const {
    KnnRecords few;
    const Status read = shared_->truth.each_row(rows, [&](const Record& record, std::uint32_t) {
      few.ids.push_back(record.id), few.tokens.push_back(record.token);
      few.keys.insert(few.keys.end(), record.key.begin(), record.key.end());
      return Status();
    });
    if (!read.ok()) return read;
    const std::int64_t M = few.count(), D = shared_->truth.identity().dimension;
    Tensor<std::int64_t, 2> at({1, R});
    Tensor<double, 2> distances({1, R});
    const Status status = knn_search(KnnSearchArguments<float>{.keys = {few.keys.data(), {M, D}}, .queries = {query.data(), {1, D}}, .k = R,
                                                              .metric = shared_->truth.identity().metric, .ids = at.view(), .distances = distances.view()});
    if (!status.ok()) return status;
    for (std::int64_t r = 0; r < R; ++r) {
      const auto row = static_cast<std::size_t>(at(0, r));
      found.ids(q, r) = few.ids[row], found.tokens(q, r) = few.tokens[row], found.distances(q, r) = distances(0, r);
    }
    return {};
  }

  std::shared_ptr<Shared> shared_;
  State state_;
};

class ServerStore final : public KnnStore {
 public:
  ServerStore(std::shared_ptr<Shared> shared, bool writes) : shared_(std::move(shared)), writes_(writes) {}
  ~ServerStore() override {
    if (writes_) static_cast<void>(truth().connection().run("SELECT pg_advisory_unlock(hashtext('linearmem ' || $1))", {identity().domain}));
  }

  const KnnIdentity& identity() const override { return shared_->truth.identity(); }

  Result<std::vector<std::int64_t>> append(const KnnRecords& records) override {
    std::vector<std::int64_t> ids;
    if (Status status = check_records(name(), identity(), records, false); !status.ok()) return status;
    const Status status = write([&](State& state) -> Status {
      for (std::int64_t i = 0; i < records.count(); ++i) ids.push_back(state.next_id++);
      return truth().insert(records, ids, state);
    });
    if (!status.ok()) return status;
    return ids;
  }

  Result<KnnUpsert> upsert(const KnnRecords& records) override {
    KnnUpsert done;
    if (Status status = check_records(name(), identity(), records, true); !status.ok()) return status;
    const Status status = write([&](State& state) -> Status {
      for (std::size_t i = 0; i < records.ids.size(); ++i) {  // one by one: a batch may have an id twice
        const std::int64_t id = records.ids[i];
        const auto gone = truth().erase({id}, state);
        if (!gone.ok()) return gone.status();
        if (id < state.next_id) state.rewritten = -1;
        KnnRecords one{.ids = {id}, .tokens = {records.tokens[i]}};
        if (!records.sources.empty()) one.sources = {records.sources[i]};
        const auto key = record_at(records, i, id, identity().dimension).key;
        one.keys.assign(key.begin(), key.end());
        if (Status inserted = truth().insert(one, one.ids, state); !inserted.ok()) return inserted;
        state.next_id = std::max(state.next_id, id + 1);
        ++(gone.value().empty() ? done.added : done.replaced);
      }
      return {};
    });
    if (!status.ok()) return status;
    return done;
  }

  Result<KnnRemoval> remove(std::span<const std::int64_t> ids) override {
    KnnRemoval done;
    const Status status = write([&](State& state) -> Status {
      for (std::int64_t id : ids) {
        const auto gone = truth().erase({id}, state);
        if (!gone.ok()) return gone.status();
        if (gone.value().empty()) done.unknown.push_back(id);
        else ++done.removed;
      }
      return {};
    });
    if (!status.ok()) return status;
    return done;
  }

  Result<std::int64_t> remove_where(const KnnFilter& filter) override {
    if (!filter.token && !filter.source && !filter.first_id && !filter.last_id)
      return Status::invalid(name() + ": the filter sets nothing; to remove every record set first_id to 0");
    std::vector<std::int64_t> ids;
    const Status status = write([&](State& state) -> Status {
      const Status read = truth().each(std::max<std::int64_t>(filter.first_id.value_or(0), 0), [&](const Record& record, std::uint32_t) {
        const bool meets = record.id <= filter.last_id.value_or(record.id) && record.token == filter.token.value_or(record.token) &&
                           (!filter.source || record.source == *filter.source);
        if (meets) ids.push_back(record.id);
        return Status();
      });
      if (!read.ok()) return read;
      return truth().erase(ids, state).status();
    });
    if (!status.ok()) return status;
    return static_cast<std::int64_t>(ids.size());
  }

  // Writes the partition anew. What the server keeps in its own log goes when it recycles that.
  Status compact() override {
    const std::lock_guard lock(shared_->mutex);
    if (!writes_) return Status::invalid(name() + ": is open to read only");
    return truth().connection().run("VACUUM FULL " + truth().table()).status();
  }

  Result<KnnStats> stats() override {
    const std::lock_guard lock(shared_->mutex);
    const auto state = truth().state(false);
    if (!state.ok()) return state.status();
    return sizes(state.value());
  }

  Result<KnnStats> verify() override {
    const std::lock_guard lock(shared_->mutex);
    const auto all = read(nullptr);
    if (!all.ok()) return all.status();
    return sizes(all.value());
  }

  Result<std::shared_ptr<const KnnSnapshot>> snapshot(KnnSearchBy by) override {
    const std::lock_guard lock(shared_->mutex);
    if (by == KnnSearchBy::graph) return Status::unavailable(name() + ": a graph is made beside a store in a file; the server is searched exactly");
    const auto state = truth().state(false);
    if (!state.ok()) return state.status();
    return std::shared_ptr<const KnnSnapshot>(std::make_shared<ServerSnapshot>(shared_, state.value()));
  }

  Result<KnnGraphReport> make_graph(const KnnGraphOptions&) override {
    return Status::unavailable(name() + ": a graph is made beside a store in a file; the server is searched exactly");
  }

  Result<KnnRecords> read_all() override {
    const std::lock_guard lock(shared_->mutex);
    KnnRecords all;
    if (const auto state = read(&all); !state.ok()) return state.status();
    return all;
  }

 private:
  ServerTruth& truth() const { return shared_->truth; }
  const std::string& name() const { return shared_->truth.connection().name(); }

  template <typename Make>
  Status write(const Make& make) {
    const std::lock_guard lock(shared_->mutex);
    if (!writes_) return Status::invalid(name() + ": is open to read only");
    auto change = Change::begin(truth().connection(), "READ WRITE");
    if (!change.ok()) return change.status();
    const auto before = truth().state(true);
    if (!before.ok()) return before.status();
    State after = before.value();
    if (Status status = make(after); !status.ok()) return status;
    after = after_change(before.value(), after);
    if (after == before.value()) return {};
    if (Status status = truth().set_state(after); !status.ok()) return status;
    return change.value()->commit();
  }

  // Every record, checked and held against the state; into `to` where it is given.
  Result<State> read(KnnRecords* to) {
    auto reading = Change::begin(truth().connection(), "READ ONLY");
    if (!reading.ok()) return reading.status();
    const auto state = truth().state(false);
    if (!state.ok()) return state;
    std::int64_t count = 0;
    std::uint64_t digest = 0;
    const Status status = truth().each(0, [&](const Record& record, std::uint32_t sum) {
      ++count, digest += digest_of(sum, record.id);
      if (!to) return Status();
      to->ids.push_back(record.id), to->tokens.push_back(record.token), to->sources.emplace_back(record.source);
      to->keys.insert(to->keys.end(), record.key.begin(), record.key.end());
      return Status();
    });
    if (!status.ok()) return status;
    if (count == state.value().count && digest == state.value().digest) return state;
    return Status::invalid(name() + ": holds other records than were acknowledged; restore the store from a copy or an export");
  }

  Result<KnnStats> sizes(const State& state) {
    const auto rows = truth().connection().run("SELECT pg_total_relation_size('" + truth().table() + "'::regclass)");
    if (!rows.ok()) return rows.status();
    return KnnStats{.records = state.count, .generation = state.generation, .next_id = state.next_id, .truth_bytes = rows.value().integer(0, 0),
                    .scan = "on the server"};
  }

  std::shared_ptr<Shared> shared_;
  bool writes_;
};

Status make_tables(Connection& connection) {
  const std::string own = "(domain = current_setting('linearmem.domain', true))";
  return run_all(connection, {
      "CREATE EXTENSION IF NOT EXISTS vector",
      "CREATE SCHEMA IF NOT EXISTS linearmem",
      "CREATE TABLE IF NOT EXISTS linearmem.stores (domain text PRIMARY KEY, format bigint NOT NULL, model text NOT NULL, model_version text NOT NULL, tokenizer text NOT NULL,"
      " dimension bigint NOT NULL, metric text NOT NULL, checksum bigint NOT NULL, generation bigint NOT NULL, rewritten bigint NOT NULL, count bigint NOT NULL,"
      " next_id bigint NOT NULL, digest bigint NOT NULL, state_checksum bigint NOT NULL)",
      "CREATE TABLE IF NOT EXISTS linearmem.records (domain text NOT NULL, id bigint NOT NULL, token bigint NOT NULL, source text NOT NULL, key vector NOT NULL,"
      " checksum bigint NOT NULL, PRIMARY KEY (domain, id)) PARTITION BY LIST (domain)",
      "ALTER TABLE linearmem.records ENABLE ROW LEVEL SECURITY",
      "ALTER TABLE linearmem.records FORCE ROW LEVEL SECURITY",
      "DROP POLICY IF EXISTS own_domain ON linearmem.records",
      "CREATE POLICY own_domain ON linearmem.records USING " + own + " WITH CHECK " + own,
      "DROP POLICY IF EXISTS own_domain ON linearmem.stores",
      "ALTER TABLE linearmem.stores ENABLE ROW LEVEL SECURITY",
      "ALTER TABLE linearmem.stores FORCE ROW LEVEL SECURITY",
      "CREATE POLICY own_domain ON linearmem.stores USING " + own + " WITH CHECK " + own,
  });
}

Status make_partition(Connection& connection, const std::string& domain) {
  const std::string table = partition_of(domain), own = "(domain = current_setting('linearmem.domain', true))";
  return run_all(connection, {"CREATE TABLE " + table + " PARTITION OF linearmem.records FOR VALUES IN (" + connection.literal(domain) + ")",
                              "ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY", "ALTER TABLE " + table + " FORCE ROW LEVEL SECURITY",
                              "CREATE POLICY own_domain ON " + table + " USING " + own + " WITH CHECK " + own});
}

Result<std::unique_ptr<Connection>> session_of(const std::string& address, const std::string& domain) {
  auto connection = Connection::open(address, name_of(domain));
  if (!connection.ok()) return connection;
  if (const auto set = connection.value()->run("SELECT set_config('linearmem.domain', $1, false)", {domain}); !set.ok()) return set.status();
  return connection;
}

}  // namespace

Status create_on_server(const std::string& address, const KnnIdentity& identity) {
  if (Status status = check_identity(name_of(identity.domain), identity); !status.ok()) return status;
  auto connection = session_of(address, identity.domain);
  if (!connection.ok()) return connection.status();
  Connection& session = *connection.value();
  auto change = Change::begin(session, "READ WRITE");
  if (!change.ok()) return change.status();
  if (Status status = make_tables(session); !status.ok()) return status;
  const auto there = session.run("SELECT 1 FROM linearmem.stores WHERE domain = $1", {identity.domain});
  if (!there.ok()) return there.status();
  if (there.value().count() > 0) return Status::invalid(session.name() + ": cannot create it: it exists");
  if (Status status = make_partition(session, identity.domain); !status.ok()) return status;
  const std::uint32_t salt = identity_checksum(identity);
  const auto row = session.run("INSERT INTO linearmem.stores VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 0, 0, 0, $9)",
                               {identity.domain, std::to_string(kFormat), identity.model, identity.model_version, identity.tokenizer, std::to_string(identity.dimension),
                                std::string(metric_name(identity.metric)), std::to_string(salt), std::to_string(state_checksum(salt, {}))});
  if (!row.ok()) return row.status();
  return change.value()->commit();
}

Result<std::unique_ptr<KnnStore>> open_on_server(const std::string& address, const KnnExpectation& expected, KnnAccess access) {
  if (!expected.domain) return Status::invalid("a store on a server: the domain is not said; the server holds many");
  auto connection = session_of(address, *expected.domain);
  if (!connection.ok()) return connection.status();
  Connection& session = *connection.value();
  const auto row = session.run("SELECT format, model, model_version, tokenizer, dimension, metric, checksum FROM linearmem.stores WHERE domain = $1", {*expected.domain});
  if (!row.ok()) return row.status();
  if (row.value().count() != 1) return Status::invalid(session.name() + ": there is no store; knn create makes one");
  const Rows& is = row.value();
  if (is.integer(0, 0) != kFormat)
    return Status::invalid(session.name() + ": format version differs: the store has " + is.text(0, 0) + ", this program reads " + std::to_string(kFormat));
  const auto metric = metric_named(is.text(0, 5));
  const KnnIdentity identity{.model = is.text(0, 1), .model_version = is.text(0, 2), .tokenizer = is.text(0, 3), .dimension = is.integer(0, 4),
                             .metric = metric.value_or(Metric::squared_l2), .domain = *expected.domain};
  if (!metric || is.integer(0, 6) != std::int64_t{identity_checksum(identity)})
    return Status::invalid(session.name() + ": the identity is damaged; restore the store from a copy or an export");
  if (Status status = check_expectation(session.name(), identity, expected); !status.ok()) return status;
  if (access == KnnAccess::write) {
    const auto lock = session.run("SELECT pg_try_advisory_lock(hashtext('linearmem ' || $1))::int", {*expected.domain});
    if (!lock.ok()) return lock.status();
    if (lock.value().integer(0, 0) != 1) return Status::invalid(session.name() + ": is being written by another; a store has one writer at a time");
  }
  auto shared = std::shared_ptr<Shared>(new Shared{{}, ServerTruth(std::move(connection).value(), identity)});
  return std::unique_ptr<KnnStore>(std::make_unique<ServerStore>(std::move(shared), access == KnnAccess::write));
}

}  // namespace linearmem::store

#endif

namespace linearmem::store {

bool names_server(const std::string& path) { return path.starts_with("postgresql://") || path.starts_with("postgres://"); }

}  // namespace linearmem::store
