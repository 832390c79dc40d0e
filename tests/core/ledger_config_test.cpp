// Configurations as they are published, and as they should not be: each dialect, defaults that are said, refusals by name, limits.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "linearmem/ledger.hpp"

namespace linearmem {
namespace {

ModelLayers read(const std::string& json) {
  auto result = read_model_config(json);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? std::move(result).value() : ModelLayers{};
}

std::string refused(const std::string& json) {
  const auto result = read_model_config(json);
  EXPECT_FALSE(result.ok()) << json.substr(0, 200);
  return result.status().message();
}

std::vector<std::string> said(const ModelLayers& model) {
  std::vector<std::string> texts;
  for (const Assumption& assumption : model.assumed) texts.push_back(assumption_text(assumption));
  return texts;
}

const std::string kLlama = R"("model_type":"llama","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4)";

TEST(LedgerConfig, DefaultsAreSaid) {
  const ModelLayers model = read("{" + kLlama + "}");
  ASSERT_EQ(model.groups.size(), 1u);
  EXPECT_EQ(model.groups[0].shape, (LayerShape{.kind = LayerKind::full_attention, .heads = 4, .key_width = 16, .value_width = 16}));
  EXPECT_EQ(model.groups[0].where, "0-1");
  EXPECT_EQ(said(model), std::vector<std::string>{"num_key_value_heads = 4"});
  EXPECT_EQ(model.assumed, (std::vector<Assumption>{{.field = "num_key_value_heads", .number = 4}}));
}

TEST(LedgerConfig, ALanguageModelWithinAndFieldsNobodyAskedFor) {
  const ModelLayers model =
      read(R"({"architectures":["Gemma3ForConditionalGeneration"],"model_type":"gemma3","vision_config":{"hidden_size":1152},
    "text_config":{"hidden_size":2560,"num_hidden_layers":34,"sliding_window":1024,"rope_scaling":{"factor":8.0,"rope_type":"linear"}}})");
  EXPECT_EQ(model.model_type, "gemma3_text");
  ASSERT_EQ(model.groups.size(), 2u);
  EXPECT_EQ(model.groups[0].shape.kind, LayerKind::window_attention);
  EXPECT_EQ(model.groups[0].layers, 29);
  EXPECT_EQ(model.groups[1].layers, 5);
  EXPECT_EQ(model.groups[1].shape.key_width, 256);
  const std::vector<std::string> assumed = {"num_attention_heads = 8", "num_key_value_heads = 4", "head_dim = 256",
                                            "sliding_window_pattern = 6", "layer_types: of every 6 layers the last has full attention"};
  EXPECT_EQ(said(model), assumed);
  EXPECT_EQ(model.assumed.back(), (Assumption{Assumption::Rule::last_of_every, "layer_types", 6}));
}

TEST(LedgerConfig, EveryRuleOfADefaultIsSaidInItsOwnWords) {
  const auto last = [](const std::string& json) { return said(read("{" + json + "}")).back(); };
  const std::string sizes = R"("hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,)";
  EXPECT_EQ(last(sizes + R"("model_type":"mistral")"), "layer_types: a window in every layer");
  EXPECT_EQ(last(sizes + R"("model_type":"qwen2","sliding_window":7,"use_sliding_window":true,"max_window_layers":3)"),
            "layer_types: a window from layer 3 on");
  EXPECT_EQ(last(sizes + R"("model_type":"minimax","head_dim":16)"), "layer_types: full and linear attention by turns");
  EXPECT_EQ(last(sizes + R"("model_type":"lfm2","conv_L_cache":3,"full_attn_idxs":[1])"), "layer_types: as full_attn_idxs says");
  EXPECT_EQ(last(R"("model_type":"kimi_linear","num_hidden_layers":2,"hidden_size":64,"num_attention_heads":4,"kv_lora_rank":16,
    "qk_rope_head_dim":8,"linear_attn_config":{"num_heads":4,"head_dim":16,"kda_layers":[1],"full_attn_layers":[2]})"),
            "linear_attn_config.short_conv_kernel_size = 4");
}

