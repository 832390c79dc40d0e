// The delta rule, which corrects what it holds: its claims and the figures of a state that is written and corrected.
#include "claims/lists.hpp"
#include "experiments/lists.hpp"

namespace linearmem {

void list_claims(std::vector<Claim>& list) { add_delta_claims(list); }

std::vector<Experiment> list_experiments() { return {memory_tradeoff_experiment(), recurrent_state_experiment(), correction_experiment()}; }

}  // namespace linearmem
