// The registry: what a mechanism declares holds, and everything it does not know is refused by name.
#include "linearmem/mechanisms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/named_inputs.hpp"

namespace linearmem {
namespace {

using test::filled;
using Shape = test::NamedShape;

NamedTensors gated_inputs() {
  return {{"q", filled({1, 5, 2, 3}, 1)},
          {"k", filled({1, 5, 2, 3}, 2)},
          {"v", filled({1, 5, 2, 4}, 3)},
          {"beta", filled({1, 5, 2}, 4, 0)},
          {"g", filled({1, 5, 2}, 5, -1, 0)}};
}

std::string refusal(const NamedTensors& inputs, const RunSettings& settings = {}) {
  return test::refusal("gated-delta-rule", inputs, settings);
}

std::string option_refusal(const char* key, const char* text) { return refusal(gated_inputs(), {.options = {{key, text}}}); }

TEST(Mechanisms, EachIsFoundByEitherSpellingAndDeclaresItself) {
  for (const Mechanism& mechanism : mechanisms()) {
    std::string underscored = mechanism.name;
    std::replace(underscored.begin(), underscored.end(), '-', '_');
    for (const std::string& name : {std::string(mechanism.name), underscored}) {
      const auto found = find_mechanism(name);
      ASSERT_TRUE(found.ok()) << found.status().message();
      EXPECT_EQ(found.value(), &mechanism);
    }
    EXPECT_FALSE(mechanism.inputs.empty());
    EXPECT_FALSE(mechanism.outputs.empty());
    EXPECT_NE(mechanism.run, nullptr);
  }
}

TEST(Mechanisms, UnknownMechanismListsTheKnownOnes) {
  const std::string message = test::refusal("delta-rul", {});
  EXPECT_NE(message.find("unknown mechanism \"delta-rul\"; known are "), std::string::npos) << message;
  for (const Mechanism& mechanism : mechanisms()) EXPECT_NE(message.find(mechanism.name), std::string::npos) << message;
}

TEST(Mechanisms, OutputsAreThoseDeclaredInTheComputeDtype) {
  const auto outputs = run_mechanism("gated-delta-rule", gated_inputs(), {.dtype = DType::f32});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  ASSERT_EQ(outputs.value().size(), 3u);
  EXPECT_EQ(outputs.value().at("o").shape, (Shape{1, 5, 2, 4}));
  EXPECT_EQ(outputs.value().at("reads").shape, (Shape{1, 5, 2, 4}));
  EXPECT_EQ(outputs.value().at("state").shape, (Shape{1, 2, 3, 4}));
  for (const auto& [name, tensor] : outputs.value()) EXPECT_EQ(tensor.dtype, DType::f32) << name;
}

TEST(Mechanisms, FullStrengthWriteIsReadBack) {
  const NamedTensors inputs = {{"q", to_named<double>({0.6, 0.8}, {1, 1, 1, 2})},
                               {"k", to_named<double>({0.6, 0.8}, {1, 1, 1, 2})},
                               {"v", to_named<double>({3, -1, 2}, {1, 1, 1, 3})},
                               {"beta", to_named<double>({1}, {1, 1, 1})}};
  const auto outputs = run_mechanism("delta_rule", inputs, {.options = {{"scale", "1"}}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  const auto o = floating_values<double>("o", outputs.value().at("o"));
  for (int j = 0; j < 3; ++j) EXPECT_NEAR(o.value()[j], (std::vector<double>{3, -1, 2})[j], 1e-15);
}

TEST(Mechanisms, OptionsReachTheDoor) {
  const auto plain = run_mechanism("gated-delta-rule", gated_inputs(), {});
  const auto doubled = run_mechanism("gated-delta-rule", gated_inputs(), {.options = {{"scale", "2e0"}}});
  const auto unset = run_mechanism("gated-delta-rule", gated_inputs(), {.options = {{"scale", "none"}, {"l2norm", "false"}}});
  const auto normed = run_mechanism("gated-delta-rule", gated_inputs(), {.options = {{"l2norm", "true"}}});
  ASSERT_TRUE(plain.ok() && doubled.ok() && unset.ok() && normed.ok());
  const auto at_default = floating_values<double>("o", plain.value().at("o")),
             at_two = floating_values<double>("o", doubled.value().at("o"));
  for (std::size_t i = 0; i < at_default.value().size(); ++i)
    EXPECT_NEAR(at_two.value()[i], at_default.value()[i] * 2 * std::sqrt(3.0), 1e-13) << i;
  EXPECT_EQ(unset.value().at("o").bytes, plain.value().at("o").bytes);
  EXPECT_NE(normed.value().at("state").bytes, plain.value().at("state").bytes);
}

TEST(Mechanisms, RefusesTensorsByName) {
  NamedTensors inputs = gated_inputs();
  inputs["alpha"] = inputs["g"];
  EXPECT_EQ(refusal(inputs), "gated-delta-rule: unknown tensor \"alpha\"; it takes q, k, v, beta, g, g_key, state, cu_seqlens");
  inputs = gated_inputs();
  inputs.erase("g");
  EXPECT_EQ(refusal(inputs), "gated-delta-rule: g is missing; it is [B,T,Hv], or g_key [B,T,Hv,K] in its place");
  inputs = gated_inputs();
  inputs["q"] = filled({5, 2, 3}, 1);
  EXPECT_EQ(refusal(inputs), "gated-delta-rule: q is [B,T,H,K], 4 axes; the tensor has 3");
  inputs = gated_inputs();
  inputs["k"] = filled({1, 5, 2, 33}, 1);
  EXPECT_EQ(refusal(inputs), "gated-delta-rule: K differs: q has 3, k has 33");
  inputs = gated_inputs();
  inputs["beta"] = to_named(std::vector<std::int64_t>(10), {1, 5, 2});
  EXPECT_EQ(refusal(inputs), "gated-delta-rule: beta must be floating (F64, F32, BF16, F16); the tensor is I64");
  inputs = gated_inputs();
  inputs["cu_seqlens"] = to_named(std::vector<double>{0, 5}, {2});
  EXPECT_EQ(refusal(inputs), "gated-delta-rule: cu_seqlens must be integer (I64, I32); the tensor is F64");
  inputs = gated_inputs();
  inputs["v"].bytes.pop_back();
  EXPECT_EQ(refusal(inputs), "gated-delta-rule: v needs 320 bytes for its shape; the tensor has 319");
  inputs = gated_inputs();
  inputs["cu_seqlens"] = to_named(std::vector<std::int64_t>{}, {0});
  EXPECT_NE(refusal(inputs).find("cu_seqlens is empty"), std::string::npos) << refusal(inputs);
  inputs["cu_seqlens"] = to_named(std::vector<std::int64_t>{0, 3, 2, 5}, {4});
  EXPECT_NE(refusal(inputs).find("cu_seqlens falls at entry 2"), std::string::npos) << refusal(inputs);
}

TEST(Mechanisms, RefusesOptionsByName) {
  EXPECT_EQ(option_refusal("sale", "1"),
            "gated-delta-rule: unknown option \"sale\"; it has scale, l2norm, state_dtype, checkpoint_every, allow_growth, audit");
  for (const char* text : {"", "1.5x", "inf", "nan", "0x10", "1e999", "1 ", "--1"})
    EXPECT_EQ(option_refusal("scale", text), "gated-delta-rule: option scale takes a number or none, got \"" + std::string(text) + "\"");
  for (const char* text : {"", "1", "True", "none"})
    EXPECT_EQ(option_refusal("l2norm", text), "gated-delta-rule: option l2norm takes true or false, got \"" + std::string(text) + "\"");
}

TEST(Mechanisms, RefusesFormsAndChunks) {
  const Mechanism& mechanism = *find_mechanism("gated-delta-rule").value();
  EXPECT_EQ(find_form(mechanism, "blocked").status().message(),
            "gated-delta-rule: unknown form \"blocked\"; it has automatic, reference, recurrent, chunked, explicit");
  EXPECT_EQ(refusal(gated_inputs(), {.form = Form::streaming}),
            "gated-delta-rule: has no form streaming; it has automatic, reference, recurrent, chunked, explicit");
  EXPECT_EQ(refusal(gated_inputs(), {.form = Form::recurrent, .chunk = 4}),
            "gated-delta-rule: chunk is 4 but the form is recurrent; only form chunked has chunks");
  EXPECT_EQ(refusal(gated_inputs(), {.form = Form::chunked, .chunk = -4}), "gated-delta-rule: chunk is -4; it counts tokens, 1 or more");
}

TEST(Mechanisms, DtypeIsSharedOrSaid) {
  NamedTensors inputs = gated_inputs();
  inputs["k"] = filled<float>({1, 5, 2, 3}, 2);
  EXPECT_EQ(refusal(inputs), "gated-delta-rule: beta is F64 and k is F32; set dtype to f32 or f64");
  EXPECT_EQ(refusal(inputs, {.dtype = DType::f64}), "accepted");
  EXPECT_EQ(refusal(inputs, {.dtype = DType::bf16}), "gated-delta-rule: cannot compute in BF16; dtype is f32 or f64");
  for (auto& [name, tensor] : inputs) {
    tensor.dtype = DType::bf16;
    tensor.bytes.resize(static_cast<std::size_t>(tensor.size()) * 2);
  }
  EXPECT_EQ(refusal(inputs), "gated-delta-rule: the inputs are BF16; set dtype to f32 or f64");
  EXPECT_EQ(find_compute_dtype("f16").status().message(), "unknown dtype \"f16\"; known are f32, f64");
  EXPECT_EQ(find_compute_dtype("f32").value(), DType::f32);
}

}  // namespace
}  // namespace linearmem
