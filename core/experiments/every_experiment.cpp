#include "experiments/lists.hpp"

namespace linearmem {

std::vector<Experiment> list_experiments() {
  return {memory_tradeoff_experiment(),
          picture_readback_experiment(),
          interference_growth_experiment(),
          least_squares_experiment(),
          responses_experiment(),
          truncated_exponentials_experiment(),
          softmax_weights_experiment(),
          logn_sharpening_experiment(),
          noisy_query_experiment(),
          hopfield_experiment(),
          recall_bytes_experiment(),
          recall_shape_experiment(),
          recall_distance_experiment(),
          recall_conflict_experiment(),
          state_precision_experiment(),
          hybrid_ablation_experiment(),
          depth_rounds_experiment(),
          reset_leak_experiment(),
          knn_neighbours_experiment(),
          ledger_experiment(),
          softmax_kernel_experiment(),
          recurrent_state_experiment(),
          correction_experiment(),
          scan_matrix_experiment(),
          segment_rows_experiment(),
          layer_opened_experiment()};
}

}  // namespace linearmem
