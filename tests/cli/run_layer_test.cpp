// linearmem run-layer: weights under their published names from one file or several, states that go from call to call, refusals by name.
#include <gtest/gtest.h>

#include "checkpoint.hpp"
#include "cli/command.hpp"
#include "core/layer_cases.hpp"
#include "safetensors.hpp"

namespace linearmem {
namespace {

using test::refused;

const GatedDeltaNetSizes kSizes{.model_width = 10, .key_heads = 2, .value_heads = 4, .key_width = 3, .value_width = 5, .conv_width = 4};
const std::string kPrefix = "model.layers.0.linear_attn";
const std::string kConfig =
    R"({"model_type": "qwen3_next", "hidden_size": 10, "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 3,
        "linear_value_head_dim": 5, "linear_conv_kernel_dim": 4, "hidden_act": "silu", "rms_norm_eps": 1e-06, "initializer_range": 0.02, "rope_scaling": null})";

NamedTensors with_prefix(const NamedTensors& weights) {
  NamedTensors all;
  for (const auto& [name, tensor] : weights) all[kPrefix + "." + name] = tensor;
  return all;
}

NamedTensor drawn(std::vector<std::int64_t> shape, std::uint64_t seed) {
  test::Numbers numbers(seed);
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = numbers.uniform(-1, 1);
  return to_named(values, std::move(shape));
}

// The first `count` tokens from `begin` on of hidden [1,T,M].
NamedTensor tokens_of(const NamedTensor& hidden, std::int64_t begin, std::int64_t count) {
  const std::int64_t bytes = hidden.shape[2] * dtype_bytes(hidden.dtype);
  return {.dtype = hidden.dtype, .shape = {1, count, hidden.shape[2]},
          .bytes = {hidden.bytes.begin() + begin * bytes, hidden.bytes.begin() + (begin + count) * bytes}};
}

class RunLayer : public testing::Test {
 protected:
  RunLayer() : weights_(test::drawn_weights(kSizes, 4)) {
    give("weights.safetensors", with_prefix(weights_));
    give("in", {{"hidden", drawn({1, 13, 10}, 5)}});
    test::write_file(folder_ / "config.json", kConfig);
  }

