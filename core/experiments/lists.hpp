// Each experiment's own file defines it; the registry lists them.
#pragma once

#include "linearmem/experiments.hpp"

namespace linearmem {

Experiment memory_tradeoff_experiment();

}  // namespace linearmem
