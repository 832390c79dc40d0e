// What a fixed state can hold: recall, drift, hybrids, depth.
#include "claims/lists.hpp"
#include "experiments/lists.hpp"

namespace linearmem {

void list_claims(std::vector<Claim>& list) { add_recall_claims(list); }

std::vector<Experiment> list_experiments() {
  return {recall_bytes_experiment(), recall_shape_experiment(),   recall_distance_experiment(), recall_conflict_experiment(),
          state_precision_experiment(), hybrid_ablation_experiment(), depth_rounds_experiment(), reset_leak_experiment()};
}

}  // namespace linearmem
