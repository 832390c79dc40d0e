// linearmem knn: a store from its making to its export, as a user would go through it; what is refused; the text example.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "linearmem/named_tensors.hpp"
#include "safetensors.hpp"

namespace linearmem {
namespace {

using Words = std::vector<std::string>;

class Knn : public testing::Test {
 protected:
  std::string path(const char* name) const { return folder_ / name; }

  std::string done(const Words& words) const {
    const test::Outcome outcome = test::linearmem(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }

  void create(const char* name = "notes.knn", const char* domain = "notes") const {
    EXPECT_EQ(done({"knn", "create", path(name), "--domain", domain, "--model", "m", "--model-version", "1", "--tokenizer", "t",
                    "--dimension", "2"}),
              "created " + path(name) + "\n");
  }

  // Keys (i, 0), tokens 10 + i.
  void write_records(const char* name, std::int64_t first, std::int64_t n, bool with_ids) const {
    std::vector<float> keys;
    std::vector<std::int64_t> tokens, ids;
    for (std::int64_t i = first; i < first + n; ++i)
      keys.insert(keys.end(), {static_cast<float>(i), 0}), tokens.push_back(10 + i), ids.push_back(i);
    NamedTensors tensors = {{"keys", to_named(keys, {n, 2})}, {"token_ids", to_named(tokens, {n})}};
    if (with_ids) tensors["ids"] = to_named(ids, {n});
    ASSERT_TRUE(write_safetensors(path(name), tensors).ok());
  }

  void fill() const {
    create();
    write_records("five", 0, 5, false);
    EXPECT_EQ(done({"knn", "add", path("notes.knn"), "--domain", "notes", "--input", path("five"), "--source", "first"}),
              "added 5, ids 0 to 4\n");
  }

  nlohmann::json stats(const char* name = "notes.knn") const { return nlohmann::json::parse(done({"knn", "stats", path(name), "--json"})); }

  const test::Folder folder_;
};

TEST_F(Knn, AnOutputDoesNotReplaceTheStore) {
  fill();
  ASSERT_TRUE(write_safetensors(path("query"), {{"query", to_named<float>({0.5f, 0}, {1, 2})}}).ok());
  const std::string said = "--output and PATH are one file, " + path("notes.knn");
  EXPECT_EQ(test::refused({"knn", "query", path("notes.knn"), "--domain", "notes", "--input", path("query"), "--output", path("notes.knn"), "-k", "1"}), said);
  EXPECT_EQ(test::refused({"knn", "export", path("notes.knn"), "--domain", "notes", "--output", path("./notes.knn")}), said);
  EXPECT_EQ(stats()["records"], 5);
}

TEST_F(Knn, WhatWouldChangeNothingIsRefused) {
  fill();
  ASSERT_TRUE(write_safetensors(path("query"), {{"query", to_named<float>({0.5f, 0}, {1, 2})}}).ok());
  const auto with = [&](const Words& more) {
    Words words = {"knn", "query", path("notes.knn"), "--domain", "notes", "--input", path("query"), "--output", path("answer"), "-k", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return test::refused(words);
  };
  EXPECT_EQ(with({"--weight", "0.5"}), "--weight is given, but " + path("query") + " has no model_prob to mix with");
  EXPECT_EQ(with({"--weight", "0.5", "--vocab", "20"}), "--weight is given, but " + path("query") + " has no model_prob to mix with");
  EXPECT_EQ(with({"--temperature", "2"}), "--temperature is given, but without --vocab, and model_prob in " + path("query") + ", there is no distribution");
}

TEST_F(Knn, QueriesFindTheNearestAndMix) {
  fill();
  NamedTensors query = {{"query", to_named<float>({3.2f, 0}, {1, 2})}};
  std::vector<double> model(16, 1.0 / 16);
  query["model_prob"] = to_named(model, {1, 16});
  ASSERT_TRUE(write_safetensors(path("query"), query).ok());
  done({"knn", "query", path("notes.knn"), "--domain", "notes", "--input", path("query"), "--output", path("answer"), "-k", "2", "--weight",
        "0.5"});
  const auto answer = read_safetensors(path("answer"));
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(integer_values("id", answer.value().at("id")).value(), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(integer_values("token", answer.value().at("token")).value(), (std::vector<std::int64_t>{13, 14}));
  const auto prob = floating_values<double>("prob", answer.value().at("prob")).value(),
             weight = floating_values<double>("weight", answer.value().at("weight")).value();
  EXPECT_NEAR(prob[13], 0.5 * weight[0] + 0.5 / 16, 1e-15);
  EXPECT_EQ(
      test::refused({"knn", "query", path("notes.knn"), "--domain", "notes", "--input", path("query"), "--output", path("no"), "-k", "9"}),
      "knn_search: k is 9, but there are 5 records; allow at most k to take them all");
  done({"knn", "query", path("notes.knn"), "--domain", "notes", "--input", path("query"), "--output", path("answer"), "-k", "9",
        "--at-most-k"});
  EXPECT_EQ(read_safetensors(path("answer")).value().at("id").shape, (std::vector<std::int64_t>{1, 5}));
}

TEST_F(Knn, DeletesReplacesAndCompacts) {
  fill();
  EXPECT_EQ(done({"knn", "delete", path("notes.knn"), "--domain", "notes", "--id", "1", "--id", "77"}), "deleted 1\nno record has id 77\n");
  EXPECT_EQ(stats()["generation"], 2);
  write_records("three", 3, 3, true);
  EXPECT_EQ(done({"knn", "add", path("notes.knn"), "--domain", "notes", "--input", path("three"), "--upsert"}), "added 1, replaced 2\n");
  EXPECT_EQ(done({"knn", "delete", path("notes.knn"), "--domain", "notes", "--source", "first"}), "deleted 2\n");
  EXPECT_EQ(done({"knn", "compact", path("notes.knn")}), "compacted\n");
  const nlohmann::json after = nlohmann::json::parse(done({"knn", "verify", path("notes.knn"), "--json"}));
  EXPECT_EQ(after["records"], 3);
  EXPECT_EQ(after["next_id"], 6);
  EXPECT_EQ(test::refused({"knn", "delete", path("notes.knn"), "--domain", "notes"}),
            "knn delete needs either --id, or one or more of --token, --source, --first-id and --last-id");
}

TEST_F(Knn, ExportAndImportKeepEverything) {
  fill();
  done({"knn", "delete", path("notes.knn"), "--domain", "notes", "--id", "2"});
  done({"knn", "export", path("notes.knn"), "--domain", "notes", "--output", path("out")});
  EXPECT_EQ(done({"knn", "import", path("copy.knn"), "--domain", "notes", "--input", path("out")}),
            "imported to " + path("copy.knn") + "\n");
  done({"knn", "export", path("copy.knn"), "--domain", "notes", "--output", path("again")});
  EXPECT_EQ(test::read_file(path("out")), test::read_file(path("again")));
  EXPECT_EQ(test::refused({"knn", "import", path("other.knn"), "--domain", "mail", "--input", path("out")}),
            path("out") + ": domain differs: the store has \"notes\", \"mail\" is expected");
  EXPECT_EQ(test::refused({"knn", "import", path("copy.knn"), "--domain", "notes", "--input", path("out")}),
            path("copy.knn") + ": cannot create it: File exists");
  write_records("plain", 0, 2, true);
  EXPECT_EQ(test::refused({"knn", "import", path("other.knn"), "--domain", "notes", "--input", path("plain")}),
            path("plain") + ": identity is missing");
}

TEST_F(Knn, ServeCheckSaysReadyOrWhyNot) {
  fill();
  EXPECT_NE(done({"knn", "serve-check", path("notes.knn"), "--domain", "notes", "--dimension", "2"}).find("\nready: every byte checked"),
            std::string::npos);
  EXPECT_EQ(stats()["scan"], "fresh");
  EXPECT_EQ(test::refused({"knn", "serve-check", path("notes.knn"), "--domain", "notes", "--model-version", "2"}),
            path("notes.knn") + ": model_version differs: the store has \"1\", \"2\" is expected");
  EXPECT_EQ(test::refused({"knn", "serve-check", path("notes.knn"), "--domain", "mail"}),
            path("notes.knn") + ": domain differs: the store has \"notes\", \"mail\" is expected");
  std::string bytes = test::read_file(path("notes.knn"));
  bytes[bytes.size() - 10] = static_cast<char>(~bytes[bytes.size() - 10]);  // in the first record, which SQLite puts last
  test::write_file(path("notes.knn"), bytes);
  EXPECT_EQ(test::refused({"knn", "serve-check", path("notes.knn"), "--domain", "notes"}),
            path("notes.knn") + ": record 0 is damaged; restore the store from a copy or an export");
}

TEST_F(Knn, RefusesWhatDoesNotFit) {
  create();
  EXPECT_NE(test::refused({"knn", "create", path("notes.knn"), "--domain", "notes", "--model", "m", "--model-version", "1", "--tokenizer",
                           "t", "--dimension", "2"})
                .find("File exists"),
            std::string::npos);
  ASSERT_TRUE(
      write_safetensors(path("wide"), {{"keys", to_named<float>({1, 2, 3}, {1, 3})}, {"token_ids", to_named<std::int64_t>({1}, {1})}})
          .ok());
  EXPECT_EQ(test::refused({"knn", "add", path("notes.knn"), "--domain", "notes", "--input", path("wide")}),
            path("wide") + ": dimension differs: the store has 2, keys have 3");
  EXPECT_EQ(test::refused({"knn", "stats", path("none.knn")}), path("none.knn") + ": there is no store; knn create makes one");
  write_records("ids", 0, 2, true);
  EXPECT_EQ(test::refused({"knn", "add", path("notes.knn"), "--domain", "notes", "--input", path("ids")}),
            path("ids") + ": ids is given; say --upsert to replace by id, or leave it out");
}

// A text that repeats itself is what a memory is good for, and the model of another text has never seen it.
TEST_F(Knn, EvalReportsWhatComesOut) {
  std::string other, text;
  for (int i = 0; i < 40; ++i) other += "it was the best of times, it was the worst of times. ";
  for (int i = 0; i < 60; ++i) text += "a kernel reads rows of keys once; a batch keeps its queries near. " + std::to_string(i % 7) + " ";
  test::write_file(path("other"), other);
  test::write_file(path("text"), text);
  const Words words = {"knn", "eval", "--train", path("other"), "--text", path("text"), "--dimension", "32", "--json"};
  const auto report = nlohmann::json::parse(done(words));
  EXPECT_EQ(report["tried"].size(), 4u * 5 * 10);
  EXPECT_LT(report["with_memory"].get<double>(), report["without_memory"].get<double>() / 3);
  EXPECT_EQ(nlohmann::json::parse(done(words)), report);
  // With weight 0 alone the memory has no say.
  Words none = words;
  none.insert(none.end(), {"--weight", "0"});
  const auto without = nlohmann::json::parse(done(none));
  EXPECT_EQ(without["with_memory"], without["without_memory"]);
  EXPECT_EQ(test::refused({"knn", "eval", "--train", path("missing"), "--text", path("text")}),
            path("missing") + ": cannot read: No such file or directory");
  EXPECT_EQ(test::refused({"knn", "stats", folder_.path()}), folder_.path().string() + ": SQLite: unable to open database file: Is a directory, code 14");
}

}  // namespace
}  // namespace linearmem