  void give(const std::string& file, const NamedTensors& tensors) {
    const Status status = write_safetensors(folder_ / file, tensors);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  std::vector<std::string> words(const std::vector<std::string>& more = {}, const std::string& in = "in", const std::string& out = "out",
                                 const std::string& weights = "weights.safetensors") const {
    std::vector<std::string> all = {"run-layer", "gated-delta-net", "--weights", folder_ / weights, "--prefix", kPrefix, "--config", folder_ / "config.json",
                                    "--input", folder_ / in, "--output", folder_ / out};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  NamedTensors run(const std::vector<std::string>& words, const std::string& out = "out") const {
    const test::Outcome outcome = test::linearmem(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    auto tensors = read_safetensors(folder_ / out);
    EXPECT_TRUE(tensors.ok()) << tensors.status().message();
    return tensors.ok() ? tensors.value() : NamedTensors{};
  }
  std::string refusal(const std::vector<std::string>& words) const {
    const std::string message = refused(words);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
    const std::string folder = folder_.path().string() + "/";
    return message.find(folder) == 0 ? message.substr(folder.size()) : message;
  }

  test::Folder folder_;
  NamedTensors weights_;
};

void expect_equal(const NamedTensors& a, const NamedTensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) EXPECT_TRUE(b.at(name).shape == tensor.shape && b.at(name).bytes == tensor.bytes) << name;
}

TEST_F(RunLayer, GivesWhatTheLayerGives) {
  const NamedTensors got = run(words());
  const auto layer = test::layer_of<double>(kSizes, weights_);
  const auto hidden = floating_values<double>("hidden", read_safetensors(folder_ / "in").value().at("hidden")).value();
  std::vector<double> out(hidden.size());
  ASSERT_TRUE(layer->forward({.hidden = {hidden.data(), {1, 13, 10}}, .out = {out.data(), {1, 13, 10}}}).ok());
  EXPECT_EQ(floating_values<double>("out", got.at("out")).value(), out);
  EXPECT_EQ(integer_values("seen", got.at("seen")).value(), std::vector<std::int64_t>{13});
  EXPECT_EQ(got.at("conv_state").shape, (std::vector<std::int64_t>{1, 32, 3}));
  EXPECT_EQ(got.at("recurrent_state").shape, (std::vector<std::int64_t>{1, 4, 3, 5}));
}

TEST_F(RunLayer, AnOutputIsTheStateOfTheNextCallAndBlocksAreSuchCalls) {
  const NamedTensor hidden = read_safetensors(folder_ / "in").value().at("hidden");
  give("first", {{"hidden", tokens_of(hidden, 0, 6)}});
  give("second", {{"hidden", tokens_of(hidden, 6, 6)}});
  give("third", {{"hidden", tokens_of(hidden, 12, 1)}});
  run(words({}, "first", "1"), "1");
  run(words({"--state", folder_ / "1"}, "second", "2"), "2");
  const NamedTensors third = run(words({"--state", folder_ / "2"}, "third", "3"), "3");
  const test::Outcome streamed = test::linearmem(words({"--stream", "--block", "6"}));
  EXPECT_EQ(streamed.code, 0) << streamed.err;
  EXPECT_NE(streamed.err.find("13 tokens"), std::string::npos) << streamed.err;
  NamedTensors all = read_safetensors(folder_ / "out").value();
  EXPECT_EQ(tokens_of(all.at("out"), 12, 1).bytes, third.at("out").bytes);
  const auto pieces = floating_values<double>("out", all.at("out")).value();
  const auto whole = floating_values<double>("out", run(words({}, "in", "whole"), "whole").at("out")).value();
  ASSERT_EQ(pieces.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(pieces[i], whole[i], 1e-12);
  all["out"] = third.at("out");
  expect_equal(all, third);
}

TEST_F(RunLayer, PackedPaddedAndStreamedAgree) {
  give("in", {{"hidden", drawn({1, 13, 10}, 6)}, {"cu_seqlens", to_named(std::vector<std::int64_t>{0, 5, 5, 13}, {4})}});
  const NamedTensors packed = run(words());
  expect_equal(packed, run(words({"--stream", "--block", "9"}, "in", "streamed"), "streamed"));
  EXPECT_EQ(integer_values("seen", packed.at("seen")).value(), (std::vector<std::int64_t>{5, 0, 8}));

  NamedTensor hidden = drawn({2, 4, 10}, 7);
  const std::vector<std::uint8_t> mask = {0, 0, 1, 1, 1, 1, 1, 0};
  give("in", {{"hidden", hidden}, {"mask", to_named(mask, {2, 4})}});
  const NamedTensors padded = run(words({"--threads", "2"}));
  EXPECT_EQ(integer_values("seen", padded.at("seen")).value(), (std::vector<std::int64_t>{2, 3}));
  const auto out = floating_values<double>("out", padded.at("out")).value();
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i] == 0, mask[i / 10] == 0) << i;
  expect_equal(padded, run(words({"--stream", "--block", "4"}, "in", "streamed"), "streamed"));
}

TEST_F(RunLayer, HalfPrecisionWeightsAndShardsAreReadAsTheyAre) {
  NamedTensors half = weights_, wide = weights_;
  const char* const names[] = {"in_proj_qkvz.weight", "out_proj.weight"};
  for (const char* name : names) {
    const auto values = floating_values<double>(name, weights_.at(name)).value();
    NamedTensor narrow{.dtype = DType::bf16, .shape = weights_.at(name).shape, .bytes = {}};
    std::vector<double> rounded;
    for (double value : values) {
      const auto single = static_cast<float>(value);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &single, 4);
      bits &= 0xffff0000U;
      narrow.bytes.push_back(static_cast<std::byte>(bits >> 16 & 0xff));
      narrow.bytes.push_back(static_cast<std::byte>(bits >> 24));
      float back = 0;
      std::memcpy(&back, &bits, 4);
      rounded.push_back(back);
    }
    half[name] = narrow;
    wide[name] = to_named(rounded, narrow.shape);
  }
  const unsigned char halves[] = {0x00, 0x38, 0x00, 0xb4, 0x00, 0x3c, 0x01, 0x00};  // float16: 0.5, -0.25, 1, 2^-24
  half["dt_bias"] = {.dtype = DType::f16, .shape = {4}, .bytes = {reinterpret_cast<const std::byte*>(halves), reinterpret_cast<const std::byte*>(halves) + 8}};
  wide["dt_bias"] = to_named(std::vector<double>{0.5, -0.25, 1, 0x1p-24}, {4});
  give("weights.safetensors", with_prefix(wide));
  const NamedTensors expected = run(words());
  NamedTensors first = with_prefix(half), second = {{"model.embed_tokens.weight", drawn({3, 10}, 1)}};
  std::string map;
  for (const char* name : {"A_log", "conv1d.weight", "out_proj.weight"}) second.insert(first.extract(kPrefix + "." + name));
  for (const auto& [shard, tensors] : {std::pair{"a-1.safetensors", first}, {"a-2.safetensors", second}})
    for (const auto& [name, tensor] : tensors) map += (map.empty() ? "" : ", ") + ("\"" + name + "\": \"") + shard + "\"";
  give("a-1.safetensors", first);
  give("a-2.safetensors", second);
  test::write_file(folder_ / "model.safetensors.index.json", R"({"metadata": {"total_size": 123, "by": ["x", {"y": null}]}, "weight_map": {)" + map +
                                                                 R"(, "model.layers.1.mlp.weight": "not-here.safetensors"}})");
  expect_equal(expected, run(words({}, "in", "sharded", "model.safetensors.index.json"), "sharded"));
}

