// timings(), startTiming(): figures of this machine's times, from native/bench; stepExperiment() and figureSoFar() go on with them.
#include <emscripten/bind.h>

#include <vector>

#include "experiments.hpp"
#include "wall_clock.hpp"

namespace linearmem::wasm {
namespace {

val all() { return to_array(std::vector<Experiment>{bench::wall_clock_experiment()}, experiment_to_val); }

val start(const std::string& name, const val& values) {
  return guarded([&]() -> Result<val> {
    const Experiment& timing = bench::wall_clock_experiment();
    if (name != timing.name) return Status::invalid("timing " + name + " is not one of " + timing.name);
    return begin(start_experiment(timing, settings_of(values)));
  });
}

EMSCRIPTEN_BINDINGS(linearmem_timing) {
  emscripten::function("timings", &all);
  emscripten::function("startTiming", &start);
}

}  // namespace
}  // namespace linearmem::wasm
