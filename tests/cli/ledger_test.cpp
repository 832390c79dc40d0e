// linearmem ledger: table, JSON and figure from a file or a name; refusals, and that they come quickly.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include <csignal>
#include <string>

#include "cli/command.hpp"
#include "linearmem/ledger.hpp"

namespace linearmem {
namespace {

const std::string kHybrid =
    R"({"model_type":"qwen3_next","hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":16,"num_key_value_heads":2,
"head_dim":256,"time_step_limit":[0.0,Infinity],"rope_scaling":null})";

TEST(LedgerCommand, JsonOfAFileIsTheCoresLedger) {
  const test::Folder folder;
  const std::string file = folder / "config.json";
  test::write_file(file, kHybrid);
  const test::Outcome outcome =
      test::linearmem({"ledger", file, "--context", "1048", "--batch", "4", "--device-memory", "1.5GiB", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  const auto model = read_model_config(kHybrid);
  ASSERT_TRUE(model.ok());
  const auto ledger = memory_ledger(model.value(), {.context = 1048, .batch = 4, .device_bytes = 3ll << 29});
  ASSERT_TRUE(ledger.ok());
  EXPECT_EQ(json["model_type"], "qwen3_next");
  EXPECT_EQ(json["rows"][0]["kind"], "gated-delta-rule");
  EXPECT_EQ(json["rows"][0]["state_bytes"], 2097152);
  EXPECT_EQ(json["rows"][0]["conv_bytes"], 49152);
  EXPECT_EQ(json["rows"][0]["break_even"], 1048);
  EXPECT_EQ(json["rows"][1]["token_bytes"], 2048);
  EXPECT_TRUE(json["rows"][1]["break_even"].is_null());
  EXPECT_EQ(json["batch_bytes"], ledger.value().batch_bytes);
  EXPECT_EQ(json["request_bytes"], ledger.value().full_attention_bytes);  // at the break-even
  EXPECT_EQ(json["requests_fit"], *ledger.value().requests_fit);
  EXPECT_EQ(json["assumed"].size(), model.value().assumed.size());
  EXPECT_EQ(json["not_counted"].size(), ledger_not_counted().size());
}

TEST(LedgerCommand, OptionsReachTheLedger) {
  const auto json = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"ledger", "--model", "Qwen3-Next-80B-A3B", "--json"});
    return nlohmann::json::parse(test::linearmem(words).out);
  };
  EXPECT_EQ(json({"--conv-columns", "W"})["break_even"], 1056);
  EXPECT_EQ(json({"--conv-columns", "none"})["break_even"], 1024);
  EXPECT_EQ(json({"--state-dtype", "bf16"})["rows"][0]["state_bytes"], 1048576);
  EXPECT_EQ(json({"--kv-dtype", "fp8"})["rows"][1]["token_bytes"], 1024);
  EXPECT_EQ(json({"--conv-dtype", "f32"})["rows"][0]["conv_bytes"], 98304);
  EXPECT_EQ(json({"--context", "17", "--block", "16"})["rows"][1]["growing_bytes"], 32 * 2048);
  EXPECT_EQ(json({"--context", "65", "--chunk", "64"})["training"][0]["chunked_bytes"], 36 * 2 * 2097152);
  EXPECT_EQ(json({"--device-memory", "4096"})["requests_fit"], 0);
  EXPECT_TRUE(json({})["requests_fit"].is_null());
}

