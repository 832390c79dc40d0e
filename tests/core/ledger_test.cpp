// The ledger's numbers: one row worked through, every named model against a calculation by hand, refusals.
#include "linearmem/ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace linearmem {
namespace {

Ledger ledger_of(const ModelLayers& model, const LedgerSettings& settings = {}) {
  auto result = memory_ledger(model, settings);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? std::move(result).value() : Ledger{};
}

ModelLayers model_of(const char* name) {
  auto result = find_model(name);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? std::move(result).value() : ModelLayers{};
}

LedgerRow row_of(const Ledger& ledger, LayerKind kind) {
  for (const LedgerRow& row : ledger.rows)
    if (row.group.shape.kind == kind) return row;
  ADD_FAILURE() << "no row of " << layer_kind_name(kind);
  return {};
}

TEST(Ledger, QwenNextRow) {
  const ModelLayers model = model_of("Qwen3-Next-80B-A3B");
  struct Columns {
    ConvColumns kept;
    std::int64_t conv_bytes, break_even;
  };
  for (const Columns& columns :
       {Columns{ConvColumns::none, 0, 1024}, {ConvColumns::past, 49152, 1048}, {ConvColumns::whole, 65536, 1056}}) {
    const Ledger ledger = ledger_of(model, {.context = 262144, .conv_columns = columns.kept});
    const LedgerRow attention = row_of(ledger, LayerKind::grouped_query_attention), delta = row_of(ledger, LayerKind::gated_delta_rule);
    EXPECT_EQ(attention.group.layers, 12);
    EXPECT_EQ(attention.group.where, "3, 7, ..., 47");
    EXPECT_EQ(attention.token_bytes, 2048);
    EXPECT_EQ(attention.growing_bytes, 262144 * 2048);
    EXPECT_FALSE(attention.break_even.has_value());
    EXPECT_EQ(delta.group.layers, 36);
    EXPECT_EQ(delta.state_bytes, 2097152);
    EXPECT_EQ(delta.growing_bytes, 0);
    EXPECT_EQ(delta.conv_bytes, columns.conv_bytes);
    EXPECT_EQ(delta.break_even, columns.break_even);
    EXPECT_EQ(ledger.break_even, columns.break_even);  // 36 of 48 layers on both sides
    EXPECT_EQ(ledger.request_bytes, 12ll * 262144 * 2048 + 36 * (2097152 + columns.conv_bytes));
    EXPECT_EQ(ledger.full_attention_bytes, 48ll * 262144 * 2048);
  }
}

TEST(Ledger, AtTheBreakEvenFullAttentionTakesNoMoreAndOneTokenLaterItDoes) {
  for (const NamedModel& named : named_models()) {
    const ModelLayers model = model_of(named.name);
    const Ledger ledger = ledger_of(model);
    if (!ledger.break_even || *ledger.break_even == 0) continue;
    const Ledger at = ledger_of(model, {.context = *ledger.break_even}), after = ledger_of(model, {.context = *ledger.break_even + 1});
    EXPECT_LE(at.full_attention_bytes, at.request_bytes) << named.name;
    EXPECT_GT(after.full_attention_bytes, after.request_bytes) << named.name;
  }
}

// By hand, 4096 tokens, K,V and convolutions in 16 bits, states in float32, W - 1 columns: bytes of one request.
// Each line is layers x (what one keeps), from the published sizes.
struct ByHand {
  const char* model;
  std::int64_t bytes;
};

constexpr std::int64_t T = 4096;

constexpr ByHand kByHand[] = {
    {"Llama-2-7B", 32 * (T * 32 * (128 + 128) * 2)},
    {"Llama-3.1-8B", 32 * (T * 8 * (128 + 128) * 2)},
    {"Llama-3.1-70B", 80 * (T * 8 * (128 + 128) * 2)},
    {"Mistral-7B-v0.1", 32 * (T * 8 * 256 * 2)},
    {"Mixtral-8x7B", 32 * (T * 8 * 256 * 2)},
    {"Gemma-2-9B", 42 * (T * 8 * 512 * 2)},                                 // the window is 4096 too
    {"Gemma-3-27B", 10 * (T * 16 * 256 * 2) + 52 * (1024 * 16 * 256 * 2)},  // layers 5, 11, ..., 59 see all
    {"GPT-OSS-20B", 12 * (T * 8 * 128 * 2) + 12 * (128 * 8 * 128 * 2)},
    {"Qwen2.5-7B", 28 * (T * 4 * 256 * 2)},
    {"Qwen3-8B", 36 * (T * 8 * 256 * 2)},
    {"Qwen3-Next-80B-A3B", 12 * (T * 2 * 512 * 2) + 36 * (32 * 128 * 128 * 4 + 8192 * 3 * 2)},
    {"DeepSeek-V2-Lite", 27 * (T * 576 * 2)},
    {"DeepSeek-V3", 61 * (T * 576 * 2)},
    {"MiniMax-Text-01", 10 * (T * 8 * 256 * 2) + 70 * (64 * 128 * 128 * 4)},
    {"Kimi-Linear-48B-A3B", 7 * (T * 576 * 2) + 20 * (32 * 128 * 128 * 4 + 3 * 4096 * 3 * 2)},
    {"OLMo-Hybrid-7B", 8 * (T * 30 * 256 * 2) + 24 * (30 * 96 * 192 * 4 + (2 * 2880 + 5760) * 3 * 2)},
    {"Jamba-v0.1", 4 * (T * 8 * 256 * 2) + 28 * (8192 * 16 * 4 + 8192 * 3 * 2)},
    {"Zamba2-7B", 13 * (T * 32 * 448 * 2) + 81 * (112 * 64 * 64 * 4 + (7168 + 2 * 2 * 64) * 3 * 2)},
    {"Bamba-9B", 3 * (T * 8 * 256 * 2) + 29 * (128 * 64 * 128 * 4 + (8192 + 2 * 128) * 3 * 2)},
    {"Falcon-H1-7B", 44 * (T * 2 * 256 * 2) + 44 * (24 * 128 * 256 * 4 + (3072 + 2 * 256) * 3 * 2)},
    {"Nemotron-H-8B", 4 * (T * 8 * 256 * 2) + 24 * (128 * 64 * 128 * 4 + (8192 + 2 * 8 * 128) * 3 * 2)},
    {"Granite-4.0-H-Small", 4 * (T * 8 * 256 * 2) + 36 * (128 * 64 * 128 * 4 + (8192 + 2 * 128) * 3 * 2)},
    {"LFM2-1.2B", 6 * (T * 8 * 128 * 2) + 10 * (2048 * 2 * 2)},
    {"Mamba-2.8B", 64 * (5120 * 16 * 4 + 5120 * 3 * 2)},
    {"Mamba-2-780M", 48 * (48 * 64 * 128 * 4 + (3072 + 2 * 128) * 3 * 2)},
    {"RWKV-6-World-1.6B", 24 * (32 * 64 * 64 * 4 + 2 * 2048 * 2)},
    {"RWKV-7-World-2.9B", 32 * (40 * 64 * 64 * 4 + 2 * 2560 * 2)},
    {"RetNet-1.3B", 24 * (8 * 256 * 512 * 4)},
    {"DeltaNet-1.3B", 24 * (16 * 128 * 128 * 4 + 3 * 2048 * 3 * 2)},
    {"GPT-2-XL", 48 * (T * 25 * 128 * 2)},
    {"T5-Large", 24 * (T * 16 * 128 * 2) + 24 * (512 * 16 * 128 * 2)},  // a source of 512 tokens
};

TEST(Ledger, EveryNamedModelIsWhatTheHandCalculates) {
  std::set<std::string> checked;
  for (const ByHand& hand : kByHand) {
    EXPECT_EQ(ledger_of(model_of(hand.model), {.context = T}).request_bytes, hand.bytes) << hand.model;
    checked.insert(hand.model);
  }
  for (const NamedModel& named : named_models()) EXPECT_TRUE(checked.count(named.name)) << named.name << " has no calculation by hand";
}

TEST(Ledger, NamedModelsCoverEveryKind) {
  std::set<LayerKind> seen;
  for (const NamedModel& named : named_models())
    for (const LayerGroup& group : model_of(named.name).groups) seen.insert(group.shape.kind);
  for (LayerKind kind : layer_kinds()) EXPECT_TRUE(seen.count(kind)) << layer_kind_name(kind);
}

TEST(Ledger, PlacesOfTheLayers) {
  EXPECT_EQ(row_of(ledger_of(model_of("Jamba-v0.1")), LayerKind::grouped_query_attention).group.where, "4, 12, 20, 28");
  EXPECT_EQ(row_of(ledger_of(model_of("Gemma-3-27B")), LayerKind::grouped_query_attention).group.where, "5, 11, ..., 59");
  EXPECT_EQ(row_of(ledger_of(model_of("Bamba-9B")), LayerKind::ssd).group.where, "0-8, 10-17, 19-26, 28-31");
  EXPECT_EQ(row_of(ledger_of(model_of("T5-Large")), LayerKind::encoder_attention).group.where, "");
}

TEST(Ledger, SideBySideNeverBreaksEven) {
  const ModelLayers model = model_of("Falcon-H1-7B");
  EXPECT_EQ(model.mixers, 44);
  EXPECT_FALSE(ledger_of(model).break_even.has_value());
  EXPECT_EQ(model_of("Zamba2-7B").mixers, 81);
}

TEST(Ledger, AWindowBreaksEvenAtItsWidth) {
  EXPECT_EQ(row_of(ledger_of(model_of("Gemma-3-27B")), LayerKind::window_attention).break_even, 1024);
  const Ledger all_windows = ledger_of(model_of("Mistral-7B-v0.1"), {.context = 32768});
  EXPECT_EQ(all_windows.break_even, 4096);
  EXPECT_EQ(all_windows.full_attention_bytes, 8 * all_windows.request_bytes);
}

TEST(Ledger, LatentAttentionBesideTheSameHeadsUncompressed) {
  ModelLayers model = model_of("DeepSeek-V2-Lite");
  model.full_attention = LayerShape{.kind = LayerKind::full_attention, .heads = 16, .key_width = 192, .value_width = 128};
  EXPECT_EQ(ledger_of(model).break_even, 0);  // less from the first token on
}

TEST(Ledger, NormalizerBatchPrecisionPagesAndDevice) {
  const ModelLayers model{
      .groups = {{.shape = {.kind = LayerKind::linear_attention, .heads = 2, .key_width = 3, .value_width = 5, .normalizer = true},
                  .layers = 7},
                 {.shape = {.kind = LayerKind::full_attention, .heads = 1, .key_width = 3, .value_width = 4}}},
      .mixers = 8};
  LedgerSettings settings{.context = 17, .batch = 10, .precision = {.kv_bits = 4, .state_bits = 16}, .block = 16, .device_bytes = 100000};
  const Ledger ledger = ledger_of(model, settings);
  EXPECT_EQ(ledger.rows[0].state_bytes, 2 * 3 * 5 * 2);
  EXPECT_EQ(ledger.rows[0].normalizer_bytes, 2 * 3 * 2);
  EXPECT_EQ(ledger.rows[1].token_bytes, 4);             // 7 elements of 4 bits
  EXPECT_EQ(ledger.rows[1].growing_bytes, 32 * 7 / 2);  // two pages of 16
  EXPECT_EQ(ledger.fixed_bytes, 7 * (60 + 12));
  EXPECT_EQ(ledger.growing_bytes, 112);
  EXPECT_EQ(ledger.request_bytes, 504 + 112);
  EXPECT_EQ(ledger.batch_bytes, 10 * 616);
  EXPECT_EQ(ledger.requests_fit, 100000 / 616);
  EXPECT_EQ(ledger.full_attention_bytes, 0);  // this list does not say what full attention would be
  settings.device_bytes = 0;
  EXPECT_FALSE(ledger_of(model, settings).requests_fit.has_value());
}

TEST(Ledger, PagesOfAWindow) {
  const ModelLayers model{
      .groups = {{.shape = {.kind = LayerKind::window_attention, .heads = 1, .key_width = 1, .value_width = 1, .window = 100}}},
      .mixers = 1};
  EXPECT_EQ(ledger_of(model, {.context = 1000, .block = 16}).request_bytes, 112 * 2 * 2);
  EXPECT_EQ(ledger_of(model, {.context = 50, .block = 16}).request_bytes, 64 * 2 * 2);
  EXPECT_EQ(ledger_of(model, {.context = 1000}).request_bytes, 100 * 2 * 2);
}

TEST(Ledger, TrainingStoresStatesTokenByTokenChunkByChunkOrOnce) {
  const Ledger ledger = ledger_of(model_of("Qwen3-Next-80B-A3B"), {.context = 1000, .batch = 3, .chunk = 64});
  ASSERT_EQ(ledger.training.size(), 1u);
  const TrainingRow& row = ledger.training[0];
  const std::int64_t state = 32 * 128 * 128 * 4, runs = 36 * 3;
  EXPECT_EQ(row.naive_bytes, runs * 1000 * state);
  EXPECT_EQ(row.chunked_bytes, runs * 16 * state);  // 15 chunks of 64 and one of 40
  EXPECT_EQ(row.recomputed_bytes, runs * state);
  EXPECT_EQ(row.input_bytes, runs * 1000 * (2 * 16 * 128 + 32 * 128 + 2 * 32) * 2);  // q, k of 16 heads, v of 32, beta and g
  EXPECT_TRUE(ledger_of(model_of("Llama-3.1-8B")).training.empty());
}

TEST(Ledger, TrainingInputsOfEveryRecurrence) {
  const auto inputs = [](const char* name) { return ledger_of(model_of(name), {.context = 1}).training.at(0).input_bytes / 2; };
  EXPECT_EQ(inputs("MiniMax-Text-01"), 70 * 3 * 64 * 128);
  EXPECT_EQ(inputs("RetNet-1.3B"), 24 * (2 * 2048 + 4096));
  EXPECT_EQ(inputs("DeltaNet-1.3B"), 24 * (3 * 2048 + 16));
  EXPECT_EQ(inputs("Kimi-Linear-48B-A3B"), 20 * (4 * 4096 + 32));
  EXPECT_EQ(inputs("RWKV-6-World-1.6B"), 24 * 4 * 2048);
  EXPECT_EQ(inputs("RWKV-7-World-2.9B"), 32 * 6 * 2560);
  EXPECT_EQ(inputs("Mamba-2.8B"), 64 * (2 * 5120 + 2 * 16));
  EXPECT_EQ(inputs("Mamba-2-780M"), 48 * (3072 + 48 + 2 * 128));
}

std::string refusal(const ModelLayers& model, const LedgerSettings& settings = {}) {
  const auto result = memory_ledger(model, settings);
  EXPECT_FALSE(result.ok());
  return result.status().message();
}

TEST(Ledger, RefusesByName) {
  const ModelLayers model = model_of("Llama-2-7B");
  EXPECT_EQ(refusal(model, {.context = 0}), "ledger: context is 0, must be from 1 to 1099511627776");
  EXPECT_EQ(refusal(model, {.batch = -1}), "ledger: batch is -1, must be from 1 to 1099511627776");
  EXPECT_EQ(refusal(model, {.precision = {.kv_bits = 0}}), "ledger: kv_bits is 0, must be from 1 to 64");
  EXPECT_EQ(refusal(model, {.block = 0}), "ledger: block is 0, must be from 1 to 1048576");
  EXPECT_EQ(refusal(model, {.context = std::int64_t{1} << 40, .batch = std::int64_t{1} << 40}),
            "ledger: the batch of 1099511627776: its bytes do not fit in 64 bits");
  const LayerShape huge{
      .kind = LayerKind::full_attention, .heads = std::int64_t{1} << 40, .key_width = std::int64_t{1} << 20, .value_width = 1};
  EXPECT_EQ(refusal({.groups = {{.shape = huge, .layers = 1, .where = "0"}}}),
            "ledger: full-attention, layers 0: its bytes do not fit in 64 bits");
  const LayerShape state{
      .kind = LayerKind::ssd, .heads = std::int64_t{1} << 40, .key_width = std::int64_t{1} << 20, .value_width = 1 << 20};
  EXPECT_EQ(refusal({.groups = {{.shape = state}}}), "ledger: ssd: its elements do not fit in 64 bits");
  EXPECT_EQ(refusal({.groups = {{.shape = {.kind = LayerKind::rwkv7, .heads = 4, .key_width = 0, .value_width = 2}}}}),
            "ledger: rwkv7: key_width is 0, must be at least 1");
  EXPECT_EQ(refusal({.groups = {{.shape = {.kind = LayerKind::window_attention, .heads = 4, .key_width = 1, .value_width = 2}}}}),
            "ledger: window-attention: window is 0, must be at least 1");
  EXPECT_EQ(refusal({.groups = {{.shape = {.kind = LayerKind::ssd, .heads = 4, .key_width = 1, .value_width = 2, .conv_channels = 3}}}}),
            "ledger: ssd: conv_channels is 3 and conv_width is 0, must both be 0 or both be at least 1");
  EXPECT_EQ(find_layer_kind("lstm").status().message().rfind("layer kind lstm is not one of full-attention, ", 0), 0u);
  EXPECT_EQ(dtype_bits("bf17").status().message(), "dtype bf17 is not one of f64, f32, bf16, f16, fp8, int8, fp4, int4");
  EXPECT_EQ(find_model("Llama").status().message().rfind("model Llama is not one of Qwen3-Next-80B-A3B, Llama-2-7B, ", 0), 0u);
}

TEST(Ledger, EveryKindHasANameThatFindsIt) {
  for (LayerKind kind : layer_kinds()) {
    const auto found = find_layer_kind(layer_kind_name(kind));
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found.value(), kind);
  }
  EXPECT_EQ(layer_kinds().size(), 16u);
}

}  // namespace
}  // namespace linearmem
