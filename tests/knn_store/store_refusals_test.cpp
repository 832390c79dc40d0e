// What a store refuses, and in which words.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <limits>

#include "knn_store/stores.hpp"

namespace linearmem {
namespace {

using test::Folder;
using test::identity_of;
using test::made;
using test::opened;
using test::records_from;

TEST(KnnStoreRefusals, EveryFieldOfTheIdentityIsCheckedByName) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  made(path);
  const auto message = [&](const KnnExpectation& expected) {
    return KnnStore::open(path, expected, KnnAccess::read).status().message().substr(path.size());
  };
  EXPECT_EQ(message({.model = "other"}), ": model differs: the store has \"ngram\", \"other\" is expected");
  EXPECT_EQ(message({.model_version = "2"}), ": model_version differs: the store has \"1\", \"2\" is expected");
  EXPECT_EQ(message({.tokenizer = "bytes"}), ": tokenizer differs: the store has \"words\", \"bytes\" is expected");
  EXPECT_EQ(message({.dimension = 4}), ": dimension differs: the store has 3, 4 is expected");
  EXPECT_EQ(message({.metric = Metric::inner_product}), ": metric differs: the store has squared-l2, inner-product is expected");
  EXPECT_EQ(message({.domain = "mail"}), ": domain differs: the store has \"notes\", \"mail\" is expected");
}

TEST(KnnStoreRefusals, WhatCannotBeARecordIsNamed) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const auto store = made(path);
  const auto message = [&](const KnnRecords& records) { return store->append(records).status().message().substr(path.size()); };
  EXPECT_EQ(message({.tokens = {1, 2}, .keys = {1, 2, 3, 4, 5, std::nanf("")}}), ": keys[1,2] is not finite");
  EXPECT_EQ(message({.tokens = {1}, .keys = {1, 2, HUGE_VALF}}), ": keys[0,2] is not finite");
  EXPECT_EQ(message({.tokens = {1, 2}, .keys = {1, 2, 3, 4}}), ": dimension differs: the store has 3, keys have 2");
  EXPECT_EQ(message({.tokens = {1, 2}, .keys = {1, 2, 3}}), ": there are 2 tokens, but 3 numbers of keys; 3 make a key");
  EXPECT_EQ(message({.tokens = {-1}, .keys = {1, 2, 3}}), ": tokens[0] is -1, must be at least 0");
  EXPECT_EQ(message({.tokens = {1}, .sources = {"a", "b"}, .keys = {1, 2, 3}}), ": there are 1 tokens, but 2 sources");
  EXPECT_EQ(store->upsert({.tokens = {1}, .keys = {1, 2, 3}}).status().message().substr(path.size()), ": there are 1 tokens, but 0 ids");
  EXPECT_EQ(store->stats().value().generation, 0);
}

TEST(KnnStoreRefusals, OneWriterAtATime) {
  const Folder folder;
  const std::string path = folder / "notes.knn";
  const auto first = made(path);
  ASSERT_TRUE(first->append(records_from(0, 3)).ok());
  const auto second = KnnStore::open(path, {}, KnnAccess::write);
  EXPECT_EQ(second.status().message(),
            path + ": is being written by another, process " + std::to_string(::getpid()) + "; a store has one writer at a time");
  const auto reader = opened(path, KnnAccess::read);
  EXPECT_EQ(reader->append(records_from(0, 1)).status().message(), path + ": is open to read only");
  EXPECT_EQ(reader->snapshot().value()->count(), 3);
}

TEST(KnnStoreRefusals, OtherFilesAndMissingOnes) {
  const Folder folder;
  EXPECT_EQ(KnnStore::open(folder / "none.knn", {}, KnnAccess::read).status().message(),
            (folder / "none.knn").string() + ": there is no store; knn create makes one");
  test::write_file(folder / "text.knn", "This is some text, and long enough not to be taken for an empty database of any kind.");
  EXPECT_FALSE(KnnStore::open(folder / "text.knn", {}, KnnAccess::read).ok());
  test::write_file(folder / "empty.knn", "");
  EXPECT_EQ(KnnStore::open(folder / "empty.knn", {}, KnnAccess::read).status().message(),
            (folder / "empty.knn").string() + ": is no kNN store");
  made(folder / "notes.knn");
  EXPECT_NE(KnnStore::create(folder / "notes.knn", identity_of()).message().find("File exists"), std::string::npos);
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"empty.knn", "notes.knn", "notes.knn.mark", "text.knn"}));
  KnnIdentity empty = identity_of();
  empty.model = "";
  EXPECT_NE(KnnStore::create(folder / "new.knn", empty).message().find("model is empty"), std::string::npos);
}

}  // namespace
}  // namespace linearmem
