// The store on a server, against PostgreSQL with pgvector (postgres/run.mjs starts one and says where in LINEARMEM_POSTGRES): the same
// answers as the store in a file, a domain of its own, and damage found.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/support.hpp"
#include "knn_store/stores.hpp"
#include "postgres.hpp"

namespace linearmem {
namespace {

#ifdef LINEARMEM_POSTGRES

using test::Folder;
using test::held_by;
using test::identity_of;
using test::records_from;
using test::records_with_ids;

class KnnServer : public testing::Test {
 protected:
  void SetUp() override {
    const char* address = std::getenv("LINEARMEM_POSTGRES");
    if (!address) GTEST_SKIP() << "LINEARMEM_POSTGRES names no server";
    address_ = address;
    auto session = store::Connection::open(address_, "test");
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_ = std::move(session).value();
    sql("DROP SCHEMA IF EXISTS linearmem CASCADE");
  }

  store::Rows sql(const std::string& text) const {
    auto rows = session_->run(text);
    EXPECT_TRUE(rows.ok()) << rows.status().message();
    return rows.value();
  }

  std::unique_ptr<KnnStore> open(const char* domain = "notes", KnnAccess access = KnnAccess::write) const {
    auto store = KnnStore::open(address_, expect_all(identity_of(domain)), access);
    EXPECT_TRUE(store.ok()) << store.status().message();
    return store.ok() ? std::move(store).value() : nullptr;
  }

  std::unique_ptr<KnnStore> made(const char* domain = "notes") const {
    const Status status = KnnStore::create(address_, identity_of(domain));
    EXPECT_TRUE(status.ok()) << status.message();
    return open(domain);
  }

