// The figure of times: a call of each mechanism over the number of tokens, on the machine that asks, beside the operations it stands for.
// Its numbers are that machine's, so it is no experiment of core/experiments, where the same settings give the same numbers everywhere.
#pragma once

#include "linearmem/experiments.hpp"

namespace linearmem::bench {

const Experiment& wall_clock_experiment();  // "wall-clock"

}  // namespace linearmem::bench