// A tensor of three elements at the end of a file of tensors.
std::string with_foreign(const std::string& file, const std::string& name, const std::string& dtype, std::int64_t bytes) {
  const std::size_t close = file.rfind('}', file.find("}}") + 1);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  const std::size_t end = file.size() - 8 - length;
  const std::string entry = ",\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":[3],"data_offsets":[)" + std::to_string(end) + "," +
                            std::to_string(end + static_cast<std::size_t>(3 * bytes)) + "]}";
  length += entry.size();
  std::string whole = file.substr(0, close) + entry + file.substr(close) + std::string(static_cast<std::size_t>(3 * bytes), 'x');
  std::memcpy(whole.data(), &length, 8);
  return whole;
}

TEST_F(RunLayer, ADtypeThatCannotBeReadIsRefusedOnlyInTheLayersOwnTensors) {
  const std::string file = test::read_file(folder_ / "weights.safetensors");
  const NamedTensors expected = run(words());
  const std::pair<const char*, int> dtypes[] = {{"F8_E4M3", 1}, {"F8_E5M2", 1}, {"U8", 1}, {"I16", 2}, {"U32", 4}, {"U64", 8}};
  for (const auto& [dtype, bytes] : dtypes) {
    test::write_file(folder_ / "weights.safetensors", with_foreign(file, "model.layers.0.mlp.weight", dtype, bytes));
    expect_equal(run(words()), expected);
  }
  std::filesystem::remove(folder_ / "out");
  test::write_file(folder_ / "weights.safetensors", with_foreign(file, kPrefix + ".weight", "F8_E4M3", 1));
  const std::string message = refusal(words());
  EXPECT_NE(message.find("tensor \"" + kPrefix + ".weight\" is F8_E4M3; what can be read is F64, F32, BF16, F16, I64, I32, BOOL"), std::string::npos) << message;
}

