// The adapters on random shapes, in both directions; and that their tables speak of our mechanisms as these are.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "core/convention_cases.hpp"
#include "core/support.hpp"
#include "foundation/shape_check.hpp"

namespace linearmem {
namespace {

using test::ConventionCase;
using test::LetterSizes;
using test::Numbers;
using test::Role;

double random_number(Numbers& numbers, Role role) {
  switch (role) {
    case Role::log_decay:
    case Role::negative: return numbers.uniform(-2, -0.01);
    case Role::factor:
    case Role::strength: return numbers.uniform(0.05, 0.95);
    default: return numbers.uniform(-1, 1);
  }
}

// Sizes of 1 and odd ones, no tokens at times, heads in groups.
LetterSizes random_sizes(const ConventionCase& c, Numbers& numbers) {
  LetterSizes sizes = test::small_sizes(c.convention);
  const bool square = sizes.at("K") == 3;
  const std::int64_t groups = numbers.whole(1, 3), H = numbers.whole(1, 3);
  for (const char* letter : {"K", "V", "P", "D", "W"}) sizes[letter] = numbers.whole(1, 5);
  if (square) sizes["V"] = sizes["K"];
  sizes["T"] = numbers.whole(0, 6);
  sizes["B"] = numbers.whole(1, 3);
  sizes["H"] = sizes["Hk"] = H;
  sizes["Hv"] = sizes["HV"] = H * groups;
  if (c.mechanism == std::string("ssd")) sizes["G"] = H, sizes["H"] = H * groups, sizes["N"] = numbers.whole(1, 4);
  else sizes["N"] = sizes["B"];
  const bool fewer = c.convention == std::string("onnxruntime");
  sizes["Hq"] = fewer ? H : H * groups;
  sizes["Hkv"] = fewer ? H * groups : H;
  sizes["W-1"] = sizes["W"] - 1;
  sizes["W-1+T"] = sizes["W"] - 1 + sizes["T"];
  return sizes;
}

struct RandomCall {
  NamedTensors inputs;
  RunSettings settings;
  LetterSizes sizes;
};

// Without the norms that cannot be undone.
RandomCall random_call(const ConventionCase& c, Numbers& numbers) {
  RandomCall call{.inputs = {}, .settings = {}, .sizes = random_sizes(c, numbers)};
  const bool flat = c.convention == std::string("flashinfer");
  if (flat) call.sizes["B"] = call.sizes["N"] = 1;
  call.inputs = test::convention_inputs(test::mechanism_of(c.convention, c.mechanism), call.sizes, c.inputs,
                                        [&](Role role, std::int64_t, std::int64_t) { return random_number(numbers, role); });
  if (call.inputs.count("cu_seqlens")) call.inputs["cu_seqlens"] = to_named<std::int64_t>({0, call.sizes["T"]}, {2});
  call.settings.options = c.options;
  for (const char* forgets : {"rms_norm", "l2_norm"}) call.settings.options.erase(forgets);
  if (call.settings.options.count("q_num_heads")) {
    call.settings.options["q_num_heads"] = std::to_string(call.sizes["Hq"]);
    call.settings.options["kv_num_heads"] = std::to_string(call.sizes["Hkv"]);
  }
  return call;
}

// The worst difference relative to max(1, largest); infinite where names, shapes or dtypes differ.
double difference(const NamedTensors& got, const NamedTensors& expected) {
  if (got.size() != expected.size()) return HUGE_VAL;
  double worst = 0;
  for (const auto& [name, tensor] : expected) {
    if (!got.count(name) || got.at(name).shape != tensor.shape || got.at(name).dtype != tensor.dtype) return HUGE_VAL;
    if (!is_floating(tensor.dtype)) continue;
    const auto a = floating_values<double>(name, got.at(name)).value(), b = floating_values<double>(name, tensor).value();
    for (std::size_t i = 0; i < b.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]) / std::max(1.0, std::abs(b[i])));
  }
  return worst;
}

bool same_bits(const NamedTensor& a, const NamedTensor& b) { return a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes; }

// Whether a tensor is only moved, so that it must come back bit for bit.
bool only_moved(const ConventionMechanism& mechanism, const std::string& name) {
  if (name == "q" || name == "query") return mechanism.mechanism != std::string("linear-attention");  // there the scale goes into it
  for (const ConventionTensor& entry : mechanism.inputs)
    if (entry.name == name) return *entry.ours && entry.form == NumberForm::same;
  return false;
}

#if defined(__wasm__) || defined(__SANITIZE_ADDRESS__)
constexpr int kTurns = 10;  // of each mechanism in each convention; these run slowly
#else
constexpr int kTurns = 60;
#endif

