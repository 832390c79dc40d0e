// linearmem bench as WebAssembly: linearmem_wasm_bench [MECHANISM...] [--setting S]... [--width W]... [--tokens T] [--heads H]
// [--rounds R] [--state-mib M] [--sample-ms MS] [--processor-time] [--limits]. Prints JSON; wasm/bench/run.mjs reads it.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "measure.hpp"
#include "report.hpp"

namespace {

using namespace linearmem;

struct Arguments {
  bench::CaseOptions cases;
  bench::MeasureOptions measure;
  std::vector<std::string> mechanisms, settings;
  std::vector<std::int64_t> widths;
};

int refuse(const std::string& message) {
  std::fprintf(stderr, "linearmem_wasm_bench: %s\n", message.c_str());
  return 2;
}

// A number above 0; 0 where the text is none.
double positive(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == '\0' && value > 0 ? value : 0;
}

// False for an option that is not known or has no good value.
bool read_option(const std::string& name, const std::string& value, Arguments& a) {
  if (name == "--setting") {
    a.settings.push_back(value);
    return true;
  }
  const double number = positive(value);
  const auto whole = static_cast<std::int64_t>(number);
  if (number == 0 || (name != "--sample-ms" && whole < 1)) return false;
  if (name == "--width") a.widths.push_back(whole);
  else if (name == "--tokens") a.cases.tokens = whole;
  else if (name == "--heads") a.cases.heads = whole;
  else if (name == "--rounds") a.measure.rounds = static_cast<int>(whole);
  else if (name == "--state-mib") a.cases.state_bytes = whole << 20;
  else if (name == "--sample-ms") a.measure.timing.least_seconds = number * 1e-3;
  else return false;
  return true;
}

}  // namespace

int main(int count, char** words) {
  Arguments a;
  bool limits = false;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--limits") limits = true;
    else if (word == "--processor-time") a.measure.timing.clock = bench::Clock::processor;
    else if (word.substr(0, 2) != "--") a.mechanisms.push_back(word);
    else if (i + 1 == count || !read_option(word, words[++i], a)) return refuse(word + " is no option, or its value is no number above 0");
  }
  if (!a.widths.empty()) a.cases.widths = a.widths;
  const auto cases = bench::cases(a.cases, a.mechanisms, a.settings);
  if (!cases.ok()) return refuse(cases.status().message());
  std::vector<bench::Measurement> results;
  for (const bench::Case& subject : cases.value()) {
    const auto result = bench::measure(subject, a.measure);
    if (!result.ok()) return refuse(result.status().message());
    results.push_back(result.value());
  }
  const bench::MachineLimits machine = limits ? bench::machine_limits(a.measure) : bench::MachineLimits{};
  std::fputs(bench::json_text(machine, a.measure, results).c_str(), stdout);
  return 0;
}