TEST_F(RunLayer, WhatDoesNotFitIsRefusedByName) {
  EXPECT_EQ(refusal({"run-layer"}), "run-layer needs a KIND; run-layer --list names them");
  EXPECT_EQ(refusal({"run-layer", "mamba2"}), "run-layer needs --weights model.safetensors or model.safetensors.index.json");
  EXPECT_EQ(refusal(words({"--block", "3"})), "--block is 3, but only --stream has blocks");
  EXPECT_EQ(refusal(words({"--set", "linear_key_head_dim=4"})),
            "weights.safetensors: gated-delta-net: weights of another shape: in_proj_qkvz.weight is [52,10], must be [56,10], "
            "conv1d.weight is [32,1,4], must be [36,1,4]");
  NamedTensors fewer = with_prefix(weights_);
  fewer.erase(kPrefix + ".dt_bias");
  fewer[kPrefix + ".bias"] = drawn({2}, 1);
  give("weights.safetensors", fewer);
  EXPECT_EQ(refusal(words()), "weights.safetensors: gated-delta-net: weights missing: dt_bias [4]; not known: bias");
  auto elsewhere = words();
  elsewhere[5] = "model.layers.1.linear_attn";
  EXPECT_EQ(refusal(elsewhere), "weights.safetensors: has no tensor under \"model.layers.1.linear_attn\"");
  std::filesystem::remove(folder_ / "config.json");
  EXPECT_EQ(refusal(words()), "config.json: cannot read: No such file or directory");
  std::filesystem::create_directory(folder_ / "config.json");
  EXPECT_EQ(refusal(words()), "config.json: cannot read: Is a directory");
  std::filesystem::remove(folder_ / "config.json");
  test::write_file(folder_ / "config.json", R"({"hidden_size": [1]})");
  EXPECT_EQ(refusal(words()), "config.json: config: hidden_size is a list, must be a number, a text, true or false, or two numbers");
}

TEST_F(RunLayer, InputsAndStatesThatDoNotFitAreRefusedByName) {
  give("in", {{"hidden", drawn({1, 3, 9}, 1)}});
  EXPECT_EQ(refusal(words()), "in: hidden is [1,3,9], must be [B,T,10]");
  give("in", {{"hidden", drawn({1, 3, 10}, 1)}, {"q", drawn({1}, 1)}});
  EXPECT_EQ(refusal(words()), "in: unknown tensor \"q\"; it takes hidden, cu_seqlens, mask");
  give("in", {{"hidden", drawn({1, 3, 10}, 1)}, {"cu_seqlens", to_named(std::vector<std::int64_t>{0, 2}, {2})}});
  EXPECT_EQ(refusal(words()), "run-layer: cu_seqlens ends at 2, T is 3");
  give("in", {{"hidden", drawn({1, 3, 10}, 1)}});
  const std::vector<std::string> with_state = words({"--state", folder_ / "state"});
  give("state", {{"conv_state", drawn({1, 32, 3}, 1)}, {"recurrent_state", drawn({1, 4, 3, 6}, 1)}, {"seen", to_named(std::vector<std::int64_t>{2}, {1})}});
  EXPECT_EQ(refusal(with_state), "state: recurrent_state is [1,4,3,6], must be [1,4,3,5]");
  give("state", {{"conv_state", drawn({1, 32, 3}, 1)}, {"recurrent_state", drawn({1, 4, 3, 5}, 1)}});
  EXPECT_EQ(refusal(with_state), "state: seen is missing; it is [1]");
  give("state", {{"conv_state", drawn({1, 32, 3}, 1)}, {"recurrent_state", drawn({1, 4, 3, 5}, 1)}, {"seen", to_named(std::vector<std::int64_t>{-2}, {1})}});
  EXPECT_EQ(refusal(with_state), "gated-delta-net: seen of request 0 is -2, must be from 0 to 281474976710656");
  give("state", {{"keys", drawn({1}, 1)}});
  EXPECT_EQ(refusal(with_state), "state: unknown tensor \"keys\"; it is no part of the state of gated-delta-net");
  EXPECT_EQ(folder_.files(), (std::vector<std::string>{"config.json", "in", "state", "weights.safetensors"}));
}

