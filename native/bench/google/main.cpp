// linearmem_google_benchmark [--benchmark_filter=gated-delta-rule/prefill...]: the cases of `linearmem bench` under Google Benchmark, with
// its filters, repetitions, statistics and formats. A case is proven before it is timed, as there; a wrong one is an error, not a time.
#include <benchmark/benchmark.h>

#include <cstdio>

#include "linearmem/target.hpp"
#include "workload.hpp"

namespace {

using namespace linearmem;

// Made when the case is first run, and kept for its repetitions; the last case's arrays go when the next one begins.
bench::Workload& workload_of(const bench::Case& subject) {
  static const bench::Case* made = nullptr;
  static std::unique_ptr<bench::Workload> workload;
  if (made != &subject) workload = nullptr, workload = subject.make(), made = &subject;
  return *workload;
}

void time_case(benchmark::State& state, const bench::Case& subject) {
  bench::Workload& workload = workload_of(subject);
  const Result<bench::Proof> proof = workload.prove();
  if (!proof.ok()) return state.SkipWithError(proof.status().message().c_str());
  if (!(proof.value().error <= subject.tolerance)) {
    char text[96];
    std::snprintf(text, sizeof text, "it is %.1e from the definition, allowed is %.0e", proof.value().error, subject.tolerance);
    return state.SkipWithError(text);
  }
  for (auto _ : state)
    for (std::int64_t i = 0; i < subject.turn; ++i)
      if (const Status status = workload.run(); !status.ok()) return state.SkipWithError(status.message().c_str());
  if (!workload.unchanged()) return state.SkipWithError("a timed call gave other numbers than the one that was proven right");
  const auto rate = [&](double work) {
    return benchmark::Counter(work * static_cast<double>(subject.turn), benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["error"] = proof.value().error;
  state.counters["calls"] = static_cast<double>(subject.turn);  // in one iteration: each of the states once
  if (subject.work.flops > 0) state.counters["FLOP/s"] = rate(subject.work.flops);
  if (subject.work.bytes > 0) state.counters["B/s"] = rate(subject.work.bytes);
  if (subject.work.elements > 0) state.counters["elements/s"] = rate(subject.work.elements);
}

std::string name_of(const bench::Case& c) {
  std::string name = c.mechanism + "/" + c.setting + "/" + c.shape;
  for (char& letter : name)
    if (letter == ' ') letter = '_';
  return name;
}

}  // namespace

int main(int count, char** words) {
  benchmark::AddCustomContext("linearmem", std::string(build_id()) + ", target " + std::string(simd_target()));
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 2;
  const auto cases = bench::cases({}, {}, {});
  if (!cases.ok()) {
    std::fprintf(stderr, "linearmem_google_benchmark: %s\n", cases.status().message().c_str());
    return 2;
  }
  for (const bench::Case& subject : cases.value())
    benchmark::RegisterBenchmark(name_of(subject).c_str(), [&subject](benchmark::State& state) { time_case(state, subject); })
        ->UseRealTime();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