TEST(LedgerConfig, WindowsAreReadAsEachFamilyMeansThem) {
  const std::string sizes = R"("hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2)";
  const auto windows = [&](const std::string& more) {
    std::int64_t count = 0;
    for (const LayerGroup& group : read("{" + sizes + "," + more + "}").groups)
      if (group.shape.kind == LayerKind::window_attention) count += group.layers;
    return count;
  };
  EXPECT_EQ(windows(R"("model_type":"mistral","sliding_window":null)"), 0);
  EXPECT_EQ(windows(R"("model_type":"mistral")"), 4);
  EXPECT_EQ(windows(R"("model_type":"mixtral")"), 0);
  EXPECT_EQ(windows(R"("model_type":"llama","sliding_window":7)"), 0);
  EXPECT_EQ(windows(R"("model_type":"qwen2","sliding_window":7,"use_sliding_window":false,"max_window_layers":3)"), 0);
  EXPECT_EQ(windows(R"("model_type":"qwen2","sliding_window":7,"use_sliding_window":true,"max_window_layers":3)"), 1);
  EXPECT_EQ(windows(R"("model_type":"gemma2")"), 2);
  EXPECT_EQ(
      windows(R"("model_type":"gemma2","layer_types":["sliding_attention","sliding_attention","sliding_attention","full_attention"])"), 3);
}

TEST(LedgerConfig, DialectsOfOneModelAgree) {
  const auto same = [](const std::string& a, const std::string& b) {
    const ModelLayers one = read(a), other = read(b);
    ASSERT_EQ(one.groups.size(), other.groups.size());
    for (std::size_t i = 0; i < one.groups.size(); ++i) {
      EXPECT_EQ(one.groups[i].shape, other.groups[i].shape);
      EXPECT_EQ(one.groups[i].layers, other.groups[i].layers);
    }
  };
  same(R"({"model_type":"nemotron_h","hybrid_override_pattern":"M-*EM","num_attention_heads":8})",
       R"({"model_type":"nemotron_h","layers_block_type":["mamba","mlp","attention","moe","linear_attention"],"num_attention_heads":8})");
  same(R"({"model_type":"rwkv6","hidden_size":256,"num_hidden_layers":3,"head_size":64,"num_attention_heads":64})",
       R"({"model_type":"rwkv6","hidden_size":256,"num_hidden_layers":3,"num_heads":4,"expand_k":1.0,"expand_v":1.0})");
  same(R"({"model_type":"retnet","hidden_size":256,"num_hidden_layers":3,"num_heads":4})",
       R"({"model_type":"retnet","decoder_embed_dim":256,"decoder_value_embed_dim":512,"decoder_layers":3,"decoder_retention_heads":4})");
  same(
      R"({"model_type":"mamba","hidden_size":256,"num_hidden_layers":3,"expand":2})",
      R"({"model_type":"falcon_mamba","hidden_size":256,"intermediate_size":512,"expand":16,"num_hidden_layers":3,
       "state_size":16,"conv_kernel":4})");
  same(
      R"({"model_type":"minimax","hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2})",
      R"({"model_type":"minimax_text_01","hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,
       "attn_type_list":[1,0,1,0]})");
}

TEST(LedgerConfig, AttentionWithinARecurrentModel) {
  const ModelLayers model = read(R"({"model_type":"delta_net","hidden_size":256,"num_hidden_layers":4,"num_heads":4,
    "attn":{"layers":[1,3],"num_heads":8,"num_kv_heads":2,"window_size":128}})");
  ASSERT_EQ(model.groups.size(), 2u);
  EXPECT_EQ(model.groups[1].shape,
            (LayerShape{.kind = LayerKind::window_attention, .heads = 2, .key_width = 32, .value_width = 32, .window = 128}));
  EXPECT_EQ(model.groups[1].where, "1, 3");
  EXPECT_EQ(refused(R"({"model_type":"delta_net","hidden_size":256,"num_hidden_layers":4,"num_heads":4,"attn":{"num_heads":8}})"),
            "config: model_type delta_net: attn.layers is missing, and would decide what is kept");
}

