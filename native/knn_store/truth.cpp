#include "truth.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace linearmem::store {
namespace {

static_assert(std::endian::native == std::endian::little, "keys and checksums are kept in little-endian order");

constexpr std::int64_t kApplication = 0x4c4d4b4e;  // "LMKN" in the header of the file

constexpr const char* kSchema[] = {
    "CREATE TABLE identity(one INTEGER PRIMARY KEY CHECK(one = 1), format INTEGER NOT NULL, model TEXT NOT NULL, model_version TEXT NOT "
    "NULL,"
    " tokenizer TEXT NOT NULL, dimension INTEGER NOT NULL, metric TEXT NOT NULL, domain TEXT NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE state(one INTEGER PRIMARY KEY CHECK(one = 1), generation INTEGER NOT NULL, rewritten INTEGER NOT NULL, count INTEGER NOT "
    "NULL,"
    " next_id INTEGER NOT NULL, digest INTEGER NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE records(id INTEGER PRIMARY KEY, token INTEGER NOT NULL, source TEXT NOT NULL, key BLOB NOT NULL, checksum INTEGER NOT "
    "NULL)",
};

Status system_failure(const std::string& path, const char* action) {
  return Status::invalid(path + ": cannot " + action + ": " + std::strerror(errno));
}

Status run_all(Database& database, std::initializer_list<const char*> statements) {
  for (const char* sql : statements)
    if (Status status = database.run(sql); !status.ok()) return status;
  return {};
}

Status fill_new(Database& database, const KnnIdentity& identity) {
  auto transaction = Transaction::begin(database, true);
  if (!transaction.ok()) return transaction.status();
  for (const char* sql : kSchema)
    if (Status status = database.run(sql); !status.ok()) return status;
  auto row = database.prepare("INSERT INTO identity VALUES(1, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!row.ok()) return row.status();
  row.value()
      .bind(1, kFormat)
      .bind(2, identity.model)
      .bind(3, identity.model_version)
      .bind(4, identity.tokenizer)
      .bind(5, identity.dimension);
  row.value().bind(6, metric_name(identity.metric)).bind(7, identity.domain).bind(8, std::int64_t{identity_checksum(identity)});
  if (const auto done = row.value().step(); !done.ok()) return done.status();
  row.value().reset();
  if (Status status = run_all(database, {"INSERT INTO state VALUES(1, 0, 0, 0, 0, 0, 0)"}); !status.ok()) return status;
  return transaction.value().commit();
}

// The folder's entry of a new file becomes durable with the folder.
void sync_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); descriptor >= 0) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
}

}  // namespace

Status Truth::damaged(const std::string& what) const {
  return Status::invalid(path() + ": " + what + " is damaged; restore the store from a copy or an export");
}

Status place_new(const std::string& finished, const std::string& path) {
  for (const char* end : {"-wal", "-journal"})
    if (::access((path + end).c_str(), F_OK) == 0)
      return Status::invalid(path + end + ": is left of another store, whose changes would be taken for this one's; remove it first");
  if (::link(finished.c_str(), path.c_str()) != 0) return system_failure(path, "create it");
  for (const char* end : {"-shm", ".scan", ".graph", ".mark"}) ::unlink((path + end).c_str());
  sync_folder(path);
  return {};
}

// Made whole under another name and then linked, so that no half-made store is ever found, and none is overwritten.
Status Truth::create(const std::string& path, const KnnIdentity& identity, const TruthOptions& options) {
  if (Status status = check_identity(path, identity); !status.ok()) return status;
  const std::string temporary = path + "." + std::to_string(::getpid()) + ".part";
  const auto make = [&]() -> Status {
    auto database = Database::open(temporary, {.vfs = options.vfs, .create = true});
    if (!database.ok()) return database.status();
    const std::string application = "PRAGMA application_id=" + std::to_string(kApplication);
    if (Status status = run_all(*database.value(), {"PRAGMA synchronous=FULL", application.c_str()}); !status.ok()) return status;
    if (Status status = fill_new(*database.value(), identity); !status.ok()) return status;
    {
      Truth truth(std::move(database).value());
      if (Status status = truth.read_identity(); !status.ok()) return status;
      if (Status status = truth.set_state({}); !status.ok()) return status;
      if (Status status = truth.database().run("PRAGMA journal_mode=WAL"); !status.ok()) return status;
    }
    return place_new(temporary, path);
  };
  const Status made = make();
  for (const char* end : {"", "-wal", "-shm", "-journal"}) ::unlink((temporary + end).c_str());
  return made;
}

