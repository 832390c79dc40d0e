// What bindings of experiments share. Defined in experiments.cpp.
#pragma once

#include "linearmem/experiments.hpp"

#include <memory>

#include "boundary.hpp"

namespace linearmem::wasm {

val experiment_to_val(const Experiment& experiment);
val figure_to_val(const Figure& figure);
Settings settings_of(const val& values);

// Makes it the run that stepExperiment() and figureSoFar() mean; answers its progress.
Result<val> begin(Result<std::unique_ptr<ExperimentRun>> run);

}  // namespace linearmem::wasm
