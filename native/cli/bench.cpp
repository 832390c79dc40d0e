// linearmem bench: proves each mechanism right, then times it beside the limits of this machine.
#include <iostream>
#include <memory>

#include "backend.hpp"
#include "cuda_bench.hpp"
#include "measure.hpp"
#include "report.hpp"
#include "threads.hpp"
#include "verb.hpp"

namespace linearmem::cli {
namespace {

struct BenchArguments {
  std::vector<std::string> mechanisms, settings;
  bench::CaseOptions cases;
  bench::MeasureOptions measure;
  std::string dtype = "f32", backend = kProcessor;
  std::int64_t state_mebibytes = 128, threads = 1;
  double sample_milliseconds = 2;
  bool json = false, list = false, processor_time = false;
};

Status check_range(const char* name, std::int64_t value, std::int64_t most) {
  if (value >= 1 && value <= most) return {};
  return Status::invalid(std::string(name) + " is " + std::to_string(value) + ", must be from 1 to " + std::to_string(most));
}

Status check(const BenchArguments& a) {
  const struct {
    const char* name;
    std::int64_t value, most;
  } ranges[] = {{"--heads", a.cases.heads, 1024},         {"--tokens", a.cases.tokens, 1 << 20}, {"--rounds", a.measure.rounds, 10000},
                {"--longest", a.cases.longest, 1 << 30},  {"--state-mib", a.state_mebibytes, 4096}};
  for (const auto& range : ranges)
    if (Status status = check_range(range.name, range.value, range.most); !status.ok()) return status;
  for (std::int64_t width : a.cases.widths)
    if (Status status = check_range("--width", width, 4096); !status.ok()) return status;
  if (!(a.sample_milliseconds > 0 && a.sample_milliseconds <= 1000))
    return Status::invalid("--sample-ms is " + std::to_string(a.sample_milliseconds) + ", must be above 0 and at most 1000");
  if (a.dtype != "f32" && a.dtype != "f64") return Status::invalid("--dtype is \"" + a.dtype + "\", must be f32 or f64");
  if (a.processor_time && a.threads > 1)
    return Status::invalid("--processor-time counts one thread, --threads is " + std::to_string(a.threads));
  return {};
}

int list_cases(const std::vector<bench::Case>& cases) {
  for (const bench::Case& c : cases) std::cout << c.mechanism << ", " << c.setting << ", " << c.shape << "\n";
  return kDone;
}

Result<int> bench_all(BenchArguments a) {
  if (Status status = check(a); !status.ok()) return status;
  a.cases.wide = a.dtype == "f64";
  a.cases.state_bytes = a.state_mebibytes << 20;
  a.measure.timing.least_seconds = a.sample_milliseconds * 1e-3;
  a.measure.timing.clock = a.processor_time ? bench::Clock::processor : bench::Clock::wall;
  const auto cases = bench::cases(a.cases, a.mechanisms, a.settings);
  if (!cases.ok()) return cases.status();
  if (a.list) return list_cases(cases.value());
  const auto executor = executor_of(a.threads);
  if (!executor.ok()) return executor.status();
  if (a.threads > 1) a.measure.executor = executor.value().get();
  a.measure.timing.threads = static_cast<int>(a.threads);
  const bench::MachineLimits limits = bench::machine_limits(a.measure);
  if (!a.json) std::cout << bench::limits_table(limits, a.measure) << "\n" << bench::table_head(a.measure) << std::flush;
  std::vector<bench::Measurement> results;
  for (const bench::Case& subject : cases.value()) {
    const auto result = bench::measure(subject, a.measure);
    if (!result.ok()) return result.status();
    if (!a.json) std::cout << bench::table_line(result.value(), a.measure) << std::flush;  // each line as soon as it is known
    results.push_back(result.value());
  }
  if (a.json) std::cout << bench::json_text(limits, a.measure, results);
  return kDone;
}

}  // namespace

void add_bench(CLI::App& app, Verb& chosen) {
  const auto a = std::make_shared<BenchArguments>();
  CLI::App* verb = app.add_subcommand("bench", "Time each mechanism beside this machine's own limits, after proving its result right");
  verb->add_option("MECHANISM", a->mechanisms, "Which; all when none is named");
  verb->add_option("--setting", a->settings, "prefill, short, decode, cached, tiny or long; may be repeated; all but long where none is")
      ->expected(1)
      ->take_all();
  verb->add_option("--heads", a->cases.heads, "Heads; mechanisms of channels have heads times width of them")->capture_default_str();
  verb->add_option("--tokens", a->cases.tokens, "Tokens of prefill")->capture_default_str();
  verb->add_option("--longest", a->cases.longest, "Tokens of the longest sequence of setting long")->capture_default_str();
  verb->add_option("--width", a->cases.widths, "Key and value width; may be repeated")->capture_default_str()->expected(1)->take_all();
  verb->add_option("--state-mib", a->state_mebibytes, "Size of all states that decode takes in turn")->capture_default_str();
  verb->add_option("--dtype", a->dtype, "f32 or f64")->capture_default_str();
  verb->add_option("--rounds", a->measure.rounds, "Samples of each limit and each call, in turn")->capture_default_str();
  verb->add_option("--sample-ms", a->sample_milliseconds, "Shortest sample")->capture_default_str();
  add_threads(*verb, a->threads);
  add_backend(*verb, a->backend);
  verb->add_flag("--processor-time", a->processor_time, "Count the time this thread ran, not the clock's: on a machine that others use");
  verb->add_flag("--json", a->json, "Print JSON when everything is measured, not a table line by line");
  verb->add_flag("--list", a->list, "Name the cases and stop");
  verb->callback([a, verb, &chosen] {
    chosen = [a, verb] { return a->backend == kProcessor ? bench_all(*a) : bench_cuda(*verb, a->backend, a->measure.rounds); };
  });
}

}  // namespace linearmem::cli