TEST(LedgerConfig, AModelWithoutAttentionIsComparedWithItsWidth) {
  const ModelLayers model = read(R"({"model_type":"rwkv7","hidden_size":256,"num_hidden_layers":3})");
  ASSERT_TRUE(model.full_attention.has_value());
  EXPECT_EQ(model.full_attention->key_width + model.full_attention->value_width, 512);
  EXPECT_EQ(said(model).back(), "full attention to compare with: K and V of the model's width, 256");
}

TEST(LedgerConfig, AListByHand) {
  const ModelLayers model = read(R"({"hidden_size":1024,"layers":[
    {"kind":"gated-delta-rule","layers":18,"heads":16,"key_width":128,"value_width":128,"conv_channels":6144,"conv_width":4},
    {"kind":"linear-attention","layers":3,"heads":8,"key_width":64,"value_width":64,"normalizer":true},
    {"kind":"latent-attention","layers":6,"key_width":512,"rope_width":64}]})");
  EXPECT_EQ(model.mixers, 27);
  ASSERT_EQ(model.groups.size(), 3u);
  EXPECT_EQ(model.groups[0].shape.conv_channels, 6144);
  EXPECT_TRUE(model.groups[1].shape.normalizer);
  EXPECT_EQ(model.full_attention, model.groups[2].shape);
  EXPECT_EQ(refused(R"({"layers":[]})"), "config: layers is empty, must list at least one layer");
  EXPECT_EQ(refused(R"({"layers":[7]})"), "config: layers[0] is 7, must be an object");
  EXPECT_EQ(refused(R"({"layers":[{"kind":"ssd","head":7}]})").rfind("config: layers[0].head is not one of kind, layers, ", 0), 0u);
  EXPECT_EQ(refused(R"({"layers":[{"heads":7}]})"), "config: model_type of layers[0]: kind is missing, and would decide what is kept");
  EXPECT_EQ(refused(R"({"layers":[{"kind":"ssd","heads":7}]})"), "config: layers[0]: ledger: ssd: key_width is 0, must be at least 1");
  EXPECT_EQ(refused(R"({"layers":[{"kind":"lstm"}]})")
                .rfind("config: model_type of layers[0]: kind: layer kind lstm is not one of full-attention, ", 0),
            0u);
}

TEST(LedgerConfig, DefaultsOfOneArchitectureAreNotThoseOfItsSuccessors) {
  EXPECT_EQ(read(R"({"model_type":"qwen3_next","hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":16})").groups.size(), 2u);
  EXPECT_EQ(refused(R"({"model_type":"qwen3_5_text","hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":16})"),
            "config: model_type qwen3_5_text: linear_num_key_heads, linear_num_value_heads, linear_key_head_dim, linear_value_head_dim, "
            "linear_conv_kernel_dim, full_attention_interval are missing, and would decide what is kept");
}

TEST(LedgerConfig, MissingFieldsAreNamedTogether) {
  EXPECT_EQ(refused(R"({"model_type":"llama"})"),
            "config: model_type llama: num_hidden_layers, num_attention_heads, hidden_size are missing, and would decide what is kept");
  EXPECT_EQ(refused(R"({"model_type":"deepseek_v3","num_hidden_layers":61})"),
            "config: model_type deepseek_v3: kv_lora_rank, qk_rope_head_dim are missing, and would decide what is kept");
  EXPECT_EQ(
      refused(
          R"({"model_type":"kimi_linear","num_hidden_layers":4,"kv_lora_rank":8,"qk_rope_head_dim":4,
           "linear_attn_config":{"head_dim":4}})"),
      "config: model_type kimi_linear: linear_attn_config.num_heads, linear_attn_config.kda_layers are missing, and would decide what is "
      "kept");
  EXPECT_EQ(refused("{}").rfind("config: model_type is missing. What would decide it: num_hidden_layers, ", 0), 0u);
  const std::string unknown = refused(R"({"model_type":"perceiver"})");
  EXPECT_EQ(unknown.rfind("config: model_type perceiver is not one of llama, mistral, ", 0), 0u);
  EXPECT_NE(unknown.find("What would decide it: num_hidden_layers"), std::string::npos);
  EXPECT_EQ(refused(R"({"model_type":"zamba2","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"n_mamba_heads":2})"),
            "config: model_type zamba2: layers_block_type is missing, and would decide what is kept");
}

