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

#include <algorithm>

#include "server_snapshot.hpp"

namespace linearmem::store {
namespace {

std::string name_of(const std::string& domain) { return "domain \"" + domain + "\" on the server"; }

Status run_all(Connection& connection, const std::vector<std::string>& statements) {
  for (const std::string& sql : statements)
    if (const auto rows = connection.run(sql); !rows.ok()) return rows.status();
  return {};
}

class ServerStore final : public KnnStore {
 public:
  ServerStore(std::shared_ptr<ServerSession> shared, bool writes) : session_(std::move(shared)), writes_(writes) {}
  ~ServerStore() override {
    if (writes_)
      static_cast<void>(truth().connection().run("SELECT pg_advisory_unlock(hashtext('linearmem ' || $1))", {identity().domain}));
  }

  const KnnIdentity& identity() const override { return session_->truth.identity(); }

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
    if (Status status = check_filter(name(), filter); !status.ok()) return status;
    std::int64_t removed = 0;
    const Status status = write([&](State& state) -> Status {
      const auto ids = ids_that_meet(filter, truth());
      if (!ids.ok()) return ids.status();
      removed = static_cast<std::int64_t>(ids.value().size());
      return truth().erase(ids.value(), state).status();
    });
    if (!status.ok()) return status;
    return removed;
  }

  // Writes the partition anew. What the server keeps in its own log goes when it recycles that.
  Status compact() override {
    const std::lock_guard lock(session_->mutex);
    if (!writes_) return Status::invalid(name() + ": is open to read only");
    return truth().connection().run("VACUUM FULL " + truth().table()).status();
  }

  Result<KnnStats> stats() override {
    const std::lock_guard lock(session_->mutex);
    const auto state = truth().state(false);
    if (!state.ok()) return state.status();
    return sizes(state.value());
  }

  Result<KnnStats> verify() override {
    const std::lock_guard lock(session_->mutex);
    const auto all = read(nullptr);
    if (!all.ok()) return all.status();
    return sizes(all.value());
  }

  Result<std::shared_ptr<const KnnSnapshot>> snapshot(KnnSearchBy by) override {
    const std::lock_guard lock(session_->mutex);
    if (by == KnnSearchBy::graph)
      return Status::unavailable(name() + ": a graph is made beside a store in a file; the server is searched exactly");
    const auto state = truth().state(false);
    if (!state.ok()) return state.status();
    return server_snapshot(session_, state.value());
  }

  Result<KnnGraphReport> make_graph(const KnnGraphOptions&) override {
    return Status::unavailable(name() + ": a graph is made beside a store in a file; the server is searched exactly");
  }

  Result<KnnRecords> read_all() override {
    const std::lock_guard lock(session_->mutex);
    KnnRecords all;
    if (const auto state = read(&all); !state.ok()) return state.status();
    return all;
  }

 private:
  ServerTruth& truth() const { return session_->truth; }
  const std::string& name() const { return session_->truth.connection().name(); }

  template <typename Make>
  Status write(const Make& make) {
    const std::lock_guard lock(session_->mutex);
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
    return KnnStats{.records = state.count,
                    .generation = state.generation,
                    .next_id = state.next_id,
                    .truth_bytes = rows.value().integer(0, 0),
                    .scan = "on the server"};
  }

