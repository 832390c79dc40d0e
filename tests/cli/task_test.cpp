// linearmem task: the registry's batch in a file, its digest on standard output; refusals.
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "linearmem/recall_tasks.hpp"
#include "safetensors.hpp"

namespace linearmem {
namespace {

TEST(Task, TheFileHasTheBatch) {
  const test::Folder folder;
  const std::string file = (folder / "batch.safetensors").string();
  const test::Outcome outcome = test::linearmem({"task", "multi-query-recall", "--set", "rows=3", "--set", "length=40", "--output", file});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto batch = make_recall_task("multi-query-recall", {{"rows", 3}, {"length", 40}});
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(outcome.out, "fnv1a64 " + task_digest(batch.value()) + "\n");
  const auto tensors = read_safetensors(file);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  ASSERT_EQ(tensors.value().size(), 3u);
  EXPECT_EQ(integer_values("tokens", tensors.value().at("tokens")).value(), batch.value().tokens.values());
  EXPECT_EQ(integer_values("labels", tensors.value().at("labels")).value(), batch.value().labels.values());
  EXPECT_EQ(boolean_values("mask", tensors.value().at("mask")).value(), batch.value().mask.values());
  EXPECT_EQ(tensors.value().at("labels").shape, (std::vector<std::int64_t>{3, 40}));
}

TEST(Task, EveryTaskIsWrittenAndAnswersAndVectorsCome) {
  const test::Folder folder;
  for (const RecallTask& task : recall_tasks()) {
    const std::string file = (folder / task.name).string();
    ASSERT_EQ(test::linearmem({"task", task.name, "--output", file}).code, 0) << task.name;
    const auto tensors = read_safetensors(file);
    ASSERT_TRUE(tensors.ok());
    const std::string name = task.name;
    EXPECT_EQ(tensors.value().count("answers"), name == "count" || name == "mean") << name;
    EXPECT_EQ(tensors.value().count("key_vectors"), name == "key-conflict") << name;
  }
}

TEST(Task, ListNamesTasksAndSettings) {
  const test::Outcome outcome = test::linearmem({"task", "--list"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("multi-query-recall\n    k1 v1 .. kN vN 0 q 0 0 q ..\n"), std::string::npos);
  EXPECT_NE(outcome.out.find("    power=0.01  slot s is asked with weight s^(power-1), 0.001 to 1\n"), std::string::npos);
}

TEST(Task, RefusesByName) {
  const test::Folder folder;
  const std::string file = (folder / "x").string();
  EXPECT_EQ(test::refused({"task"}), "task needs a NAME; task --list names them");
  EXPECT_EQ(test::refused({"task", "copy"}), "task needs --output X.safetensors");
  EXPECT_EQ(test::refused({"task", "recall", "--output", file}).rfind("task recall is not one of associative-recall", 0), 0u);
  EXPECT_EQ(test::refused({"task", "associative-recall", "--set", "pairs=100", "--output", file}),
            "associative_recall: pairs is 100, but key_vocabulary is 64");
  EXPECT_EQ(test::refused({"task", "copy", "--set", "span=3", "--output", file}),
            "copy: setting span is not one of rows, symbols, vocabulary, seed");
  EXPECT_EQ(test::refused({"task", "copy", "--set", "rows=many", "--output", file}), "--set rows takes a number, got \"many\"");
  EXPECT_TRUE(folder.files().empty());
}

}  // namespace
}  // namespace linearmem