template <typename Check>
void for_random_calls(Check check) {
  std::uint64_t seed = 0;
  for (const ConventionCase& c : test::convention_cases())
    for (int turn = 0; turn < kTurns; ++turn) {
      SCOPED_TRACE(std::string(c.convention) + " " + c.mechanism + ", turn " + std::to_string(turn));
      Numbers numbers(++seed);
      check(test::mechanism_of(c.convention, c.mechanism), random_call(c, numbers), c);
      if (testing::Test::HasFailure()) return;
    }
}

TEST(Conventions, InputsComeBackFromOursAsTheyWere) {
  for_random_calls([](const ConventionMechanism& mechanism, const RandomCall& call, const ConventionCase&) {
    const auto ours = to_native(mechanism, call.inputs, call.settings);
    ASSERT_TRUE(ours.ok()) << ours.status().message();
    const auto back = from_native(mechanism, ours.value().inputs, call.settings);
    ASSERT_TRUE(back.ok()) << back.status().message();
    for (const auto& [name, tensor] : call.inputs) {
      ASSERT_EQ(back.value().count(name), 1u) << name;
      if (only_moved(mechanism, name)) {
        EXPECT_TRUE(same_bits(back.value().at(name), tensor)) << name;
      }
    }
    const auto again = to_native(mechanism, back.value(), call.settings);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_LE(difference(again.value().inputs, ours.value().inputs), 4e-15);
    EXPECT_EQ(again.value().settings.options, ours.value().settings.options);
  });
}

TEST(Conventions, OutputsGoBothWaysBitForBit) {
  for_random_calls([](const ConventionMechanism& mechanism, const RandomCall& call, const ConventionCase& c) {
    const auto ours = to_native(mechanism, call.inputs, call.settings);
    ASSERT_TRUE(ours.ok()) << ours.status().message();
    const auto outputs = run_mechanism(mechanism.mechanism, ours.value().inputs, ours.value().settings);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    const auto theirs = outputs_from_native(mechanism, outputs.value(), call.inputs, call.settings);
    ASSERT_TRUE(theirs.ok()) << theirs.status().message();
    EXPECT_EQ(theirs.value().size(), *c.state ? 2u : 1u);
    const auto back = outputs_to_native(mechanism, theirs.value(), call.inputs, call.settings);
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back.value().size(), theirs.value().size());
    for (const auto& [name, tensor] : back.value()) EXPECT_TRUE(same_bits(tensor, outputs.value().at(name))) << name;
  });
}

// Entries [0, share) of the first axis that is more than a batch of one.
NamedTensor first_part(const NamedTensor& tensor, std::int64_t part, std::int64_t whole) {
  NamedTensor first = tensor;
  for (std::int64_t& extent : first.shape) {
    if (extent % whole == 0 && extent > 0) {
      extent = extent / whole * part;
      break;
    }
    if (extent != 1) break;
  }
  first.bytes.resize(static_cast<std::size_t>(first.size() * dtype_bytes(tensor.dtype)));
  return first;
}

bool goes_with_the_batch(const ConventionTensor& entry) {
  const std::string first = parse_axes(entry.axes)[0].empty() ? "" : parse_axes(entry.axes)[0][0];
  return first == "B" || first == "T" || first == "N";
}

// The same first sequence alone, and with a second of as many tokens beside it in which every number is NaN: a batch row, or packed.
TEST(Conventions, ASequenceOfNaNBesideItChangesNoBit) {
  std::uint64_t seed = 900;
  for (const ConventionCase& c : test::convention_cases()) {
    SCOPED_TRACE(std::string(c.convention) + " " + c.mechanism);
    const ConventionMechanism& mechanism = test::mechanism_of(c.convention, c.mechanism);
    Numbers numbers(++seed);
    RandomCall alone = random_call(c, numbers);
    while (alone.sizes["T"] == 0 || alone.sizes["B"] != 1) alone = random_call(c, numbers);
    const bool packs = std::any_of(mechanism.inputs.begin(), mechanism.inputs.end(), [](const ConventionTensor& e) { return e.name == std::string("cu_seqlens"); });
    NamedTensors both = alone.inputs;
    std::set<std::string> doubled;
    for (const ConventionTensor& entry : mechanism.inputs) {
      const std::string name = entry.name;
      if (!both.count(name) || !goes_with_the_batch(entry) || !doubled.insert(name).second) continue;
      NamedTensor& tensor = both[name];
      tensor.bytes.resize(2 * tensor.bytes.size(), std::byte{0xff});  // all bits set is a NaN
      tensor.shape[packs && parse_axes(entry.axes)[0] == AxisLetters{"B"} ? 1 : 0] *= 2;
    }
    if (packs) both["cu_seqlens"] = to_named<std::int64_t>({0, alone.sizes["T"], 2 * alone.sizes["T"]}, {3});
    const auto one = run_mechanism(mechanism, alone.inputs, alone.settings), two = run_mechanism(mechanism, both, alone.settings);
    ASSERT_TRUE(one.ok() && two.ok()) << one.status().message() << two.status().message();
    for (const auto& [name, tensor] : one.value()) EXPECT_TRUE(same_bits(first_part(two.value().at(name), 1, 2), tensor)) << name;
  }
}

