// Each experiment's own file defines it; the registry lists them. And what all of them do with their settings.
#pragma once

#include <cstdint>

#include "linearmem/experiments.hpp"

namespace linearmem {

// A setting that is a whole number: the registry has refused others.
inline std::int64_t whole(const Settings& settings, const char* name) { return static_cast<std::int64_t>(settings.at(name)); }

// What the registry holds. every_experiment.cpp lists them all; a program that needs fewer defines list_experiments itself, and
// that file, a member of a static library, then stays out with all that only it asks for.
std::vector<Experiment> list_experiments();

Experiment memory_tradeoff_experiment();
Experiment picture_readback_experiment();
Experiment interference_growth_experiment();
Experiment least_squares_experiment();
Experiment responses_experiment();
Experiment truncated_exponentials_experiment();
Experiment softmax_weights_experiment();
Experiment logn_sharpening_experiment();
Experiment noisy_query_experiment();
Experiment hopfield_experiment();
Experiment ledger_experiment();
Experiment knn_neighbours_experiment();
Experiment recall_bytes_experiment();
Experiment recall_shape_experiment();
Experiment recall_distance_experiment();
Experiment recall_conflict_experiment();
Experiment state_precision_experiment();
Experiment hybrid_ablation_experiment();
Experiment depth_rounds_experiment();
Experiment reset_leak_experiment();
Experiment softmax_kernel_experiment();
Experiment recurrent_state_experiment();
Experiment correction_experiment();
Experiment scan_matrix_experiment();
Experiment segment_rows_experiment();
Experiment layer_opened_experiment();

}  // namespace linearmem
