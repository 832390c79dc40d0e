// The part a page opens first: linear attention and the delta rule.
#include "claims/lists.hpp"
#include "experiments/lists.hpp"

namespace linearmem {

void list_claims(std::vector<Claim>& list) {
  add_ledger_claims(list);
  add_linear_attention_claims(list);
  add_delta_claims(list);
}

std::vector<Experiment> list_experiments() { return {memory_tradeoff_experiment(), softmax_kernel_experiment(), recurrent_state_experiment(), correction_experiment()}; }

}  // namespace linearmem