  std::shared_ptr<ServerSession> session_;
  bool writes_;
};

Status make_tables(Connection& connection) {
  const std::string own = "(domain = current_setting('linearmem.domain', true))";
  return run_all(connection, {
                                 "CREATE EXTENSION IF NOT EXISTS vector",
                                 "CREATE SCHEMA IF NOT EXISTS linearmem",
                                 "CREATE TABLE IF NOT EXISTS linearmem.stores (domain text PRIMARY KEY, format bigint NOT NULL, model text "
                                 "NOT NULL, model_version text NOT NULL, tokenizer text NOT NULL,"
                                 " dimension bigint NOT NULL, metric text NOT NULL, checksum bigint NOT NULL, generation bigint NOT NULL, "
                                 "rewritten bigint NOT NULL, count bigint NOT NULL,"
                                 " next_id bigint NOT NULL, digest bigint NOT NULL, state_checksum bigint NOT NULL)",
                                 "CREATE TABLE IF NOT EXISTS linearmem.records (domain text NOT NULL, id bigint NOT NULL, token bigint NOT "
                                 "NULL, source text NOT NULL, key vector NOT NULL,"
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
  return run_all(connection,
                 {"CREATE TABLE " + table + " PARTITION OF linearmem.records FOR VALUES IN (" + connection.literal(domain) + ")",
                  "ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY", "ALTER TABLE " + table + " FORCE ROW LEVEL SECURITY",
                  "CREATE POLICY own_domain ON " + table + " USING " + own + " WITH CHECK " + own});
}

Result<std::unique_ptr<Connection>> session_of(const std::string& address, const std::string& domain) {
  auto connection = Connection::open(address, name_of(domain));
  if (!connection.ok()) return connection;
  if (const auto set = connection.value()->run("SELECT set_config('linearmem.domain', $1, false)", {domain}); !set.ok())
    return set.status();
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
                               {identity.domain, std::to_string(kFormat), identity.model, identity.model_version, identity.tokenizer,
                                std::to_string(identity.dimension), std::string(metric_name(identity.metric)), std::to_string(salt),
                                std::to_string(state_checksum(salt, {}))});
  if (!row.ok()) return row.status();
  return change.value()->commit();
}

Result<std::unique_ptr<KnnStore>> open_on_server(const std::string& address, const KnnExpectation& expected, KnnAccess access) {
  if (!expected.domain) return Status::invalid("a store on a server: the domain is not said; the server holds many");
  auto connection = session_of(address, *expected.domain);
  if (!connection.ok()) return connection.status();
  Connection& session = *connection.value();
  const auto row =
      session.run("SELECT format, model, model_version, tokenizer, dimension, metric, checksum FROM linearmem.stores WHERE domain = $1",
                  {*expected.domain});
  if (!row.ok()) return row.status();
  if (row.value().count() != 1) return Status::invalid(session.name() + ": there is no store; knn create makes one");
  const Rows& is = row.value();
  if (is.integer(0, 0) != kFormat)
    return Status::invalid(session.name() + ": format version differs: the store has " + is.text(0, 0) + ", this program reads " +
                           std::to_string(kFormat));
  const auto metric = metric_named(is.text(0, 5));
  const KnnIdentity identity{.model = is.text(0, 1),
                             .model_version = is.text(0, 2),
                             .tokenizer = is.text(0, 3),
                             .dimension = is.integer(0, 4),
                             .metric = metric.value_or(Metric::squared_l2),
                             .domain = *expected.domain};
  if (!metric || is.integer(0, 6) != std::int64_t{identity_checksum(identity)})
    return Status::invalid(session.name() + ": the identity is damaged; restore the store from a copy or an export");
  if (Status status = check_expectation(session.name(), identity, expected); !status.ok()) return status;
  if (access == KnnAccess::write) {
    const auto lock = session.run("SELECT pg_try_advisory_lock(hashtext('linearmem ' || $1))::int", {*expected.domain});
    if (!lock.ok()) return lock.status();
    if (lock.value().integer(0, 0) != 1)
      return Status::invalid(session.name() + ": is being written by another; a store has one writer at a time");
  }
  auto shared = std::shared_ptr<ServerSession>(new ServerSession{{}, ServerTruth(std::move(connection).value(), identity)});
  return std::unique_ptr<KnnStore>(std::make_unique<ServerStore>(std::move(shared), access == KnnAccess::write));
}

}  // namespace linearmem::store

#endif

namespace linearmem::store {

bool names_server(const std::string& path) { return path.starts_with("postgresql://") || path.starts_with("postgres://"); }

}  // namespace linearmem::store