TEST(LedgerConfig, WrongTypesAndAbsurdSizesAreRefusedByName) {
  const auto with = [](const std::string& field) {
    return refused("{" + field + R"(,"model_type":"llama","hidden_size":64,"num_attention_heads":4})");
  };
  const std::string head = "config: model_type llama: ";
  EXPECT_EQ(with(R"("num_hidden_layers":1000000000)"), head + "num_hidden_layers is 1000000000, must be a whole number from 1 to 10000");
  EXPECT_EQ(with(R"("num_hidden_layers":0)"), head + "num_hidden_layers is 0, must be a whole number from 1 to 10000");
  EXPECT_EQ(with(R"("num_hidden_layers":-3)"), head + "num_hidden_layers is -3, must be a whole number from 1 to 10000");
  EXPECT_EQ(with(R"("num_hidden_layers":2.5)"), head + "num_hidden_layers is 2.5, must be a whole number from 1 to 10000");
  EXPECT_EQ(with(R"("num_hidden_layers":"32")"), head + "num_hidden_layers is the text \"32\", must be a whole number from 1 to 10000");
  EXPECT_EQ(with(R"("num_hidden_layers":[32])"), head + "num_hidden_layers is a list, must be a whole number from 1 to 10000");
  EXPECT_EQ(with(R"("num_hidden_layers":1e400)"), head + "num_hidden_layers is inf, must be a whole number from 1 to 10000");
  EXPECT_EQ(with(R"("num_hidden_layers":99999999999999999999)"),
            head + "num_hidden_layers is 1e+20, must be a whole number from 1 to 10000");
  EXPECT_EQ(with(R"("num_hidden_layers":null)"), head + "num_hidden_layers is missing, and would decide what is kept");
  EXPECT_EQ(with(R"("num_hidden_layers":2,"num_key_value_heads":3)"),
            head + "num_attention_heads is 4, must be a multiple of num_key_value_heads, which is 3");
  EXPECT_EQ(refused(R"({"model_type":"llama","hidden_size":65,"num_hidden_layers":2,"num_attention_heads":4})"),
            head + "hidden_size is 65, must be a multiple of num_attention_heads, which is 4");
  EXPECT_EQ(refused(R"({"model_type":7})"), "config: model_type is 7, must be a text");
  EXPECT_EQ(refused("[]"), "config: it is a list, must be an object");
  EXPECT_EQ(refused(R"({"model_type":"mamba","hidden_size":64,"num_hidden_layers":2,"expand":1e9})"),
            "config: model_type mamba: expand is 1e+09, must be a number above 0 and at most 1024");
}

TEST(LedgerConfig, LayerListsAreHeldToTheNumberOfLayers) {
  const std::string qwen = R"({"model_type":"qwen3_next","hidden_size":64,"num_hidden_layers":3,"num_attention_heads":4,"layer_types":)";
  EXPECT_EQ(refused(qwen + "[]}"), "config: model_type qwen3_next: layer_types names 0 layers, must name 3");
  EXPECT_EQ(refused(qwen + R"(["full_attention"]})"), "config: model_type qwen3_next: layer_types names 1 layers, must name 3");
  EXPECT_EQ(refused(qwen + R"(["full_attention","linear_attention","mamba"]})"),
            "config: model_type qwen3_next: layer_types[2] is \"mamba\", must be one of linear_attention, full_attention");
  EXPECT_EQ(refused(qwen + R"(["full_attention",1,"mamba"]})"), "config: model_type qwen3_next: layer_types[1] is 1, must be a text");
  EXPECT_EQ(refused(R"({"model_type":"nemotron_h","hybrid_override_pattern":"M*?","num_attention_heads":4})"),
            "config: model_type nemotron_h: hybrid_override_pattern has \"?\" at 2, must be of M, *, - and E");
  EXPECT_EQ(refused(R"({"model_type":"nemotron_h","hybrid_override_pattern":"M*","num_hidden_layers":3,"num_attention_heads":4})"),
            "config: model_type nemotron_h: hybrid_override_pattern names 2 layers, must name 3");
  EXPECT_EQ(
      refused(
          R"({"model_type":"bamba","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":4,
           "mamba_n_heads":4,"attn_layer_indices":[5]})"),
      "config: model_type bamba: attn_layer_indices[0] is 5, must be a whole number from 0 to 1");
  EXPECT_EQ(
      refused(
          R"({"model_type":"jamba","hidden_size":64,"num_hidden_layers":9,"num_attention_heads":8,"attn_layer_period":4,
           "attn_layer_offset":4})"),
      "config: model_type jamba: attn_layer_offset is 4, must be below attn_layer_period, which is 4");
}

