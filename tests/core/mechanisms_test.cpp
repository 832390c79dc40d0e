// The registry: what a mechanism declares holds, and everything it does not know is refused by name.
#include "linearmem/mechanisms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "core/support.hpp"

namespace linearmem {
namespace {

using Shape = std::vector<std::int64_t>;

template <typename T = double>
NamedTensor filled(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1) {
  test::Numbers numbers(seed);
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(numbers.uniform(low, high));
  return to_named(values, shape);
}

NamedTensors gated_inputs() {
  return {{"q", filled({1, 5, 2, 3}, 1)},
          {"k", filled({1, 5, 2, 3}, 2)},
          {"v", filled({1, 5, 2, 4}, 3)},
          {"beta", filled({1, 5, 2}, 4, 0)},
          {"g", filled({1, 5, 2}, 5, -1, 0)}};
}

std::string refusal(const NamedTensors& inputs, const RunSettings& settings = {}, const char* name = "gated-delta-rule") {
  const auto outputs = run_mechanism(name, inputs, settings);
  return outputs.ok() ? "accepted" : outputs.status().message();
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
  const std::string message = refusal({}, {}, "delta-rul");
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

// Log decays are at most 0; everything else is above.
NamedTensor values_for(const std::string& name, const Shape& shape, std::uint64_t seed) {
  const bool decay = name == "g" || name == "g_key" || name == "A";
  return filled(shape, seed, decay ? -1 : 0.1, decay ? 0 : 1);
}

// Inputs that any mechanism takes, every optional tensor among them but g_key, which g excludes.
NamedTensors inputs_for(const Mechanism& mechanism) {
  const std::map<std::string, std::int64_t> sizes = {{"B", 1}, {"T", 5}, {"H", 2}, {"Hk", 2}, {"Hv", 2}, {"K", 3}, {"V", 4}, {"N", 1},
                                                     {"D", 4}, {"P", 4}, {"G", 2}, {"Seq", 1}, {"M", 3}, {"W", 3}, {"W-1", 2},
                                                     {"R", 2}, {"F", 3}, {"L", 3}, {"Lw", 1}, {"Ld", 1}, {"Ll", 1}, {"Q", 2}};
  NamedTensors inputs;
  for (const InputSpec& input : mechanism.inputs) {
    if (std::string(input.name) == "g_key") continue;
    if (input.kind == TensorKind::integer) {
      const bool offsets = input.name == std::string("cu_seqlens"), tokens = input.name == std::string("token_ids");
      inputs[input.name] = tokens    ? to_named(std::vector<std::int64_t>{3, 0, 3}, {3})
                           : offsets ? to_named(std::vector<std::int64_t>{0, 5}, {2})
                                     : to_named(std::vector<std::int64_t>{2}, {1});
      continue;
    }
    Shape shape;
    std::istringstream axes(input.axes);
    for (std::string axis; axes >> axis;) shape.push_back(sizes.at(axis));
    inputs[input.name] = input.kind == TensorKind::boolean ? to_named(std::vector<std::uint8_t>{1, 1, 0, 1, 1}, shape)
                                                           : values_for(input.name, shape, inputs.size());
  }
  return inputs;
}

TEST(Mechanisms, DeclareExactlyTheFormsTheirDoorsHave) {
  for (const Mechanism& mechanism : mechanisms()) {
    RunSettings settings;
    for (const OptionSpec& option : mechanism.options) settings.options[option.name] = option.default_text;
    for (Form form : {Form::reference, Form::explicit_, Form::recurrent, Form::chunked, Form::streaming, Form::parallel_scan}) {
      settings.form = form;
      const bool declared = std::count(mechanism.forms.begin(), mechanism.forms.end(), form) > 0;
      EXPECT_EQ(mechanism.run(inputs_for(mechanism), settings, DType::f64).ok(), declared) << mechanism.name << " " << form_name(form);
    }
  }
}

// Past the registry, which would refuse it first: only a door that was handed the chunk can refuse it.
TEST(Mechanisms, TheChunkReachesTheDoor) {
  for (const Mechanism& mechanism : mechanisms()) {
    if (!std::count(mechanism.forms.begin(), mechanism.forms.end(), Form::chunked)) continue;
    RunSettings settings{.form = Form::chunked, .chunk = -1};
    for (const OptionSpec& option : mechanism.options) settings.options[option.name] = option.default_text;
    EXPECT_FALSE(mechanism.run(inputs_for(mechanism), settings, DType::f64).ok()) << mechanism.name;
  }
}

void expect_close(const NamedTensors& got, const NamedTensors& expected, double bound, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (const auto& [name, tensor] : expected) {
    if (tensor.dtype == DType::i64) {  // a count
      EXPECT_EQ(got.at(name).bytes, tensor.bytes) << what << " " << name;
      continue;
    }
    const auto values = floating_values<double>(name, got.at(name)), wanted = floating_values<double>(name, tensor);
    const Extents<1> count = {static_cast<std::int64_t>(wanted.value().size())};
    ASSERT_EQ(values.value().size(), wanted.value().size()) << what << " " << name;
    EXPECT_LE(
        test::relative_difference(View<const double, 1>(values.value().data(), count), View<const double, 1>(wanted.value().data(), count)),
        bound)
        << what << " " << name;
  }
}

TEST(Mechanisms, EveryFormAgreesInBothPrecisions) {
  for (const Mechanism& mechanism : mechanisms()) {
    const NamedTensors inputs = inputs_for(mechanism);
    const auto expected = run_mechanism(mechanism.name, inputs, {.dtype = DType::f64, .form = Form::reference});
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    ASSERT_EQ(expected.value().size(), mechanism.outputs.size());
    for (const char* name : mechanism.outputs) EXPECT_TRUE(expected.value().count(name)) << mechanism.name << " " << name;
    for (Form form : mechanism.forms)
      for (DType dtype : {DType::f64, DType::f32}) {
        const auto outputs = run_mechanism(mechanism.name, inputs, {.dtype = dtype, .form = form});
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        expect_close(outputs.value(), expected.value(), dtype == DType::f64 ? 1e-12 : 1e-5,
                     std::string(mechanism.name) + " " + std::string(form_name(form)) + " " + std::string(dtype_name(dtype)));
      }
  }
}

const std::vector<std::byte>& first_output(const Mechanism& mechanism, const NamedTensors& outputs) {
  return outputs.at(mechanism.outputs.front()).bytes;
}

// An option that is declared but never handed to the door would change nothing.
TEST(Mechanisms, EveryOptionChangesAnOutput) {
  const std::map<std::string, std::string> other = {{"scale", "0.25"}, {"l2norm", "true"},     {"causal", "false"}, {"window", "2"},
                                                    {"eps", "0.5"},    {"normalize", "false"}, {"feature", "relu"},
                                                    {"softplus", "false"}, {"activation", "none"}, {"limit", "2"}, {"rounds", "2"},
                                                    {"state_dtype", "bf16"}, {"halting", "cap-without-remainder"}, {"layers", "delta,window,linear"},
                                                    {"response", "exp"}, {"beta", "0.5"}, {"terms", "3"}, {"rule", "least-squares"},
                                                    {"max_steps", "1"}, {"tolerance", "0.5"},
                                                    {"k", "2"}, {"metric", "inner-product"}, {"temperature", "0.5"}, {"weight", "0.5"}};
  // Options that count beside others only.
  const std::map<std::string, std::map<std::string, std::string>> beside = {
      {"associative-read beta", {{"response", "exp"}}}, {"associative-read terms", {{"response", "truncated-exp"}}}, {"associative-write beta", {{"rule", "delta"}}},
      {"knn metric", {{"k", "3"}}}, {"knn temperature", {{"k", "3"}}}};
  // mechanism_state_options_test.cpp, knn_distribution_test.cpp, and below
  const std::set<std::string> adding = {"allow_growth", "checkpoint_every", "audit", "at_most_k", "vocab", "neighbours"};
  for (const Mechanism& mechanism : mechanisms())
    for (const OptionSpec& option : mechanism.options) {
      if (adding.count(option.name)) continue;
      NamedTensors inputs = inputs_for(mechanism);
      if (option.name == std::string("causal")) inputs.erase("g");  // a decay needs an order
      RunSettings settings;
      if (const auto found = beside.find(std::string(mechanism.name) + " " + option.name); found != beside.end()) settings.options = found->second;
      const auto plain = run_mechanism(mechanism.name, inputs, settings);
      settings.options[option.name] = other.at(option.name);
      const auto changed = run_mechanism(mechanism.name, inputs, settings);
      ASSERT_TRUE(plain.ok() && changed.ok()) << mechanism.name << " " << option.name << ": " << changed.status().message();
      EXPECT_NE(first_output(mechanism, plain.value()), first_output(mechanism, changed.value())) << mechanism.name << " " << option.name;
    }
}

TEST(Mechanisms, AGrowingStateIsRefusedUnlessAllowed) {
  for (const char* name : {"mamba-scan", "ssd"}) {
    NamedTensors inputs = inputs_for(*find_mechanism(name).value());
    inputs["A"] = filled(inputs["A"].shape, 98, 0.1, 0.2);
    EXPECT_NE(refusal(inputs, {}, name).find("unless growth is allowed"), std::string::npos) << refusal(inputs, {}, name);
    EXPECT_EQ(refusal(inputs, {.options = {{"allow_growth", "true"}}}, name), "accepted");
  }
}

TEST(Mechanisms, TheLayersOfAHybridAreReadByName) {
  const Mechanism& hybrid = *find_mechanism("hybrid").value();
  for (const char* text : {"", "window,", "window,,delta", "window delta", "window,gru,linear"})
    EXPECT_NE(refusal(inputs_for(hybrid), {.options = {{"layers", text}}}, "hybrid").find("; a layer is one of window, delta, linear"), std::string::npos)
        << text;
  EXPECT_EQ(refusal(inputs_for(hybrid), {.options = {{"layers", "window,gru,linear"}}}, "hybrid"),
            "hybrid: option layers has \"gru\"; a layer is one of window, delta, linear, commas between them");
  EXPECT_EQ(refusal(inputs_for(hybrid), {.options = {{"layers", "window,delta"}}}, "hybrid"), "hybrid: L differs: layers has 2, wq has 3");
}

// What a call leaves in its outputs, the next takes up under the same names, counts among them.
TEST(Mechanisms, AHybridGoesOnFromItsOwnOutputs) {
  const NamedTensors inputs = inputs_for(*find_mechanism("hybrid").value());
  NamedTensors first = inputs, second = inputs;
  for (NamedTensors* part : {&first, &second}) part->erase("cu_seqlens");
  const RunSettings settings{.options = {{"window", "3"}}};
  const auto once = run_mechanism("hybrid", inputs, settings);
  const auto hidden = floating_values<double>("hidden", inputs.at("hidden"));
  const std::vector<double>& h = hidden.value();
  first["hidden"] = to_named(std::vector<double>(h.begin(), h.begin() + 8), {1, 2, 4});
  second["hidden"] = to_named(std::vector<double>(h.begin() + 8, h.end()), {1, 3, 4});
  const auto start = run_mechanism("hybrid", first, settings);
  ASSERT_TRUE(once.ok() && start.ok()) << once.status().message() << start.status().message();
  for (const auto& [name, tensor] : start.value())
    if (name != "y") second[name] = tensor;
  const auto rest = run_mechanism("hybrid", second, settings);
  ASSERT_TRUE(rest.ok()) << rest.status().message();
  NamedTensors joined = rest.value();
  joined["y"].bytes.insert(joined["y"].bytes.begin(), start.value().at("y").bytes.begin(), start.value().at("y").bytes.end());
  joined["y"].shape = {1, 5, 4};
  expect_close(joined, once.value(), 1e-12, "two calls");
}

// The same for tensors: leaving out an optional one, or moving a required one, shows.
TEST(Mechanisms, EveryTensorReachesTheDoor) {
  for (const Mechanism& mechanism : mechanisms())
    for (const InputSpec& input : mechanism.inputs) {
      if (input.kind == TensorKind::integer) continue;
      const std::string name = input.name;
      NamedTensors inputs = inputs_for(mechanism);
      RunSettings settings;
      if (mechanism.name == std::string("knn")) settings.options = {{"k", "3"}, {"vocab", "4"}};  // all distances count, and V without a model
      const auto plain = run_mechanism(mechanism.name, inputs, settings);
      if (input.required || name == "g") inputs[name] = values_for(name, inputs[name].shape, 99);  // in place of g, g_key may be needed
      else inputs.erase(name);
      if (name == "g_key") {
        inputs[name] = values_for(name, {1, 5, 2, 3}, 99);
        inputs.erase("g");
      }
      if (name == "state") inputs.erase("z");
      if (name == "z") inputs.erase("state");
      for (const std::vector<std::string>& together : {std::vector<std::string>{"window_k", "window_v", "window_count"}, {"linear_state", "linear_z"}})
        if (std::count(together.begin(), together.end(), name))
          for (const std::string& part : together) inputs.erase(part);
      const auto changed = run_mechanism(mechanism.name, inputs, settings);
      ASSERT_TRUE(plain.ok() && changed.ok()) << mechanism.name << " " << name << ": " << changed.status().message();
      EXPECT_NE(first_output(mechanism, plain.value()), first_output(mechanism, changed.value())) << mechanism.name << " " << name;
    }
}

}  // namespace
}  // namespace linearmem
