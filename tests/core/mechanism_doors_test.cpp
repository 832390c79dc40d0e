// What the registry declares of a mechanism is what its door has: forms, chunks, options and tensors all reach it.
#include "linearmem/mechanisms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/named_inputs.hpp"

namespace linearmem {
namespace {

using test::filled;
using test::refusal;
using Shape = test::NamedShape;

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

TEST(MechanismDoors, DeclareExactlyTheFormsTheirDoorsHave) {
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
TEST(MechanismDoors, TheChunkReachesTheDoor) {
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

TEST(MechanismDoors, EveryFormAgreesInBothPrecisions) {
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
TEST(MechanismDoors, EveryOptionChangesAnOutput) {
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

TEST(MechanismDoors, AGrowingStateIsRefusedUnlessAllowed) {
  for (const char* name : {"mamba-scan", "ssd"}) {
    NamedTensors inputs = inputs_for(*find_mechanism(name).value());
    inputs["A"] = filled(inputs["A"].shape, 98, 0.1, 0.2);
    EXPECT_NE(refusal(name, inputs).find("unless growth is allowed"), std::string::npos) << refusal(name, inputs);
    EXPECT_EQ(refusal(name, inputs, {.options = {{"allow_growth", "true"}}}), "accepted");
  }
}

TEST(MechanismDoors, TheLayersOfAHybridAreReadByName) {
  const Mechanism& hybrid = *find_mechanism("hybrid").value();
  for (const char* text : {"", "window,", "window,,delta", "window delta", "window,gru,linear"})
    EXPECT_NE(refusal("hybrid", inputs_for(hybrid), {.options = {{"layers", text}}}).find("; a layer is one of window, delta, linear"), std::string::npos)
        << text;
  EXPECT_EQ(refusal("hybrid", inputs_for(hybrid), {.options = {{"layers", "window,gru,linear"}}}),
            "hybrid: option layers has \"gru\"; a layer is one of window, delta, linear, commas between them");
  EXPECT_EQ(refusal("hybrid", inputs_for(hybrid), {.options = {{"layers", "window,delta"}}}), "hybrid: L differs: layers has 2, wq has 3");
}

// What a call leaves in its outputs, the next takes up under the same names, counts among them.
TEST(MechanismDoors, AHybridGoesOnFromItsOwnOutputs) {
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
TEST(MechanismDoors, EveryTensorReachesTheDoor) {
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
