// Every conformance case through `linearmem run`: each form, many chunk sizes, both precisions.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/command.hpp"
#include "linearmem/mechanisms.hpp"
#include "safetensors.hpp"

namespace linearmem {
namespace {

const std::filesystem::path kData = LINEARMEM_CONFORMANCE;

// An entry of the manifest. It prints as its name: the brackets of JSON would confuse the discovery of tests.
struct Case {
  std::string name, mechanism;
  nlohmann::json options, outputs;

  friend void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }
};

std::vector<Case> manifest() {
  std::vector<Case> cases;
  for (const auto& entry : nlohmann::json::parse(test::read_file(kData / "manifest.json")))
    cases.push_back({entry["name"], entry["mechanism"], entry["options"], entry["outputs"]});
  return cases;
}

std::vector<double> values_of(const NamedTensors& tensors, const std::string& name) {
  auto values = floating_values<double>(name, tensors.at(name));
  return values.ok() ? values.value() : std::vector<double>{std::nan("")};
}

// NaN, a missing value or a wrong count is infinitely far away.
double relative_error(const std::vector<double>& got, const std::vector<double>& expected) {
  if (got.size() != expected.size()) return HUGE_VAL;
  double largest = 1, error = 0;
  for (double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double gap = std::abs(got[i] - expected[i]);
    if (std::isnan(gap)) return HUGE_VAL;
    error = std::max(error, gap);
  }
  return error / largest;
}

struct Variant {
  std::string form;
  std::int64_t chunk = 0;
};

std::vector<Variant> variants(const Mechanism& mechanism, std::int64_t tokens) {
  std::vector<Variant> all = {{"automatic"}};
  for (Form form : mechanism.forms) {
    all.push_back({std::string(form_name(form))});
    if (form != Form::chunked) continue;
    for (std::int64_t chunk : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{7}, tokens, tokens + 1})
      all.push_back({"chunked", chunk});
  }
  return all;
}

// Axis 1 of the first tensor a mechanism declares.
std::int64_t token_count(const Mechanism& mechanism, const NamedTensors& inputs) {
  return inputs.at(mechanism.inputs.front().name).shape[1];
}

class Conformance : public testing::TestWithParam<Case> {
 protected:
  void check(const Variant& variant, const std::string& dtype, double tolerance) {
    const auto& [name, mechanism, options, outputs] = GetParam();
    const std::string what = name + " form " + variant.form + " chunk " + std::to_string(variant.chunk) + " " + dtype;
    std::vector<std::string> words = {
        "run",        mechanism, "--input", kData / (name + ".in.safetensors"), "--output", folder_ / "out", "--form",
        variant.form, "--dtype", dtype};
    if (variant.chunk > 0) words.insert(words.end(), {"--chunk", std::to_string(variant.chunk)});
    for (const auto& [key, value] : options.items())
      words.insert(words.end(), {"--set", key + "=" + (value.is_string() ? value.get<std::string>() : value.dump())});
    const test::Outcome outcome = test::linearmem(words);
    ASSERT_EQ(outcome.code, 0) << what << ": " << outcome.err;
    const auto got = read_safetensors(folder_ / "out"), expected = read_safetensors(kData / (name + ".out.safetensors"));
    ASSERT_TRUE(got.ok() && expected.ok()) << got.status().message() << expected.status().message();
    ASSERT_EQ(got.value().size(), outputs.size()) << what;
    for (const std::string output : outputs) {
      ASSERT_TRUE(got.value().count(output)) << what << " " << output;
      EXPECT_EQ(got.value().at(output).shape, expected.value().at(output).shape) << what << " " << output;
      EXPECT_EQ(got.value().at(output).dtype, dtype == "f32" ? DType::f32 : DType::f64);
      EXPECT_LE(relative_error(values_of(got.value(), output), values_of(expected.value(), output)), tolerance) << what << " " << output;
    }
  }

  test::Folder folder_;
};

TEST_P(Conformance, EveryFormChunkAndPrecision) {
  const auto mechanism = find_mechanism(GetParam().mechanism);
  ASSERT_TRUE(mechanism.ok()) << mechanism.status().message();
  const auto inputs = read_safetensors(kData / (GetParam().name + ".in.safetensors"));
  ASSERT_TRUE(inputs.ok()) << inputs.status().message();
  for (const Variant& variant : variants(*mechanism.value(), token_count(*mechanism.value(), inputs.value()))) {
    check(variant, "f64", 1e-12);
    check(variant, "f32", 1e-5);
  }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Conformance, testing::ValuesIn(manifest()), case_name);

// These are compositions that have no outside vectors; their rooms' tests hold them to their own references.
const std::set<std::string> kWithoutCases = {"adaptive-computation-time", "shared-depth", "hybrid"};

TEST(ConformanceData, CoversEveryMechanismThatRuns) {
  std::set<std::string> covered;
  for (const auto& test_case : manifest()) covered.insert(test_case.mechanism);
  for (const Mechanism& mechanism : mechanisms()) EXPECT_NE(covered.count(mechanism.name), kWithoutCases.count(mechanism.name)) << mechanism.name;
  EXPECT_GE(manifest().size(), 8 * covered.size());
}

}  // namespace
}  // namespace linearmem
