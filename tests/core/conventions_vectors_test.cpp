// A small case of every mechanism in every convention against the loops of convention_loops.hpp.
#include <gtest/gtest.h>

#include <functional>

#include "core/convention_loops.hpp"

namespace linearmem {
namespace {

using test::ConventionCase;
using test::Flat;

void expect_close(const NamedTensors& outputs, const std::string& name, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(outputs.count(name), 1u) << what;
  const auto got = floating_values<double>(name, outputs.at(name));
  ASSERT_EQ(got.value().size(), expected.size()) << what << " " << name;
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_LE(std::abs(got.value()[i] - expected[i]), 1e-12) << what << " " << name << " " << i;
}

TEST(ConventionsVectors, EveryCaseIsWhatTheConventionSays) {
  for (const ConventionCase& c : test::convention_cases()) {
    const std::string what = std::string(c.convention) + " " + c.mechanism;
    const auto outputs = run_mechanism(test::mechanism_of(c.convention, c.mechanism), test::small_inputs(c), {.options = c.options});
    ASSERT_TRUE(outputs.ok()) << what << ": " << outputs.status().message();
    const test::Answer answer = test::answer_of(c);
    expect_close(outputs.value(), c.output, answer.output, what);
    if (*c.state) expect_close(outputs.value(), c.state, answer.state, what);
    EXPECT_EQ(outputs.value().size(), *c.state ? 2u : 1u) << what;
  }
}

// Every mechanism of every convention has a case.
TEST(ConventionsVectors, NoMechanismIsLeftOut) {
  std::size_t declared = 0;
  for (const Convention& convention : conventions())
    if (convention.name != std::string("linearmem")) declared += convention.mechanisms.size();
  EXPECT_EQ(test::convention_cases().size(), declared);
}

// Every other way to give a gate or a strength, in ours: number (t, h, i) of the log decay of a key component, head h in our order.
void expect_gate(const char* convention, const char* mechanism, const std::vector<std::string>& wanted, NamedTensors more, const RunSettings& settings,
                 const char* ours, const std::function<double(const Flat&, int t, int h, int i)>& expected) {
  const ConventionMechanism& m = test::mechanism_of(convention, mechanism);
  NamedTensors inputs = test::convention_inputs(m, test::small_sizes(convention), wanted, test::small_number);
  for (auto& [name, tensor] : more) inputs[name] = tensor;
  const auto call = to_native(m, inputs, settings);
  ASSERT_TRUE(call.ok()) << convention << ": " << call.status().message();
  const NamedTensor& gate = call.value().inputs.at(ours);
  const auto values = floating_values<double>(ours, gate).value();
  Flat f(inputs);
  const auto H = static_cast<int>(gate.shape[2]), K = static_cast<int>(gate.shape.size() == 4 ? gate.shape[3] : 1);
  for (int t = 0; t < 3; ++t)
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < K; ++i) EXPECT_DOUBLE_EQ(values[(t * H + h) * K + i], expected(f, t, h, i)) << convention << " " << t << h << i;
  const auto outputs = run_mechanism(m, inputs, settings);
  EXPECT_TRUE(outputs.ok()) << convention << ": " << outputs.status().message();
}

NamedTensor gates(std::vector<std::int64_t> shape, bool factors) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(test::small_number(factors ? test::Role::factor : test::Role::log_decay, 1, i));
  return to_named(values, std::move(shape));
}

