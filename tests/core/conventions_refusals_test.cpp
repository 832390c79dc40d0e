// What the adapters refuse, by name: the small cases with something changed.
#include <gtest/gtest.h>

#include "core/convention_cases.hpp"

namespace linearmem {
namespace {

using test::ConventionCase;

// The small case without or with other tensors and options.
std::string refusal(const char* convention, const char* mechanism, const std::function<void(NamedTensors&)>& change,
                    std::map<std::string, std::string> options = {}) {
  for (const ConventionCase& c : test::convention_cases())
    if (c.convention == std::string(convention) && c.mechanism == std::string(mechanism)) {
      NamedTensors inputs = test::small_inputs(c);
      change(inputs);
      std::map<std::string, std::string> all = c.options;
      for (const auto& [name, text] : options)
        if (text.empty()) all.erase(name);
        else all[name] = text;
      const auto outputs = run_mechanism(test::mechanism_of(convention, mechanism), inputs, {.options = all});
      return outputs.ok() ? "not refused" : outputs.status().message();
    }
  return "no such case";
}

std::function<void(NamedTensors&)> without(const char* name) {
  return [name](NamedTensors& inputs) { inputs.erase(name); };
}

std::function<void(NamedTensors&)> with(const char* name, std::vector<std::int64_t> shape, double value = 0.5) {
  return [=](NamedTensors& inputs) {
    std::int64_t count = 1;
    for (std::int64_t extent : shape) count *= extent;
    inputs[name] = to_named(std::vector<double>(static_cast<std::size_t>(count), value), shape);
  };
}

const auto kAsItIs = [](NamedTensors&) {};

TEST(ConventionsRefusals, WhatARuleMustAndMustNotReceive) {
  EXPECT_EQ(refusal("onnx", "linear-attention", kAsItIs, {{"update_rule", "linear"}}), "onnx linear-attention: decay is given, but update_rule linear takes none");
  EXPECT_EQ(refusal("onnx", "linear-attention", without("decay")),
            "onnx linear-attention: decay is missing; update_rule gated needs it, [B,T,Hkv] or [B,T,Hkv*K]");
  EXPECT_EQ(refusal("onnx", "linear-attention", with("beta", {1, 3, 2})), "onnx linear-attention: beta is given, but update_rule gated takes none");
  EXPECT_EQ(refusal("onnx", "delta-rule", with("decay", {1, 3, 2})), "onnx delta-rule: decay is given, but update_rule delta takes none");
  EXPECT_EQ(refusal("onnx", "delta-rule", without("beta")), "onnx delta-rule: beta is missing; update_rule delta needs it, [B,T,Hkv] or [B,T,1]");
  EXPECT_EQ(refusal("onnx", "gated-delta-rule", without("decay")),
            "onnx gated-delta-rule: decay is missing; update_rule gated_delta needs it, [B,T,Hkv] or [B,T,Hkv*K]");
  EXPECT_EQ(refusal("onnx", "gated-delta-rule", without("beta")),
            "onnx gated-delta-rule: beta is missing; update_rule gated_delta needs it, [B,T,Hkv] or [B,T,1]");
  EXPECT_EQ(refusal("onnx", "delta-rule", kAsItIs, {{"update_rule", "gated_delta"}}),
            "onnx delta-rule: option update_rule takes one of delta, got \"gated_delta\"");
  EXPECT_EQ(refusal("fla", "gated-delta-rule", without("g")),
            "fla gated-delta-rule: g is missing; it is [B,T,HV], or gk [B,T,HV,K] in its place; without a gate this is delta-rule");
  EXPECT_EQ(refusal("mlx", "gated-delta-rule", with("A_log", {4})),
            "mlx gated-delta-rule: g is given beside a, b, A_log or dt_bias, which stand for it");
  EXPECT_EQ(refusal("mlx", "gated-delta-rule", without("beta")), "mlx gated-delta-rule: beta is missing; the gates are g and beta, or a, b, A_log and dt_bias");
  EXPECT_EQ(refusal("flashinfer", "gated-delta-rule", without("cu_seqlens")), "flashinfer gated-delta-rule: cu_seqlens is missing; it is [N+1]");
  EXPECT_EQ(refusal("ggml", "gated-delta-rule", without("state")), "ggml gated-delta-rule: state is missing; it is [B,Hv,V,K]");
  EXPECT_EQ(refusal("ggml", "linear-attention", kAsItIs, {{"scale", ""}}), "ggml linear-attention: option scale is missing; it has no default");
}

TEST(ConventionsRefusals, AxesAndHeads) {
  EXPECT_EQ(refusal("onnx", "delta-rule", kAsItIs, {{"q_num_heads", ""}}), "onnx delta-rule: option q_num_heads is missing; it is the number of heads Hq");
  EXPECT_EQ(refusal("onnx", "delta-rule", kAsItIs, {{"kv_num_heads", "0"}}), "onnx delta-rule: option kv_num_heads is 0, must be 1 or more");
  EXPECT_EQ(refusal("onnx", "delta-rule", kAsItIs, {{"q_num_heads", "3"}}),
            "onnx delta-rule: query has 8 in an axis that holds K for each of Hq = 3");
  EXPECT_EQ(refusal("onnx", "delta-rule", kAsItIs, {{"q_num_heads", "8"}}), "onnx delta-rule: K differs: query has 1, key has 2");
  EXPECT_EQ(refusal("onnx", "delta-rule", with("query", {1, 3, 6}), {{"q_num_heads", "3"}}),
            "onnx delta-rule: Hq = 3 is not a multiple of Hkv = 2 (q_num_heads, kv_num_heads)");
  EXPECT_EQ(refusal("onnx", "gated-delta-rule", with("decay", {1, 3, 3})),
            "onnx gated-delta-rule: decay is [1,3,3], must be [B,T,Hkv] or [B,T,Hkv*K]; B = 1, Hkv = 2, Hq = 4, K = 2, T = 3, V = 3");
  EXPECT_EQ(refusal("onnx", "delta-rule", with("query", {3, 8})), "onnx delta-rule: query is [B,T,Hq*K], 3 axes; the tensor has 2");
  EXPECT_EQ(refusal("onnx", "causal-conv", with("weight", {2, 2, 3})), "onnx causal-conv: weight has 2 where an axis of size 1 is");
  EXPECT_EQ(refusal("ggml", "gated-delta-rule", [](NamedTensors& inputs) {
              inputs["v"] = to_named(std::vector<double>(24, 0.5), {1, 3, 4, 2});
              inputs["state"] = to_named(std::vector<double>(24, 0.5), {1, 4, 2, 3});
            }), "ggml gated-delta-rule: K is 3 and V is 2; its state is square");
  EXPECT_EQ(refusal("ggml", "causal-conv", with("sx", {1, 2, 1})),
            "ggml causal-conv: sx has 1 inputs for each channel, c has W = 3; it holds the W - 1 kept ones and the new");
  EXPECT_EQ(refusal("fla", "delta-rule", with("k", {1, 3, 2, 3})), "fla delta-rule: K differs: q has 2, k has 3");
}

TEST(ConventionsRefusals, NamesKindsAndNumbers) {
  EXPECT_EQ(refusal("fla", "delta-rule", with("g", {1, 3, 2})),
            "fla delta-rule: unknown tensor \"g\"; it takes q, k, v, beta, initial_state, cu_seqlens");
  EXPECT_EQ(refusal("fla", "delta-rule", kAsItIs, {{"l2norm", "true"}}), "fla delta-rule: unknown option \"l2norm\"; it has scale, use_qk_l2norm_in_kernel");
  EXPECT_EQ(refusal("mlx", "gated-delta-rule", kAsItIs, {{"scale", "1"}}), "mlx gated-delta-rule: unknown option \"scale\"; it has rms_norm");
  EXPECT_EQ(refusal("mlx", "gated-delta-rule", with("g", {1, 3, 4}, -0.25)),
            "mlx gated-delta-rule: g: element 0 is -0.25; a decay factor is 0 or above");
  EXPECT_NE(refusal("mlx", "gated-delta-rule", with("g", {1, 3, 4}, 1.5)).find("unless allow_growth is set"), std::string::npos);
  EXPECT_EQ(refusal("mlx", "gated-delta-rule", with("g", {1, 3, 4}, 1.5), {{"allow_growth", "true"}}), "not refused");
  EXPECT_EQ(refusal("fla", "delta-rule", [](NamedTensors& inputs) { inputs["beta"] = to_named<std::int64_t>({1, 1, 1, 1, 1, 1}, {1, 3, 2}); }),
            "fla delta-rule: beta must be floating (F64, F32, BF16, F16); the tensor is I64");
  EXPECT_EQ(refusal("fla", "delta-rule", [](NamedTensors& inputs) { inputs["beta"].bytes.pop_back(); }),
            "fla delta-rule: beta needs 48 bytes for its shape; the tensor has 47");
  EXPECT_EQ(find_convention("flax").status().message(),
            "unknown convention \"flax\"; known are linearmem, fla, onnx, onnxruntime, ggml, mlx, flashinfer, flashinfer-decode");
  EXPECT_EQ(find_mechanism(*find_convention("onnx").value(), "ssd").status().message(),
            "convention onnx has no ssd; it has linear-attention, delta-rule, gated-delta-rule, causal-conv");
}

// Ours that cannot be said there.
TEST(ConventionsRefusals, TheWayBack) {
  const auto back = [](const char* convention, const char* mechanism, const NamedTensors& ours, const std::map<std::string, std::string>& options) {
    const auto theirs = from_native(test::mechanism_of(convention, mechanism), ours, {.options = options});
    return theirs.ok() ? std::string("not refused") : theirs.status().message();
  };
  const auto tensor = [](std::vector<std::int64_t> shape, std::vector<double> values) { return to_named(values, std::move(shape)); };
  const NamedTensors two = {{"q", tensor({1, 1, 2, 1}, {1, 2})}, {"k", tensor({1, 1, 2, 1}, {1, 1})}, {"v", tensor({1, 1, 2, 1}, {1, 1})},
                            {"beta", tensor({1, 1, 2}, {1, 0.5})}};
  EXPECT_EQ(back("onnx", "delta-rule", two, {{"q_num_heads", "2"}, {"kv_num_heads", "1"}}),
            "onnx delta-rule: beta differs between heads that share one beta there");
  EXPECT_EQ(back("onnx", "delta-rule", two, {{"q_num_heads", "2"}, {"kv_num_heads", "2"}}), "not refused");
  NamedTensors gated = two;
  gated["g"] = tensor({1, 1, 2}, {-1, 0});
  EXPECT_EQ(back("mlx", "gated-delta-rule", gated, {{"rms_norm", "true"}}), "mlx gated-delta-rule: option rms_norm cannot be undone: a norm forgets lengths");
  gated["state"] = tensor({1, 2, 1, 1}, {0, 0});
  EXPECT_EQ(back("flashinfer-decode", "gated-delta-rule", gated, {}),
            "flashinfer-decode gated-delta-rule: -g: element 1 is -0; a softplus gives numbers above 0 only");
  gated["g"] = tensor({1, 1, 2}, {-1, -1});
  EXPECT_EQ(back("flashinfer-decode", "gated-delta-rule", gated, {}),
            "flashinfer-decode gated-delta-rule: beta: element 0 is 1; a sigmoid gives numbers between 0 and 1 only");
  gated.erase("state");
  EXPECT_EQ(back("ggml", "gated-delta-rule", gated, {}), "ggml gated-delta-rule: state is missing; it is [B,Hv,V,K]");
  EXPECT_EQ(back("ggml", "gated-delta-rule", {{"v", tensor({1, 1, 2, 1}, {1, 1})}}, {}),
            "ggml gated-delta-rule: H cannot be told from the tensors given; v needs it");
}

}  // namespace
}  // namespace linearmem