Result<std::unique_ptr<Truth>> Truth::open(const std::string& path, const TruthOptions& options) {
  auto database = Database::open(path, {.vfs = options.vfs});
  if (!database.ok()) return database.status();
  std::unique_ptr<Truth> truth(new Truth(std::move(database).value()));
  const auto application = truth->database().number("PRAGMA application_id");
  if (!application.ok()) return application.status();
  if (application.value() != kApplication) return Status::invalid(path + ": is no kNN store");
  const std::string fold = "PRAGMA wal_autocheckpoint=" + std::to_string(options.log_pages);
  if (Status status = truth->database().run(fold); !status.ok()) return status;
  if (Status status = truth->database().run(options.synced ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"); !status.ok())
    return status;
  if (Status status = truth->read_identity(); !status.ok()) return status;
  if (const auto state = truth->state(); !state.ok()) return state.status();
  return truth;
}

Status Truth::read_identity() {
  auto row = database_->prepare("SELECT format, model, model_version, tokenizer, dimension, metric, domain, checksum FROM identity");
  if (!row.ok()) return row.status();
  const auto found = row.value().step();
  if (!found.ok()) return found.status();
  if (!found.value()) return damaged("the identity");
  const Statement& is = row.value();
  if (is.integer(0) != kFormat)
    return Status::invalid(path() + ": format version differs: the store has " + std::to_string(is.integer(0)) + ", this program reads " +
                           std::to_string(kFormat));
  const auto metric = metric_named(is.text(5));
  if (!metric) return damaged("the identity");
  identity_ = {.model = std::string(is.text(1)),
               .model_version = std::string(is.text(2)),
               .tokenizer = std::string(is.text(3)),
               .dimension = is.integer(4),
               .metric = *metric,
               .domain = std::string(is.text(6))};
  salt_ = identity_checksum(identity_);
  if (is.integer(7) != std::int64_t{salt_}) return damaged("the identity");
  return check_identity(path(), identity_);
}

Result<State> Truth::state() {
  auto row = database_->prepare("SELECT generation, rewritten, count, next_id, digest, checksum FROM state");
  if (!row.ok()) return row.status();
  const auto found = row.value().step();
  if (!found.ok()) return found.status();
  if (!found.value()) return damaged("the count of records");
  const Statement& is = row.value();
  const State state{.generation = is.integer(0),
                    .rewritten = is.integer(1),
                    .count = is.integer(2),
                    .next_id = is.integer(3),
                    .digest = static_cast<std::uint64_t>(is.integer(4))};
  if (is.integer(5) != std::int64_t{state_checksum(salt_, state)}) return damaged("the count of records");
  return state;
}

Status Truth::set_state(const State& state) {
  auto row = database_->prepare("UPDATE state SET generation = ?, rewritten = ?, count = ?, next_id = ?, digest = ?, checksum = ?");
  if (!row.ok()) return row.status();
  row.value().bind(1, state.generation).bind(2, state.rewritten).bind(3, state.count).bind(4, state.next_id);
  row.value().bind(5, static_cast<std::int64_t>(state.digest)).bind(6, std::int64_t{state_checksum(salt_, state)});
  if (const auto done = row.value().step(); !done.ok()) return done.status();
  return database_->changes() == 1 ? Status() : damaged("the count of records");
}

// id, token, source, key, checksum.
Result<std::uint32_t> Truth::checked_row(const Statement& row, Record& record) const {
  const std::span<const std::byte> key = row.bytes(3);
  const bool shaped = row.is_integer(0) && row.is_integer(1) && row.is_integer(4) &&
                      key.size() == static_cast<std::size_t>(identity_.dimension) * sizeof(float);
  record = {.id = row.integer(0), .token = row.integer(1), .source = row.text(2), .key = {}};
  if (!shaped) return damaged("record " + std::to_string(record.id));
  record.key = {reinterpret_cast<const float*>(key.data()), static_cast<std::size_t>(identity_.dimension)};
  const std::uint32_t sum = record_checksum(salt_, record);
  if (row.integer(4) != std::int64_t{sum}) return damaged("record " + std::to_string(record.id));
  return sum;
}

Result<std::optional<std::uint32_t>> Truth::find(std::int64_t id) {
  if (!find_) {
    auto made = database_->prepare("SELECT id, token, source, key, checksum FROM records WHERE id = ?");
    if (!made.ok()) return made.status();
    find_.emplace(std::move(made).value());
  }
  find_->reset();
  find_->bind(1, id);
  const auto found = find_->step();
  if (!found.ok()) return found.status();
  std::optional<std::uint32_t> answer;
  if (found.value()) {
    Record record;
    const auto sum = checked_row(*find_, record);
    if (!sum.ok()) return sum.status();
    answer = sum.value();
  }
  find_->reset();
  return answer;
}

Status Truth::insert(const Record& record, State& state) {
  if (!insert_) {
    auto made = database_->prepare("INSERT INTO records VALUES(?, ?, ?, ?, ?)");
    if (!made.ok()) return made.status();
    insert_.emplace(std::move(made).value());
  }
  const std::uint32_t sum = record_checksum(salt_, record);
  insert_->bind(1, record.id).bind(2, record.token).bind(3, record.source).bind(4, std::as_bytes(record.key)).bind(5, std::int64_t{sum});
  const auto done = insert_->step();
  insert_->reset();
  if (!done.ok()) return done.status();
  state.digest += digest_of(sum, record.id);
  ++state.count;
  return {};
}

Status Truth::erase(std::int64_t id, std::uint32_t checksum, State& state) {
  if (!erase_) {
    auto made = database_->prepare("DELETE FROM records WHERE id = ?");
    if (!made.ok()) return made.status();
    erase_.emplace(std::move(made).value());
  }
  erase_->bind(1, id);
  const auto done = erase_->step();
  erase_->reset();
  if (!done.ok()) return done.status();
  if (database_->changes() != 1) return damaged("record " + std::to_string(id));
  state.digest -= digest_of(checksum, id);
  --state.count;
  return {};
}

Status Truth::each(std::int64_t from, const std::function<Status(const Record&, std::uint32_t)>& visit) {
  auto rows = database_->prepare("SELECT id, token, source, key, checksum FROM records WHERE id >= ? ORDER BY id");
  if (!rows.ok()) return rows.status();
  rows.value().bind(1, from);
  std::optional<std::int64_t> last;
  for (;;) {
    const auto row = rows.value().step();
    if (!row.ok()) return row.status();
    if (!row.value()) return {};
    Record record;
    const auto sum = checked_row(rows.value(), record);
    if (!sum.ok()) return sum.status();
    if (record.id < from || (last && record.id <= *last)) return damaged("the order of records at " + std::to_string(record.id));
    last = record.id;
    if (Status status = visit(record, sum.value()); !status.ok()) return status;
  }
}

}  // namespace linearmem::store