TEST(LedgerCommand, TableSaysWhatIsKeptAndWhatIsNotCounted) {
  const test::Outcome outcome = test::linearmem({"ledger", "--model", "Jamba-v0.1", "--context", "4096", "--device-memory", "80GiB"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words : {"Jamba-v0.1 (jamba), 4096 tokens of prefix", "grouped-query-attention  4, 12, 20, 28", "16 MiB", "512 KiB",
                            "48 KiB", "break-even", "requests fit in 80 GiB", "Training, recurrences alone", "Not counted:\n  weights"})
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words << "\n" << outcome.out;
}

TEST(LedgerCommand, ListNamesModelsAndSources) {
  const test::Outcome outcome = test::linearmem({"ledger", "--list"});
  EXPECT_EQ(outcome.code, 0);
  for (const NamedModel& named : named_models())
    EXPECT_NE(outcome.out.find(std::string(named.name) + "  " + named.source), std::string::npos);
}

TEST(LedgerCommand, DrawsAFigure) {
  const test::Folder folder;
  const test::Outcome outcome = test::linearmem({"ledger", "--model", "Qwen3-Next-80B-A3B", "--figure", folder / "ledger.svg"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string picture = test::read_file(folder / "ledger.svg");
  for (const char* words : {"<?xml", "gated delta rule", "this model", "softmax attention, in every layer"})
    EXPECT_NE(picture.find(words), std::string::npos) << words;
  EXPECT_EQ(folder.files(), std::vector<std::string>{"ledger.svg"});
  EXPECT_NE(
      test::refused({"ledger", "--model", "Jamba-v0.1", "--figure", folder / "ledger.pdf"}).find("a picture's name ends with .svg or .png"),
      std::string::npos);
}

TEST(LedgerCommand, APictureThatTheDiskCutsShortIsNone) {
  const test::Folder folder;
  for (const char* name : {"ledger.svg", "ledger.png"}) {
    // Standard output and the script for gnuplot are files too, and shorter.
    const std::string message = test::refused({"ledger", "--model", "Mamba-2.8B", "--figure", folder / name}, [] {
      const rlimit limit = {12 << 10, 12 << 10};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::signal(SIGXFSZ, SIG_IGN);
    });
    EXPECT_EQ(message.find((folder / name).string() + ": gnuplot left a picture without its end"), 0u) << message;
    EXPECT_TRUE(folder.files().empty());
  }
}

TEST(LedgerCommand, Refusals) {
  const test::Folder folder;
  const auto of_file = [&](const std::string& content) {
    test::write_file(folder / "config.json", content);
    const std::string message = test::refused({"ledger", folder / "config.json"});
    const std::string head = (folder / "config.json").string() + ": ";
    EXPECT_EQ(message.substr(0, head.size()), head);
    return message.size() > head.size() ? message.substr(head.size()) : message;
  };
  EXPECT_EQ(of_file("{"), "config: offset 1: an object's name is a text");
  EXPECT_EQ(of_file(std::string(10 << 20, '[')), "it has 10485760 bytes, at most 4194304 are read");
  EXPECT_EQ(of_file(R"({"model_type":"llama","hidden_size":64,"num_attention_heads":4,"num_hidden_layers":1000000000})"),
            "config: model_type llama: num_hidden_layers is 1000000000, must be a whole number from 1 to 10000");
  EXPECT_EQ(test::refused({"ledger"}), "ledger needs one of CONFIG.json and --model NAME; ledger --list names the models");
  EXPECT_EQ(test::refused({"ledger", folder.path()}), folder.path().string() + ": cannot read: Is a directory");
  EXPECT_NE(test::refused({"ledger", folder / "absent.json"}).find("absent.json: cannot read: No such file or directory"),
            std::string::npos);
  EXPECT_NE(test::refused({"ledger", "--model", "nobody"}).find("model nobody is not one of Qwen3-Next-80B-A3B"), std::string::npos);
  const auto option = [](const char* name, const char* value) { return test::refused({"ledger", "--model", "Jamba-v0.1", name, value}); };
  EXPECT_EQ(option("--context", "0"), "ledger: context is 0, must be from 1 to 1099511627776");
  EXPECT_EQ(option("--kv-dtype", "f12"), "--kv-dtype: dtype f12 is not one of f64, f32, bf16, f16, fp8, int8, fp4, int4");
  EXPECT_EQ(option("--conv-columns", "3"), "--conv-columns is 3, must be one of none, W-1, W");
  for (const char* text : {"much", "80gib", "-3", "1e99PiB", "0", ".5GiB", "1.2.3", ""})
    EXPECT_EQ(option("--device-memory", text), std::string("--device-memory takes bytes, such as 80GiB, got \"") + text + "\"");
}

}  // namespace
}  // namespace linearmem
