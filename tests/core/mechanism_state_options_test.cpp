// The options of mechanisms with a gated state: checkpoints, growth by name, the audit, as tensors by name.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/named_inputs.hpp"

namespace linearmem {
namespace {

using test::filled;
using Shape = test::NamedShape;

struct Example {
  const char* mechanism;
  NamedTensors inputs;  // five tokens, two heads, K 3, V 4
};

std::vector<Example> examples() {
  NamedTensors linear = {{"q", filled({1, 5, 2, 3}, 1)}, {"k", filled({1, 5, 2, 3}, 2)}, {"v", filled({1, 5, 2, 4}, 3)}}, delta = linear;
  delta["beta"] = filled({1, 5, 2}, 4, 0);
  NamedTensors gated = delta;
  gated["g"] = linear["g"] = filled({1, 5, 2}, 5, -1, 0);
  return {{"delta-rule", delta}, {"gated-delta-rule", gated}, {"linear-attention", linear}};
}

TEST(MechanismStateOptions, CheckpointsAreTheStatesOfThePrefixes) {
  for (const auto& [name, inputs] : examples()) {
    const auto outputs = run_mechanism(name, inputs, {.options = {{"checkpoint_every", "5"}}});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(outputs.value().at("checkpoints").shape, (Shape{1, 2, 3, 4})) << name;
    EXPECT_EQ(outputs.value().at("checkpoints").bytes, outputs.value().at("state").bytes) << name;
    if (outputs.value().count("z")) {
      EXPECT_EQ(outputs.value().at("checkpoints_z").bytes, outputs.value().at("z").bytes) << name;
    }
    const auto refused = run_mechanism(name, inputs, {.options = {{"checkpoint_every", "-2"}}});
    EXPECT_NE(refused.status().message().find(": checkpoint_every is -2, must be at least 1 token, or 0 for none"), std::string::npos)
        << refused.status().message();
  }
}

// In a sequence that does not begin at token 0 its end plus the stretch is past 64 bits.
TEST(MechanismStateOptions, ACheckpointFartherThanAnySequenceIsNeverReached) {
  for (auto [name, inputs] : examples()) {
    inputs["cu_seqlens"] = to_named<std::int64_t>({0, 2, 5}, {3});
    const auto outputs = run_mechanism(name, inputs, {.options = {{"checkpoint_every", "9223372036854775807"}}});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(outputs.value().at("checkpoints").shape, (Shape{0, 2, 3, 4})) << name;
    const auto without = run_mechanism(name, inputs, {});
    EXPECT_EQ(outputs.value().at("o").bytes, without.value().at("o").bytes) << name;
    EXPECT_EQ(outputs.value().at("state").bytes, without.value().at("state").bytes) << name;
  }
}

TEST(MechanismStateOptions, GatesAboveZeroNeedAllowGrowth) {
  for (const auto& [name, given] : examples()) {
    if (!given.count("g")) continue;
    for (const char* gate : {"g", "g_key"}) {
      NamedTensors inputs = given;
      inputs.erase("g");
      inputs[gate] = gate == std::string("g") ? filled({1, 5, 2}, 1, 0.1, 0.2) : filled({1, 5, 2, 3}, 1, 0.1, 0.2);
      const auto refused = run_mechanism(name, inputs, {}), allowed = run_mechanism(name, inputs, {.options = {{"allow_growth", "true"}}});
      EXPECT_NE(refused.status().message().find("unless allow_growth is set"), std::string::npos) << name;
      EXPECT_TRUE(allowed.ok()) << name << ": " << allowed.status().message();
    }
  }
}

TEST(MechanismStateOptions, AuditListsWhatMakesAStateGrow) {
  NamedTensors inputs = {{"q", filled({1, 3, 1, 1}, 1)},
                         {"k", to_named<double>({2, 1, 1}, {1, 3, 1, 1})},
                         {"v", to_named<double>({1, 1, 1}, {1, 3, 1, 1})},
                         {"beta", to_named<double>({0.75, 1, 1}, {1, 3, 1})},
                         {"g", to_named<double>({0, 0, 0.5}, {1, 3, 1})},
                         {"state", to_named<double>({-4}, {1, 1, 1, 1})}};
  const auto outputs = run_mechanism("gated-delta-rule", inputs, {.options = {{"audit", "true"}, {"allow_growth", "true"}}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  // token 0: beta |k|^2 is 3, and S goes from -4 to -4 + 1.5 (1 + 8) = 9.5, more than 4 + 1.5; token 2: the gate is 0.5
  EXPECT_EQ(integer_values("", outputs.value().at("audit_totals")).value(), (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(integer_values("", outputs.value().at("audit_at")).value(), (std::vector<std::int64_t>{0, 0, 0, 0, 1, 0, 2, 0, 2, 0, 0, 0}));
  EXPECT_EQ(outputs.value().at("audit_at").shape, (Shape{3, 4}));
  EXPECT_EQ(floating_values<double>("", outputs.value().at("audit_number")).value(), (std::vector<double>{3, 0.5, 9.5}));
}

}  // namespace
}  // namespace linearmem
