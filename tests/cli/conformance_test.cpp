// Every conformance case in each form, at every chunk size up to one past the length, in both precisions; and through `linearmem run`.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
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
  Form form = Form::automatic;
  std::int64_t chunk = 0;
  DType dtype = DType::f64;

  double tolerance() const { return dtype == DType::f32 ? 1e-5 : 1e-12; }
  std::string text() const {
    return std::string(form_name(form)) + " chunk " + std::to_string(chunk) + " " + std::string(dtype_name(dtype)) + " ";
  }
};

// Every form with the chunk sizes 0 (the door's own) and, where it has chunks, 1 .. longest; in both precisions.
std::vector<Variant> variants(const Mechanism& mechanism, std::int64_t longest) {
  std::vector<Variant> all;
  for (DType dtype : {DType::f64, DType::f32}) {
    all.push_back({Form::automatic, 0, dtype});
    for (Form form : mechanism.forms)
      for (std::int64_t chunk = 0; chunk <= (form == Form::chunked ? longest : 0); ++chunk) all.push_back({form, chunk, dtype});
  }
  return all;
}

class Conformance : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto found = find_mechanism(GetParam().mechanism);
    const auto in = read_safetensors(input_file()), out = read_safetensors(kData / (GetParam().name + ".out.safetensors"));
    ASSERT_TRUE(found.ok() && in.ok() && out.ok()) << found.status().message() << in.status().message() << out.status().message();
    mechanism_ = found.value();
    inputs_ = in.value();
    expected_ = out.value();
    for (const auto& [key, value] : GetParam().options.items())
      options_[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }

  std::filesystem::path input_file() const { return kData / (GetParam().name + ".in.safetensors"); }

  // Axis 1 of the first tensor a mechanism declares.
  std::int64_t tokens() const { return inputs_.at(mechanism_->inputs.front().name).shape[1]; }

  void expect_right(const NamedTensors& got, const Variant& variant) const {
    ASSERT_EQ(got.size(), GetParam().outputs.size()) << variant.text();
    for (const std::string output : GetParam().outputs) {
      ASSERT_TRUE(got.count(output)) << variant.text() << output;
      EXPECT_EQ(got.at(output).shape, expected_.at(output).shape) << variant.text() << output;
      EXPECT_EQ(got.at(output).dtype, variant.dtype) << variant.text() << output;
      EXPECT_LE(relative_error(values_of(got, output), values_of(expected_, output)), variant.tolerance()) << variant.text() << output;
    }
  }

  const Mechanism* mechanism_ = nullptr;
  NamedTensors inputs_, expected_;
  std::map<std::string, std::string> options_;
};

TEST_P(Conformance, EveryFormChunkSizeAndPrecision) {
  for (const Variant& variant : variants(*mechanism_, tokens() + 1)) {
    const auto got =
        run_mechanism(GetParam().mechanism, inputs_, {.dtype = variant.dtype, .form = variant.form, .chunk = variant.chunk, .options = options_});
    ASSERT_TRUE(got.ok()) << variant.text() << got.status().message();
    expect_right(got.value(), variant);
  }
}

TEST_P(Conformance, EveryFormAndPrecisionThroughTheCommand) {
  const test::Folder folder;
  for (const Variant& variant : variants(*mechanism_, 2)) {
    std::vector<std::string> words = {"run",    GetParam().mechanism,  "--input", input_file(), "--output",
                                      folder / "out", "--form", std::string(form_name(variant.form)), "--dtype",
                                      variant.dtype == DType::f32 ? "f32" : "f64"};
    if (variant.chunk > 0) words.insert(words.end(), {"--chunk", std::to_string(variant.chunk)});
    for (const auto& [key, value] : options_) words.insert(words.end(), {"--set", key + "=" + value});
    const test::Outcome outcome = test::linearmem(words);
    ASSERT_EQ(outcome.code, 0) << variant.text() << outcome.err;
    const auto got = read_safetensors(folder / "out");
    ASSERT_TRUE(got.ok()) << got.status().message();
    expect_right(got.value(), variant);
  }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Conformance, testing::ValuesIn(manifest()), case_name);

// These are compositions that have no outside vectors; their rooms' tests hold them to their own references.
const std::set<std::string> kWithoutCases = {"adaptive-computation-time", "shared-depth", "hybrid", "associative-write", "hopfield"};

TEST(ConformanceData, CoversEveryMechanismThatRuns) {
  std::set<std::string> covered;
  for (const auto& test_case : manifest()) covered.insert(test_case.mechanism);
  for (const Mechanism& mechanism : mechanisms()) EXPECT_NE(covered.count(mechanism.name), kWithoutCases.count(mechanism.name)) << mechanism.name;
  EXPECT_GE(manifest().size(), 8 * covered.size());
}

}  // namespace
}  // namespace linearmem