  std::string address_;
  std::unique_ptr<store::Connection> session_;
};

// One run of changes and searches on both backends.
TEST_F(KnnServer, AnswersAsTheStoreInAFileDoes) {
  const Folder folder;
  const auto file = test::made(folder / "notes.knn"), server = made();
  ASSERT_TRUE(server);
  KnnRecords same;  // ties, and text that wants quoting
  for (int i = 0; i < 4; ++i)
    same.tokens.push_back(40000 + i), same.sources.push_back("a \"b\" \\ {c}, 'd'"), same.keys.insert(same.keys.end(), {7.1f, 8.1f, 9.1f});
  test::Numbers numbers(3);
  std::vector<float> queries;
  for (int i = 0; i < 30; ++i) queries.push_back(static_cast<float>(numbers.uniform(0, 60)));
  for (KnnStore* store : {file.get(), server.get()}) {
    EXPECT_EQ(store->append(records_from(0, 60)).value().back(), 59);
    EXPECT_EQ(store->append(same).value().front(), 60);
    EXPECT_EQ(store->upsert(records_with_ids({3, 90, 3}, 1)).value().replaced, 2);
    EXPECT_EQ(store->remove(std::vector<std::int64_t>{5, 77}).value().unknown, (std::vector<std::int64_t>{77}));
    EXPECT_EQ(store->remove_where({.source = "document 2"}).value(), 10);
    const auto verified = store->verify();
    EXPECT_TRUE(verified.ok()) << verified.status().message();
    EXPECT_EQ(verified.value().records, 54);
    EXPECT_EQ(verified.value().generation, 5);
  }
  EXPECT_EQ(held_by(server->read_all().value()), held_by(file->read_all().value()));
  for (std::int64_t k : {1, 3, 9, 54}) {
    const KnnQuery query{.queries = View<const float, 2>(queries.data(), {10, 3}), .k = k};
    const auto here = file->snapshot().value()->search(query), there = server->snapshot().value()->search(query);
    ASSERT_TRUE(here.ok() && there.ok()) << there.status().message();
    EXPECT_EQ(there.value().ids.values(), here.value().ids.values()) << k;
    EXPECT_EQ(there.value().tokens.values(), here.value().tokens.values());
    EXPECT_EQ(there.value().distances.values(), here.value().distances.values());
  }
  EXPECT_TRUE(server->compact().ok());
  EXPECT_TRUE(server->verify().ok());
}

TEST_F(KnnServer, ADomainSeesItsOwnRowsAloneWhateverIsAsked) {
  ASSERT_TRUE(made("foreign")->append(records_from(0, 5000)).ok());
  const auto own = made("own");
  ASSERT_TRUE(own->append(records_from(9000, 10)).ok());
  const std::vector<float> query = {3, 4, 5};
  const auto found = own->snapshot().value()->search({.queries = View<const float, 2>(query.data(), {1, 3}), .k = 5});
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found.value().ids.values(), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(own->read_all().value().tokens[0], 9000 % 7);
  // A statement without a word on domains, by one who is no superuser: only the domain of the session.
  sql("DROP ROLE IF EXISTS reader");
  sql("CREATE ROLE reader");
  sql("GRANT USAGE ON SCHEMA linearmem TO reader");
  sql("GRANT SELECT ON ALL TABLES IN SCHEMA linearmem TO reader");
  sql("SELECT set_config('linearmem.domain', 'own', false)");
  sql("SET ROLE reader");
  EXPECT_EQ(sql("SELECT count(*) FROM linearmem.records").integer(0, 0), 10);
  EXPECT_EQ(sql("SELECT count(*) FROM linearmem.stores").integer(0, 0), 1);
  sql("SELECT set_config('linearmem.domain', 'none', false)");
  EXPECT_EQ(sql("SELECT count(*) FROM linearmem.records").integer(0, 0), 0);
  sql("RESET ROLE");
}

TEST_F(KnnServer, RefusesByName) {
  const auto message = [&](const KnnExpectation& expected) {
    return KnnStore::open(address_, expected, KnnAccess::read).status().message();
  };
  made();
  EXPECT_EQ(message({.domain = "mail"}), "domain \"mail\" on the server: there is no store; knn create makes one");
  EXPECT_EQ(message({.dimension = 4, .domain = "notes"}),
            "domain \"notes\" on the server: dimension differs: the store has 3, 4 is expected");
  EXPECT_EQ(message({}), "a store on a server: the domain is not said; the server holds many");
  EXPECT_EQ(KnnStore::create(address_, identity_of()).message(), "domain \"notes\" on the server: cannot create it: it exists");
  const auto store = open();
  EXPECT_EQ(store->append({.tokens = {1}, .keys = {1, 2}}).status().message(),
            "domain \"notes\" on the server: dimension differs: the store has 3, keys have 2");
  EXPECT_EQ(store->make_graph().status().code(), StatusCode::unavailable);
  EXPECT_EQ(KnnStore::open("postgresql://postgres@127.0.0.1:1/postgres", {.domain = "notes"}, KnnAccess::read).status().code(),
            StatusCode::unavailable);
}

TEST_F(KnnServer, RowsThatWereChangedBehindItsBackAreFound) {
  const auto store = made();
  ASSERT_TRUE(store->append(records_from(0, 20)).ok());
  const auto snapshot = store->snapshot().value();
  sql("SELECT set_config('linearmem.domain', 'notes', false)");
  sql("UPDATE linearmem.records SET token = token + 1 WHERE id = 4");
  EXPECT_EQ(store->verify().status().message(),
            "domain \"notes\" on the server: record 4 is damaged; restore the store from a copy or an export");
  const std::vector<float> query = {4, 5, 6};
  EXPECT_FALSE(snapshot->search({.queries = View<const float, 2>(query.data(), {1, 3}), .k = 2}).ok());
  sql("UPDATE linearmem.records SET token = token - 1 WHERE id = 4");
  EXPECT_TRUE(store->verify().ok());
  sql("DELETE FROM linearmem.records WHERE id = 7");
  EXPECT_EQ(store->verify().status().message(),
            "domain \"notes\" on the server: holds other records than were acknowledged; restore the store from a copy or an export");
}

TEST_F(KnnServer, AChangeEndsASnapshot) {
  const auto store = made();
  ASSERT_TRUE(store->append(records_from(0, 5)).ok());
  const auto snapshot = store->snapshot().value();
  ASSERT_TRUE(store->append(records_from(5, 5)).ok());
  const std::vector<float> query = {4, 5, 6};
  EXPECT_EQ(snapshot->search({.queries = View<const float, 2>(query.data(), {1, 3}), .k = 2}).status().message(),
            "domain \"notes\" on the server: generation 1 is gone; take a snapshot of now");
}

#else

TEST(KnnServer, IsSaidToBeMissingWhereItWasNotBuilt) {
  EXPECT_EQ(KnnStore::create("postgresql://localhost/x", test::identity_of()).message(),
            "a store on a server: this program was built without libpq (Debian package libpq-dev)");
}

#endif

}  // namespace
}  // namespace linearmem