// Three sequences of 3, 0 and 2 tokens in one row, the batch axis or none before the tokens', against each alone.
TEST(Conventions, PackedIsEachAloneBitForBit) {
  const std::vector<std::int64_t> lengths = {3, 0, 2}, bounds = {0, 3, 3, 5};
  std::uint64_t seed = 1700;
  for (const ConventionCase& c : test::convention_cases()) {
    const ConventionMechanism& mechanism = test::mechanism_of(c.convention, c.mechanism);
    if (mechanism.inputs.back().name != std::string("cu_seqlens")) continue;
    SCOPED_TRACE(std::string(c.convention) + " " + c.mechanism);
    std::vector<NamedTensors> alone;
    NamedTensors packed;
    LetterSizes sizes = test::small_sizes(c.convention);
    Numbers numbers(++seed);
    for (std::int64_t length : lengths) {
      sizes["T"] = length;
      NamedTensors inputs = test::convention_inputs(mechanism, sizes, c.inputs, [&](Role role, std::int64_t, std::int64_t) { return random_number(numbers, role); });
      for (const ConventionTensor& entry : mechanism.inputs) {
        const std::string name = entry.name;
        if (!inputs.count(name) || name == "cu_seqlens") continue;
        const auto [whole, first] = packed.emplace(name, inputs.at(name));
        if (!goes_with_the_batch(entry)) inputs[name] = whole->second;  // weights are shared
        if (first || !goes_with_the_batch(entry)) continue;
        const NamedTensor& part = inputs.at(name);
        whole->second.bytes.insert(whole->second.bytes.end(), part.bytes.begin(), part.bytes.end());
        const std::size_t axis = parse_axes(entry.axes)[0] == AxisLetters{"B"} ? 1 : 0;
        whole->second.shape[axis] += part.shape[axis];
      }
      inputs["cu_seqlens"] = to_named<std::int64_t>({0, length}, {2});
      alone.push_back(std::move(inputs));
    }
    packed["cu_seqlens"] = to_named(bounds, {4});
    const auto all = run_mechanism(mechanism, packed, {.options = c.options});
    ASSERT_TRUE(all.ok()) << all.status().message();
    std::map<std::string, std::vector<std::byte>> joined;
    for (const NamedTensors& inputs : alone) {
      const auto one = run_mechanism(mechanism, inputs, {.options = c.options});
      ASSERT_TRUE(one.ok()) << one.status().message();
      for (const auto& [name, tensor] : one.value()) joined[name].insert(joined[name].end(), tensor.bytes.begin(), tensor.bytes.end());
    }
    for (const auto& [name, bytes] : joined) EXPECT_EQ(all.value().at(name).bytes, bytes) << name;
  }
}

TEST(Conventions, InFloat32WithinItsTolerance) {
  for_random_calls([](const ConventionMechanism& mechanism, const RandomCall& call, const ConventionCase&) {
    NamedTensors narrow = call.inputs;
    for (auto& [name, tensor] : narrow)
      if (is_floating(tensor.dtype)) tensor = to_named(floating_values<float>(name, tensor).value(), tensor.shape);
    RunSettings wide = call.settings;
    wide.dtype = DType::f64;
    const auto got = run_mechanism(mechanism, narrow, call.settings), exact = run_mechanism(mechanism, narrow, wide);
    ASSERT_TRUE(got.ok() && exact.ok()) << got.status().message() << exact.status().message();
    for (const auto& [name, tensor] : got.value()) {
      EXPECT_EQ(tensor.dtype, DType::f32);
      const auto a = floating_values<double>(name, tensor).value(), b = floating_values<double>(name, exact.value().at(name)).value();
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_LE(std::abs(a[i] - b[i]), 1e-5 * std::max(1.0, std::abs(b[i]))) << name << " " << i;
    }
  });
}

