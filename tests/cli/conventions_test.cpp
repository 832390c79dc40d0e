// linearmem run --convention: files as another library has them, and the worked numbers of core/conventions/README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "cli/command.hpp"
#include "core/convention_cases.hpp"
#include "safetensors.hpp"

namespace linearmem {
namespace {

class ConventionFiles : public testing::Test {
 protected:
  // The small case through the command.
  Result<NamedTensors> run(const test::ConventionCase& c) {
    const Status written = write_safetensors(folder_ / "in", test::small_inputs(c));
    EXPECT_TRUE(written.ok()) << written.message();
    std::vector<std::string> words = {"run", c.mechanism, "--convention", c.convention, "--input", folder_ / "in", "--output", folder_ / "out"};
    for (const auto& [name, text] : c.options) words.insert(words.end(), {"--set", name + "=" + text});
    const test::Outcome outcome = test::linearmem(words);
    EXPECT_EQ(outcome.code, 0) << c.convention << " " << c.mechanism << ": " << outcome.err;
    return read_safetensors(folder_ / "out");
  }

  test::Folder folder_;
};

std::string last_of(const NamedTensors& tensors, const std::string& name) {
  const auto values = floating_values<double>(name, tensors.at(name));
  char text[32];
  std::snprintf(text, sizeof text, "%.10f", values.value().back());
  return text;
}

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(" `"));
  text.erase(text.find_last_not_of(" `") + 1);
  return text;
}

// The rows of the README's table of numbers: "| fla | delta-rule | inputs | output | state |".
std::map<std::string, std::vector<std::string>> readme_rows() {
  std::map<std::string, std::vector<std::string>> rows;
  std::istringstream lines(test::read_file(LINEARMEM_CONVENTIONS_README));
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, '|');) cells.push_back(trimmed(cell));
    if (cells.size() == 6 && cells[0].empty() && find_convention(cells[1]).ok()) rows[cells[1] + " " + cells[2]] = {cells[4], cells[5], cells[3]};
  }
  return rows;
}

TEST_F(ConventionFiles, TheNumbersOfTheReadme) {
  const auto rows = readme_rows();
  EXPECT_EQ(rows.size(), test::convention_cases().size());
  for (const test::ConventionCase& c : test::convention_cases()) {
    const std::string name = std::string(c.convention) + " " + c.mechanism;
    const auto outputs = run(c);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    ASSERT_EQ(rows.count(name), 1u) << name;
    EXPECT_EQ(rows.at(name)[0], last_of(outputs.value(), c.output)) << name;
    EXPECT_EQ(rows.at(name)[1], *c.state ? last_of(outputs.value(), c.state) : "none") << name;
    std::string options;
    for (const auto& [option, text] : c.options) options += (options.empty() ? "" : ", ") + option + "=" + text;
    std::string inputs;
    for (const std::string& input : c.inputs) inputs += (inputs.empty() ? "" : ", ") + input;
    EXPECT_EQ(rows.at(name)[2], inputs + (options.empty() ? "" : "; " + options)) << name;
  }
}

// Every difference that the tables state stands in the README's section of that convention.
TEST(ConventionsReadme, StatesEveryDifference) {
  std::string readme = test::read_file(LINEARMEM_CONVENTIONS_README);
  std::replace(readme.begin(), readme.end(), '\n', ' ');
  for (const Convention& convention : conventions())
    for (const ConventionMechanism& mechanism : convention.mechanisms) {
      if (!mechanism.rules) continue;
      EXPECT_NE(readme.find(mechanism.function), std::string::npos) << mechanism.function;
      for (const Difference& difference : mechanism.differences)
        EXPECT_NE(readme.find("| " + std::string(difference.what) + " | " + difference.ours + " | " + difference.theirs + " |"), std::string::npos)
            << convention.name << " " << mechanism.mechanism << ": " << difference.what << " | " << difference.ours << " | " << difference.theirs;
    }
}

TEST_F(ConventionFiles, NamesAndDescribes) {
  const test::Outcome list = test::linearmem({"run", "--list-conventions"});
  EXPECT_EQ(list.code, 0);
  EXPECT_NE(list.out.find("onnx\n    the standard's operators, opset 27: linear-attention delta-rule gated-delta-rule causal-conv\n"), std::string::npos) << list.out;
  const test::Outcome described = test::linearmem({"run", "gated-delta-rule", "--describe", "--convention", "mlx"});
  EXPECT_EQ(described.code, 0) << described.err;
  EXPECT_NE(described.out.find("  g [B,T,Hv], F64 F32 BF16 F16, optional, a factor: ours is its logarithm (ours: g [B,T,Hv])\n"), std::string::npos) << described.out;
  EXPECT_NE(described.out.find("  state: key first; value first\n"), std::string::npos) << described.out;
}

TEST_F(ConventionFiles, RefusesByName) {
  EXPECT_NE(test::refused({"run", "ssd", "--convention", "onyx"}).find("unknown convention \"onyx\"; known are linearmem, fla, onnx"), std::string::npos);
  EXPECT_EQ(test::refused({"run", "ssd", "--convention", "onnx", "--describe"}),
            "convention onnx has no ssd; it has linear-attention, delta-rule, gated-delta-rule, causal-conv");
  EXPECT_EQ(test::refused({"run", "delta-rule", "--convention", "fla", "--stream", "--input", "x", "--output", "y"}),
            "--stream reads blocks of this library's own layout, --convention is fla; leave one of them out");
  EXPECT_EQ(test::linearmem({"run", "delta-rule", "--convention", "linearmem", "--describe"}).out, test::linearmem({"run", "delta-rule", "--describe"}).out);
}

}  // namespace
}  // namespace linearmem