TEST(ConventionsVectors, GatesForEachKeyComponentAndTheOtherWaysToGiveThem) {
  const RunSettings heads{.options = {{"q_num_heads", "4"}, {"kv_num_heads", "2"}}}, fewer{.options = {{"q_num_heads", "2"}, {"kv_num_heads", "4"}}};
  expect_gate("fla", "gated-delta-rule", {"q", "k", "v"}, {{"gk", gates({1, 3, 4, 2}, false)}}, {}, "g_key",
              [](const Flat& f, int t, int h, int i) { return f.arrays.at("gk")[(t * 4 + h) * 2 + i]; });
  expect_gate("fla", "gated-delta-rule", {"q", "k", "v", "g"}, {}, {}, "beta", [](const Flat&, int, int, int) { return 1.0; });
  expect_gate("onnx", "gated-delta-rule", {"query", "key", "value", "beta"}, {{"decay", gates({1, 3, 4}, false)}}, heads, "g_key",
              [](const Flat& f, int t, int h, int i) { return f.arrays.at("decay")[(t * 2 + h / 2) * 2 + i]; });
  expect_gate("onnx", "delta-rule", {"query", "key", "value"}, {{"beta", gates({1, 3, 1}, true)}}, heads, "beta",
              [](const Flat& f, int t, int, int) { return f.arrays.at("beta")[t]; });
  expect_gate("onnxruntime", "gated-delta-rule", {"query", "key", "value", "beta"}, {{"decay", gates({1, 3, 8}, false)}}, fewer, "g_key",
              [](const Flat& f, int t, int h, int i) { return f.arrays.at("decay")[(t * 4 + h) * 2 + i]; });
  expect_gate("ggml", "gated-delta-rule", {"q", "k", "v", "beta", "state"}, {{"g", gates({1, 3, 4, 3}, false)}}, {}, "g_key",
              [](const Flat& f, int t, int h, int i) { return f.arrays.at("g")[(t * 4 + (h % 2) * 2 + h / 2) * 3 + i]; });
  expect_gate("mlx", "gated-delta-rule", {"q", "k", "v", "beta"}, {{"g", gates({1, 3, 4, 2}, true)}}, {}, "g_key",
              [](const Flat& f, int t, int h, int i) { return std::log(f.arrays.at("g")[(t * 4 + h) * 2 + i]); });
  const std::vector<std::string> parameters = {"q", "k", "v", "a", "b", "A_log", "dt_bias"};
  expect_gate("mlx", "gated-delta-rule", parameters, {}, {}, "g", [](const Flat& f, int t, int h, int) {
    return -std::exp(f.arrays.at("A_log")[h]) * test::softplus(f.arrays.at("a")[t * 4 + h] + f.arrays.at("dt_bias")[h]);
  });
  expect_gate("mlx", "gated-delta-rule", parameters, {}, {}, "beta",
              [](const Flat& f, int t, int h, int) { return test::sigmoid(f.arrays.at("b")[t * 4 + h]); });
}

// The three places of epsilon, where they differ most: a key of length 1e-3.
TEST(ConventionsVectors, WhereEpsilonStands) {
  const std::vector<double> key = {1e-3, 0};
  const NamedTensor row = to_named(key, {1, 1, 1, 2}), one = to_named<double>({1, 1}, {1, 1, 1, 2}), scalar = to_named<double>({1}, {1, 1, 1});
  const auto normed = [&](const char* convention, NamedTensors inputs, const char* option) {
    const auto call = to_native(test::mechanism_of(convention, "gated-delta-rule"), inputs, {.options = {{option, "true"}}});
    EXPECT_TRUE(call.ok()) << call.status().message();
    return floating_values<double>("k", call.value().inputs.at("k")).value()[0];
  };
  const NamedTensor state = to_named<double>({0, 0, 0, 0}, {1, 1, 2, 2});
  EXPECT_DOUBLE_EQ(normed("ggml", {{"q", row}, {"k", row}, {"v", one}, {"g", to_named<double>({0}, {1, 1, 1, 1})}, {"beta", to_named<double>({1}, {1, 1, 1, 1})}, {"state", state}}, "l2_norm"), 1);
  EXPECT_DOUBLE_EQ(normed("mlx", {{"q", row}, {"k", row}, {"v", one}, {"g", scalar}, {"beta", scalar}}, "rms_norm"), 1 / std::sqrt(3.0));
  const auto ours = to_native(test::mechanism_of("fla", "gated-delta-rule"),
                              {{"q", row}, {"k", row}, {"v", one}, {"g", to_named<double>({0}, {1, 1, 1})}}, {.options = {{"use_qk_l2norm_in_kernel", "true"}}});
  ASSERT_TRUE(ours.ok());
  EXPECT_EQ(ours.value().settings.options.at("l2norm"), "true");
}

}  // namespace
}  // namespace linearmem
