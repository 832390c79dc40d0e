// The part a page opens first: what is stored, and linear attention.
#include "claims/lists.hpp"
#include "experiments/lists.hpp"

namespace linearmem {

void list_claims(std::vector<Claim>& list) {
  add_ledger_claims(list);
  add_linear_attention_claims(list);
}

std::vector<Experiment> list_experiments() { return {softmax_kernel_experiment()}; }

}  // namespace linearmem