TEST(LedgerConfig, ReadsJsonStrictlyAndPythonsInfinity) {
  EXPECT_EQ(read("{" + kLlama + R"(,"time_step_limit":[0.0,Infinity],"x":-Infinity,"y":NaN,"z":"\u00e9\ud83d\ude00\n"} )" + "\n").mixers,
            2);
  const auto at = [](const std::string& json) { return refused(json); };
  EXPECT_EQ(at(""), "config: offset 0: the text ends where a value should stand");
  EXPECT_EQ(at("{\"a\":1,}"), "config: offset 7: an object's name is a text");
  EXPECT_EQ(at("{\"a\":1 \"b\":2}"), "config: offset 7: an object goes on with , or ends with }");
  EXPECT_EQ(at("{\"a\":[1 2]}"), "config: offset 8: a list goes on with , or ends with ]");
  EXPECT_EQ(at("{\"a\":01}"), "config: offset 5: a number starts with 0");
  EXPECT_EQ(at("{\"a\":+1}"), "config: offset 5: no value starts here");
  EXPECT_EQ(at("{\"a\":1.}"), "config: offset 7: no digit after the point");
  EXPECT_EQ(at("{\"a\":\"\t\"}"), "config: offset 6: a control character in a text");
  EXPECT_EQ(at("{\"a\":\"\\x\"}"), "config: offset 7: an unknown escape");
  EXPECT_EQ(at("{\"a\":\"\\ud800\"}"), "config: offset 12: half of a surrogate pair");
  EXPECT_EQ(at("{\"a\":\"\xc0\xaf\"}"), "config: offset 6: not UTF-8");
  EXPECT_EQ(at("{\"a\":\"b"), "config: offset 7: the text ends within a text");
  EXPECT_EQ(at("{\"a\":1}}"), "config: offset 7: something follows the value");
  EXPECT_EQ(at("{\"a\":1,\"b\":2,\"a\":3}"), "config: offset 19: before here \"a\" is given twice");
  EXPECT_EQ(at("<html>"), "config: offset 0: no value starts here");
  EXPECT_EQ(at(std::string("{\"a\":\0}", 7)), "config: offset 5: no value starts here");
}

TEST(LedgerConfig, HugeFilesAreRefusedAtOnce) {
  const auto timed = [](const std::string& json) {
    const auto start = std::chrono::steady_clock::now();
    const std::string words = refused(json);
    RecordProperty("milliseconds",
                   static_cast<int>(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()));
    return words;
  };
  EXPECT_EQ(timed(std::string(10 << 20, '[')), "config: it has 10485760 bytes, at most 4194304 are read");
  EXPECT_EQ(timed(std::string(4 << 20, '[')), "config: offset 32: nested more than 32 deep");
  std::string objects;
  for (int i = 0; i < 800000; ++i) objects += "{\"\":";
  EXPECT_EQ(timed(objects), "config: offset 128: nested more than 32 deep");
  std::string zeros = "[";
  for (int i = 0; i < 2000000; ++i) zeros += "0,";
  EXPECT_EQ(timed(zeros), "config: offset 399999: more than 200000 values");
  EXPECT_EQ(timed("{\"a\":" + std::string(4000000, '1') + "}"), "config: offset 5: a number of more than 400 digits");
}

}  // namespace
}  // namespace linearmem