TEST_F(RunLayer, AConvolutionOfOneInputKeepsNoneAndABatchMayBeEmpty) {
  GatedDeltaNetSizes sizes = kSizes;
  sizes.conv_width = 1;
  give("narrow", with_prefix(test::drawn_weights(sizes, 4)));
  const NamedTensors whole = run(words({"--set", "linear_conv_kernel_dim=1"}, "in", "out", "narrow"));
  EXPECT_EQ(whole.at("conv_state").shape, (std::vector<std::int64_t>{1, 32, 0}));
  expect_equal(run(words({"--set", "linear_conv_kernel_dim=1", "--stream", "--block", "13"}, "in", "out", "narrow")), whole);
  give("nobody", {{"hidden", drawn({0, 3, 10}, 5)}});
  EXPECT_EQ(run(words({}, "nobody")).at("seen").shape, std::vector<std::int64_t>{0});
}

TEST_F(RunLayer, AnOutputReplacesNeitherWeightsNorConfigurationNorTheSession) {
  const std::string config = test::read_file(folder_ / "config.json"), weights = test::read_file(folder_ / "weights.safetensors");
  const auto onto = [&](const char* file, const std::vector<std::string>& more) { return refused(words(more, "in", file)); };
  const std::string folder = folder_.path().string() + "/";
  EXPECT_EQ(onto("weights.safetensors", {}), "--output and --weights are one file, " + folder + "weights.safetensors");
  EXPECT_EQ(onto("./config.json", {}), "--output and --config are one file, " + folder + "config.json");
  EXPECT_EQ(onto("both", {"--session", folder + "both", "--request", "1"}), "--output and --session are one file, " + folder + "both");
  EXPECT_EQ(test::read_file(folder_ / "config.json"), config);
  EXPECT_EQ(test::read_file(folder_ / "weights.safetensors"), weights);
}

TEST_F(RunLayer, DescribesOptionsWeightsAndState) {
  const test::Outcome described = test::linearmem({"run-layer", "gated-delta-net", "--config", folder_ / "config.json", "--describe"});
  EXPECT_EQ(described.code, 0) << described.err;
  for (const char* line : {"  in_proj_qkvz.weight [52,10]\n", "  conv1d.weight [32,1,4]\n", "  recurrent_state [4,3,5], 240 bytes\n", "  linear_num_key_heads=none  a whole number"})
    EXPECT_NE(described.out.find(line), std::string::npos) << line;
  EXPECT_NE(test::linearmem({"run-layer", "window-attention", "--describe"}).out.find("sliding_window"), std::string::npos);
  EXPECT_NE(test::linearmem({"run-layer", "--list"}).out.find("universal-transformer\n"), std::string::npos);
}

TEST(CheckpointIndex, IsRefusedWhereItIsWrong) {
  const auto message = [](const std::string& text) { return parse_checkpoint_index(text, "x").status().message(); };
  EXPECT_EQ(message(R"({"weight_map": {"a": "b"}})"), "");
  EXPECT_EQ(message(""), "x: offset 0: the index does not start with {");
  EXPECT_EQ(message("{}"), "x: offset 2: no weight_map");
  EXPECT_EQ(message(R"({"weight_map": {"a": "b", "a": "c"}})"), "x: offset 29: duplicate key \"a\"");
  EXPECT_EQ(message(R"({"weight_map": {"a": 3}})"), "x: offset 23: a number is not expected here");
  EXPECT_EQ(message(R"({"weight_map": {"a": {}}})"), "x: offset 22: an object is not expected here");
  EXPECT_EQ(message(R"({"weight_map": []})"), "x: offset 16: an array is not expected here");
  for (const char* outside : {"../b", "/b", "..", "", "a\\\\b"})
    EXPECT_NE(message(R"({"weight_map": {"a": ")" + std::string(outside) + "\"}}").find("which is not the name of a file beside the index"), std::string::npos) << outside;
  EXPECT_EQ(message(R"({"weight_map": {"a": "b"})").find("x: offset 25: not JSON: "), 0u);
  EXPECT_EQ(message(std::string("{\"a\": ") + std::string(40, '[')).find("x: offset 38: nested deeper than 32"), 0u);
}

}  // namespace
}  // namespace linearmem
