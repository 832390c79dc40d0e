// linearmem run-layer --session: requests that go on from file to file by their ids.
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "core/layer_cases.hpp"
#include "safetensors.hpp"

namespace linearmem {
namespace {

using test::drawn_weights;
using test::Folder;
using test::linearmem;
using test::Numbers;
using test::read_file;
using test::refused;
using test::write_file;
using Words = std::vector<std::string>;

constexpr std::int64_t M = 6;
const LayerSizes kSizes = WindowAttentionSizes{.model_width = M, .heads = 2, .key_heads = 1, .head_width = 4, .window = 3};

class RunLayerSession : public testing::Test {
 protected:
  RunLayerSession() {
    save("weights", drawn_weights(kSizes, 1));
    save("others", drawn_weights(kSizes, 2));
  }
  void save(const std::string& name, const NamedTensors& tensors) {
    const Status status = write_safetensors(folder / name, tensors);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  // Tokens [begin, end) of request r's text.
  static void append(std::vector<double>& values, std::uint64_t r, std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      Numbers numbers(r * 1000 + static_cast<std::uint64_t>(t));
      for (std::int64_t m = 0; m < M; ++m) values.push_back(numbers.uniform(-1, 1));
    }
  }
  std::vector<double> out(const std::string& name) {
    const auto tensors = read_safetensors(folder / name);
    EXPECT_TRUE(tensors.ok()) << tensors.status().message();
    if (!tensors.ok()) return {};
    return floating_values<double>("out", tensors.value().at("out")).value();
  }
  Words words(const std::string& input, const std::string& output, const Words& more, const std::string& weights = "weights") {
    Words all = {"run-layer", "window-attention", "--weights", folder / weights, "--input", folder / input, "--output", folder / output};
    for (const char* set : {"hidden_size=6", "num_attention_heads=2", "num_key_value_heads=1", "head_dim=4", "sliding_window=3"})
      all.insert(all.end(), {"--set", set});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void run(const Words& all) {
    const auto outcome = linearmem(all);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  Folder folder;
};

TEST_F(RunLayerSession, RequestsGoOnByTheirIdsWithTheBitsOfOneFileOfStates) {
  std::vector<double> first, second, one, one_more;
  append(first, 1, 0, 4), append(first, 2, 0, 2);
  append(second, 2, 2, 3), append(second, 1, 4, 9);
  append(one, 3, 0, 2), append(one_more, 3, 2, 3);
  save("first", {{"hidden", to_named(first, {1, 6, M})}, {"cu_seqlens", to_named(std::vector<std::int64_t>{0, 4, 6}, {3})}});
  save("second", {{"hidden", to_named(second, {1, 6, M})}, {"cu_seqlens", to_named(std::vector<std::int64_t>{0, 1, 6}, {3})}});
  save("one", {{"hidden", to_named(one, {1, 2, M})}});
  save("one_more", {{"hidden", to_named(one_more, {1, 1, M})}});
  const std::string session = folder / "session";
  run(words("first", "session_out", {"--session", session, "--request", "11", "--request", "-7"}));
  EXPECT_EQ(read_safetensors(folder / "session_out").value().size(), 1u);  // out alone: the states are in the session
  run(words("one", "one_out", {"--session", session, "--request", "3"}));  // another begins between
  run(words("second", "session_out", {"--session", session, "--request", "-7", "--request", "11", "--stream", "--block", "2"}));
  run(words("one_more", "one_out", {"--session", session, "--request", "3"}));  // it was kept while others went on
  auto got = out("session_out");
  for (double value : out("one_out")) got.push_back(value);

  // Each alone, its states in files of tensors: tokens in all, those of the first call, and the token of `got` where the rest begins.
  for (const auto& [r, length, split, from] : {std::tuple{1, 9, 4, 1}, {2, 3, 2, 0}, {3, 3, 2, 6}}) {
    std::vector<double> head, tail;
    append(head, static_cast<std::uint64_t>(r), 0, split), append(tail, static_cast<std::uint64_t>(r), split, length);
    save("head", {{"hidden", to_named(head, {1, split, M})}});
    save("tail", {{"hidden", to_named(tail, {1, length - split, M})}});
    run(words("head", "head_out", {}));
    run(words("tail", "tail_out", {"--state", folder / "head_out", "--stream", "--block", "2"}));
    const auto expected = out("tail_out");
    EXPECT_EQ(std::vector(got.begin() + from * M, got.begin() + from * M + static_cast<std::ptrdiff_t>(expected.size())), expected) << r;
  }
}

TEST_F(RunLayerSession, RefusalsNameWhatIsWrongAndLeaveTheSessionAsItWas) {
  std::vector<double> two;
  append(two, 1, 0, 3), append(two, 2, 0, 3);
  save("two", {{"hidden", to_named(two, {2, 3, M})}});
  const std::string session = folder / "session";
  const Words ids = {"--session", session, "--request", "1", "--request", "2"};
  run(words("two", "out", ids));
  const std::string before = read_file(session), output = read_file(folder / "out");
  const auto refusal = [&](const Words& more, const std::string& weights = "weights") {
    const std::string text = refused(words("two", "out", more, weights));
    EXPECT_EQ(read_file(session), before) << text;
    EXPECT_EQ(read_file(folder / "out"), output) << text;
    return text;
  };
  EXPECT_EQ(refusal({"--session", session, "--request", "1"}), "--session needs a --request for each of the 2 requests of the input; there are 1");
  EXPECT_EQ(refusal({"--session", session, "--request", "4", "--request", "4"}), "--request 4 is given twice");
  EXPECT_EQ(refusal({"--request", "4"}), "--request is 4, but only --session has requests by id");
  EXPECT_EQ(refusal({"--session", session, "--state", folder / "out"}), "--state and --session are two places for the same states; give one");
  EXPECT_EQ(refusal(ids, "others").rfind(session + ": offset 40: of other weights or settings: it has 0x", 0), 0u);
  Words settings = ids, type = ids;
  settings.insert(settings.end(), {"--set", "rope_theta=5000"});
  EXPECT_EQ(refusal(settings).rfind(session + ": offset 40: of other weights or settings: it has 0x", 0), 0u);
  type.insert(type.end(), {"--dtype", "f32"});
  EXPECT_EQ(refusal(type), session + ": offset 12: its states are f64; this session computes in f32");
  std::string damaged = before;
  damaged[damaged.size() - 9] = static_cast<char>(damaged[damaged.size() - 9] ^ 1);
  write_file(folder / "damaged", damaged);
  const std::string text = refused(words("two", "out", {"--session", folder / "damaged", "--request", "8", "--request", "9"}));
  EXPECT_NE(text.find("damaged: offset "), std::string::npos) << text;
  EXPECT_NE(text.find("the checksum of part 1 of request 2 is"), std::string::npos) << text;
  EXPECT_EQ(read_file(folder / "damaged"), damaged);
}

}  // namespace
}  // namespace linearmem
