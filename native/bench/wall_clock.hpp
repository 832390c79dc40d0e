// The figure of times: a call of each mechanism over the number of tokens, on the machine that asks, beside the operations it stands for.
// Its numbers are that machine's, so it is no experiment of core/experiments, where the same settings give the same numbers everywhere.
#pragma once

#include <vector>

#include "linearmem/experiments.hpp"

namespace linearmem::bench {

const Experiment& wall_clock_experiment();  // "wall-clock"

// From which x on `subject` stays above `other`: between two points on straight lines of the logarithms, of the points that both have. The
// last of these where it is below to the end, 0 where it never is. x rises; all numbers are above 0.
double crossing(const std::vector<double>& x, const std::vector<double>& subject, const std::vector<double>& other);

}  // namespace linearmem::bench