TEST(Conventions, LinearmemIsOurs) {
  const NamedTensor row = to_named<double>({1, 0, 0, 1}, {1, 2, 1, 2});
  const NamedTensors inputs = {{"q", row}, {"k", row}, {"v", row}, {"beta", to_named<double>({1, 0.5}, {1, 2, 1})}};
  const RunSettings settings{.options = {{"scale", "1"}}};
  const auto here = run_mechanism("delta-rule", inputs, settings), there = run_mechanism(test::mechanism_of("linearmem", "delta-rule"), inputs, settings);
  ASSERT_TRUE(here.ok() && there.ok());
  EXPECT_EQ(difference(there.value(), here.value()), 0);
  EXPECT_EQ(find_convention("linearmem").value()->mechanisms.size(), mechanisms().size());
}

// A decay factor of 0 forgets: finite in every form, and a factor of 0 again on the way back.
TEST(Conventions, AFactorOfZeroForgets) {
  const ConventionMechanism& mechanism = test::mechanism_of("mlx", "gated-delta-rule");
  NamedTensors inputs = test::convention_inputs(mechanism, test::small_sizes("mlx"), {"q", "k", "v", "g", "beta", "state"}, test::small_number);
  std::vector<double> factors(12, 0.0);
  inputs["g"] = to_named(factors, {1, 3, 4});
  const auto expected = run_mechanism(mechanism, inputs, {.form = Form::reference});
  ASSERT_TRUE(expected.ok());
  for (Form form : find_mechanism("gated-delta-rule").value()->forms) {
    const auto outputs = run_mechanism(mechanism, inputs, {.form = form});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_LE(difference(outputs.value(), expected.value()), 1e-12) << form_name(form);
  }
  const auto back = from_native(mechanism, to_native(mechanism, inputs, {}).value().inputs, {});
  EXPECT_EQ(floating_values<double>("g", back.value().at("g")).value(), factors);
}

// What is computed is rounded once; what is narrow is computed in F32, unless f64 is asked for.
TEST(Conventions, ComputedTensorsHaveTheDtypeThatIsComputedIn) {
  const ConventionMechanism& mechanism = test::mechanism_of("mlx", "gated-delta-rule");
  NamedTensors inputs = test::convention_inputs(mechanism, test::small_sizes("mlx"), {"q", "k", "v", "g", "beta"}, test::small_number);
  for (auto& [name, tensor] : inputs) tensor = to_named(floating_values<float>(name, tensor).value(), tensor.shape);
  EXPECT_EQ(to_native(mechanism, inputs, {}).value().inputs.at("g").dtype, DType::f32);
  const auto wide = to_native(mechanism, inputs, {.dtype = DType::f64}).value().inputs;
  EXPECT_EQ(wide.at("g").dtype, DType::f64);
  EXPECT_EQ(wide.at("q").dtype, DType::f32);
  EXPECT_EQ(floating_values<double>("g", wide.at("g")).value()[0], std::log(static_cast<double>(floating_values<float>("g", inputs.at("g")).value()[0])));
  const auto outputs = run_mechanism(mechanism, inputs, {.dtype = DType::f64});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(outputs.value().at("y").dtype, DType::f64);
}

// Every entry speaks of a tensor that our mechanism has, with as many axes; every difference is one of a closed list.
TEST(Conventions, TheTablesSpeakOfOurMechanisms) {
  const std::set<std::string> known = {"names", "layout", "gate", "beta", "state", "conv state", "scale", "head map", "norm", "norm epsilon",
                                       "feature", "rule", "activation", "dt", "A", "D"};
  for (const Convention& convention : conventions())
    for (const ConventionMechanism& m : convention.mechanisms) {
      if (!m.rules) continue;
      SCOPED_TRACE(std::string(m.convention) + " " + m.mechanism);
      const Mechanism& native = *find_mechanism(m.mechanism).value();
      for (const ConventionTensor& entry : m.inputs) {
        if (!*entry.ours) continue;
        const auto spec = std::find_if(native.inputs.begin(), native.inputs.end(), [&](const InputSpec& s) { return s.name == std::string(entry.ours); });
        ASSERT_NE(spec, native.inputs.end()) << entry.ours;
        EXPECT_EQ(axis_letters(spec->axes).size(), axis_letters(entry.our_axes).size()) << entry.name;
      }
      for (const ConventionTensor& entry : m.outputs)
        if (*entry.ours) {
          EXPECT_TRUE(std::count(native.outputs.begin(), native.outputs.end(), std::string(entry.ours))) << entry.ours;
        }
      for (const Difference& difference : m.differences) EXPECT_EQ(known.count(difference.what), 1u) << difference.what;
      EXPECT_FALSE(m.differences.empty());
    }
}

}  // namespace
}  // namespace linearmem
