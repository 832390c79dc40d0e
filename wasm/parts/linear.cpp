// Linear attention and the softmax it stands for: its claims and figure.
#include "claims/lists.hpp"
#include "experiments/lists.hpp"

namespace linearmem {

void list_claims(std::vector<Claim>& list) { add_linear_attention_claims(list); }

std::vector<Experiment> list_experiments() { return {softmax_kernel_experiment()}; }

}  // namespace linearmem
