// Associative memory: its claims and its figures.
#include "claims/lists.hpp"
#include "experiments/lists.hpp"

namespace linearmem {

void list_claims(std::vector<Claim>& list) {
  add_associative_write_claims(list);
  add_associative_response_claims(list);
  add_associative_sampling_claims(list);
}

std::vector<Experiment> list_experiments() {
  return {picture_readback_experiment(),
          interference_growth_experiment(),
          least_squares_experiment(),
          responses_experiment(),
          truncated_exponentials_experiment(),
          softmax_weights_experiment(),
          logn_sharpening_experiment(),
          noisy_query_experiment(),
          hopfield_experiment()};
}

}  // namespace linearmem
